// Holds a request for events until there are some.
import { type Clock, pause } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';
import { WEBHOOK_EVENTS, type WebhookEventType } from '../../domain/webhooks/webhook.ts';
import type { Arrivals } from '../../events/arrivals.ts';
import type { EventsPage } from '../../store/webhooks/read-events.ts';

export interface AwaitEventsParts {
  readonly arrivals: Arrivals;
  readonly clock: Clock;
  /** Fires when waiting requests must end because the daemon does. */
  readonly draining: AbortSignal;
}

export interface AwaitedEvents {
  readonly types: readonly WebhookEventType[];
  readonly afterId: number | null;
  readonly waitMs: number;
  /** Fires when nobody waits any more. */
  readonly gone: AbortSignal;
  read(afterId: number | null): Promise<EventsPage>;
}

/** Requests that wait at a time: of one owner, and of all. */
const MAX_WAITING = { perOwner: 8, inAll: 64 };
/** Others' events make nobody read more often than this. */
const QUIET_MS = 200;

/**
 * Makes the function that reads until there is something, or the time is over. Events that arrive while it reads are not
 * missed. Throws `rate_limited` when too many wait, and `unavailable` when the daemon ends.
 */
export function makeAwaitEvents({ arrivals, clock, draining }: AwaitEventsParts) {
  const enter = makeWaitingRoom();

  async function readInTime(expected: ReturnType<Arrivals['expect']>, awaited: AwaitedEvents): Promise<EventsPage> {
    const { read, waitMs } = awaited;
    const gone = AbortSignal.any([awaited.gone, draining]);
    const deadline = clock.monotonic() + waitMs;
    let { afterId } = awaited;
    for (let reads = 1; ; reads += 1) {
      const page = await read(afterId);
      const left = deadline - clock.monotonic();
      if (page.events.length > 0 || left <= 0 || awaited.gone.aborted) return page;
      if (draining.aborted) throw new ErrandError('unavailable', 'The server is restarting; ask again.');
      afterId = page.nextAfterId;
      if (page.hasMore) continue;
      if (page.isHeld) {
        await pause(clock, Math.min(QUIET_MS, left));
        continue;
      }
      if (reads > 1) await pause(clock, Math.min(QUIET_MS, left));
      await expected.arrival(Math.max(0, deadline - clock.monotonic()), gone);
    }
  }

  return async (owner: number, awaited: AwaitedEvents): Promise<EventsPage> => {
    const leave = enter(owner);
    const expected = arrivals.expect(new Set(awaited.types.map((type) => WEBHOOK_EVENTS[type].journalType)));
    try {
      return await readInTime(expected, awaited);
    } finally {
      expected.close();
      leave();
    }
  };
}

/** Counts who waits. What it returns throws `rate_limited` when there is no room, and otherwise returns how to leave. */
function makeWaitingRoom(): (owner: number) => () => void {
  const waiting = new Map<number, number>();
  let inAll = 0;
  return (owner) => {
    const own = waiting.get(owner) ?? 0;
    if (own >= MAX_WAITING.perOwner || inAll >= MAX_WAITING.inAll)
      throw new ErrandError('rate_limited', 'Too many requests wait for events already.');
    waiting.set(owner, own + 1);
    inAll += 1;
    return () => {
      inAll -= 1;
      const left = waiting.get(owner)! - 1;
      if (left === 0) waiting.delete(owner);
      else waiting.set(owner, left);
    };
  };
}
