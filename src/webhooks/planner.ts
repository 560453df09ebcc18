// The planner: turns committed events into deliveries of the webhooks that want them.
import type { Clock } from '../domain/clock.ts';
import type { Occasion } from '../events/wakes.ts';
import type { Log } from '../log/log.ts';
import { makeService, type Service } from '../services/service.ts';
import type { Store } from '../store/open-store.ts';
import type { HeldEvent } from '../store/webhooks/held-deliveries.ts';
import { makeHeldEvents } from './held-events.ts';

export interface PlannerParts {
  readonly store: { readonly deliveries: Pick<Store['deliveries'], 'plan' | 'releaseHeld' | 'listHeld'> };
  /** Whether workspaces are examined by other processes, too: not all of it is heard of. */
  readonly hasPeers: boolean;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Planner extends Service {
  /** An event was committed, which costs no statement when no enabled webhook wants one of its type; or a webhook was changed. */
  notice(occasion: Occasion): void;
  /** The workspace of a session was examined. Costs no statement when no delivery waits for it. */
  collected(sessionSeq: number): void;
  /** Resolves when every event committed before is planned. Rejects when the store refuses. */
  catchUp(): Promise<void>;
}

const LOOK_MS = 60_000;
/** What waits for files that another process may have found is looked at so often. */
const HELD_LOOK_MS = 1_000;
/** Events whose deliveries are released in one commit. */
const RELEASED_AT_ONCE = 100;

/** Makes the planner. Wake it at the start: only then, and at changes of webhooks, it learns who wants what. */
export function makePlanner({ store, hasPeers, clock, log }: PlannerParts): Planner {
  /** Types of journal events that enabled webhooks want; undefined before the first look. */
  let wanted: ReadonlySet<string> | undefined;
  /** Plans in progress. An event may be reported before the plan that was committed with it returns what is wanted. */
  let planning = 0;
  const held = makeHeldEvents(clock);

  /** At a node that doesn't lead it isn't: then nobody here would let go what is held. */
  let isStarted = false;

  /** Works off the events in bounded commits, with others' in between. */
  async function plan(stopping?: AbortSignal): Promise<void> {
    planning += 1;
    try {
      for (let more = true; more && stopping?.aborted !== true; ) {
        const planned = await store.deliveries.plan({ holds: isStarted });
        ({ more, wanted } = planned);
        held.add(planned.held);
      }
    } finally {
      planning -= 1;
    }
  }

  async function release(events: readonly HeldEvent[]): Promise<void> {
    for (let at = 0; at < events.length; at += RELEASED_AT_ONCE) {
      try {
        held.add((await store.deliveries.releaseHeld(events.slice(at, at + RELEASED_AT_ONCE))).left);
      } catch (error) {
        held.giveBack(events.slice(at));
        throw error;
      }
    }
  }

  /** From time to time it looks unasked, unless nothing is wanted: a notice that was missed costs a minute, not a delivery. */
  async function work(stopping: AbortSignal): Promise<number | null> {
    if (!isStarted) await release(await store.deliveries.listHeld(clock.now()));
    isStarted = true;
    await plan(stopping);
    await release(held.take(hasPeers));
    const firstOverMs = held.firstOverMs();
    if (firstOverMs !== null) return hasPeers ? HELD_LOOK_MS : firstOverMs;
    return wanted === undefined || wanted.size === 0 ? null : LOOK_MS;
  }

  const service = makeService({ work, failure: 'deliveries of webhooks could not be planned', clock, log });
  return {
    ...service,
    notice: (occasion) => {
      const isAsked = occasion === 'webhook changed' || wanted === undefined || wanted.has(occasion);
      if (planning > 0 || isAsked) service.wake();
    },
    collected: (sessionSeq) => {
      if (held.know(sessionSeq, planning > 0)) service.wake();
    },
    catchUp: () => plan(),
  };
}
