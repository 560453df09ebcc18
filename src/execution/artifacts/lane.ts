// A lane: work on sessions, in order of request, a few at a time and one at a time for each session.
import type { Clock, Timer } from '../../domain/clock.ts';
import { isNoSpace } from '../../files/blobs/no-space.ts';
import type { Log } from '../../log/log.ts';

export interface LaneParts {
  /** How many sessions are worked on at once. */
  readonly limit: number;
  /** Does one piece of a session's work; answers whether there may be more of it. Called again after a fault. */
  work(sessionSeq: number): Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Lane {
  /** Queues a session behind the others, unless it waits already. */
  add(sessionSeq: number): void;
  /** Begins nothing more; resolves when what is under way has ended. */
  stop(): Promise<void>;
}

const RETRY_MS = 1_000;
/** Space does not come back by the second. */
const NO_SPACE_RETRY_MS = 60_000;

/** Makes a lane. A session with more to do goes to the end of it, so that none holds up the others. */
export function makeLane({ limit, work, clock, log }: LaneParts): Lane {
  const waiting = new Set<number>();
  const busy = new Map<number, Promise<void>>();
  const retries = new Map<number, Timer>();
  let stopped = false;

  function add(sessionSeq: number): void {
    if (stopped) return;
    waiting.add(sessionSeq);
    advance();
  }

  function advance(): void {
    for (const sessionSeq of waiting) {
      if (stopped || busy.size >= limit) return;
      if (busy.has(sessionSeq)) continue;
      waiting.delete(sessionSeq);
      busy.set(sessionSeq, perform(sessionSeq));
    }
  }

  async function perform(sessionSeq: number): Promise<void> {
    let more = false;
    try {
      more = await work(sessionSeq);
    } catch (error) {
      // Only storage fails here, and it may write again.
      if (!stopped) log.error({ err: error }, 'artifacts could not be recorded; it is tried again');
      retries.get(sessionSeq)?.cancel();
      retries.set(
        sessionSeq,
        clock.after(isNoSpace(error) ? NO_SPACE_RETRY_MS : RETRY_MS, () => {
          retries.delete(sessionSeq);
          add(sessionSeq);
        }),
      );
    }
    busy.delete(sessionSeq);
    if (more) add(sessionSeq);
    advance();
  }

  return {
    add,
    stop: async () => {
      stopped = true;
      for (const timer of retries.values()) timer.cancel();
      await Promise.all(busy.values());
    },
  };
}
