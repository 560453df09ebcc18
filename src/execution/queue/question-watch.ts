// Ends the wait for answers that did not come in time. Without a pending question there is no timer.
import type { Clock, Timer } from '../../domain/clock.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open-store.ts';

export interface QuestionWatch {
  /** Looks when the next question expires. Called when one was asked, and at start. */
  watch(): void;
  /** Lets a look under way end, and begins no other. */
  stop(): Promise<void>;
}

export interface QuestionWatchParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when runs went back to the queue. */
  expired(): void;
}

/** Expiry is told as wall time: a jump of that clock is noticed at the latest after this. */
const LOOK_MS = 60_000;
/** Before a look that failed is made again. */
const RETRY_MS = 5_000;

export function makeQuestionWatch({ store, clock, log, expired }: QuestionWatchParts): QuestionWatch {
  let timer: Timer | undefined;
  let looking: Promise<void> | undefined;
  let stopped = false;

  function watch(): void {
    if (stopped || looking !== undefined) return;
    const nextAt = store.userInputs.nextExpiryAt();
    if (nextAt === undefined) return wait(null);
    wait(Math.min(Math.max(nextAt - clock.now(), 1), LOOK_MS));
  }

  function wait(delayMs: number | null): void {
    timer?.cancel();
    timer = delayMs === null ? undefined : clock.after(delayMs, begin);
  }

  function begin(): void {
    looking = look().then((delayMs) => {
      looking = undefined;
      if (delayMs === null) watch();
      else if (!stopped) wait(delayMs);
    });
  }

  /** Answers how long to wait before the next look when this one failed. */
  async function look(): Promise<number | null> {
    try {
      const count = await store.userInputs.expireDue();
      if (count > 0) {
        log.info({ questions: count }, 'questions were not answered in time');
        expired();
      }
      return null;
    } catch (error) {
      log.error({ err: error }, 'questions could not be expired');
      return RETRY_MS;
    }
  }

  return {
    watch,
    stop: async () => {
      stopped = true;
      timer?.cancel();
      await looking;
    },
  };
}
