// Events as webhooks receive them, read without a webhook: for callers that listen.
import type { RenderBody } from '../../domain/webhooks/event-facts.ts';
import type { WebhookEventType } from '../../domain/webhooks/webhook.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { factsOf, findSession } from './event-facts.ts';
import { heldUntil } from './held-deliveries.ts';
import { EVENT_TYPE_OF, JOURNAL_TYPES, listEventsAfter, newestEventId } from './webhook-events.ts';

export interface EventsWanted {
  /** A user's `seq`, or 0 for everybody's events. */
  readonly owner: number;
  readonly types: readonly WebhookEventType[];
  /** Null begins with what comes from now on. */
  readonly afterId: number | null;
  /** Of events that are examined; those of other users are then left out. */
  readonly limit: number;
}

/** An event of the journal with its body, which is for no webhook: its id there is 0. */
export interface RenderedEvent {
  /** Of the journal. */
  readonly id: number;
  readonly eventId: string;
  readonly eventType: WebhookEventType;
  readonly body: string;
}

export interface EventsPage {
  readonly events: readonly RenderedEvent[];
  /**
   * Where the next page starts: everything up to this id has been examined. It is below `afterId` where the journal ends
   * before that.
   */
  readonly nextAfterId: number;
  /** Whether more may be there already. */
  readonly hasMore: boolean;
  /** The next event waits until it is known whether its run has left files. */
  readonly isHeld?: true;
}

interface ReadEvents extends EventsPage {
  /** What was thrown by events that can't be read or rendered, which are left out: one must not stop all after it. */
  readonly faults: readonly unknown[];
}

/**
 * Makes the verb. Events of sessions whose texts were erased are gone. With `now`, epoch ms, a page ends before an event that
 * waits for the files of its run.
 */
export function makeReadEvents({ read }: Database, render: RenderBody) {
  return read(function* (tx: Reader, wanted: EventsWanted, now?: number): Step<ReadEvents> {
    const newest = yield* newestEventId(tx);
    const { afterId, limit } = wanted;
    if (afterId === null) return { events: [], nextAfterId: newest, hasMore: false, faults: [] };
    const types = new Set(wanted.types.flatMap((type) => JOURNAL_TYPES.get(type) ?? []));
    const rows = yield* listEventsAfter(tx, [...types], { afterId, limit });
    const [events, faults]: [RenderedEvent[], unknown[]] = [[], []];
    let examined = afterId;
    for (const row of rows) {
      const session = yield* findSession(tx, row.sessionSeq);
      const isWanted = wanted.owner === 0 || session.userSeq === wanted.owner;
      if (isWanted && now !== undefined && (yield* heldUntil(tx, row, now)) !== undefined)
        return { events, nextAfterId: examined, hasMore: false, isHeld: true, faults };
      examined = row.id;
      if (!isWanted) continue;
      // Where a statement fails, nothing of this counts: the engine refuses the read.
      try {
        const facts = yield* factsOf(tx, row, session);
        if (facts === undefined) continue;
        const body = render(facts, { id: 0, ownerScope: wanted.owner === 0 ? 'system' : 'user' });
        events.push({ id: row.id, eventId: facts.eventId, eventType: EVENT_TYPE_OF.get(row.type)!, body });
      } catch (error) {
        faults.push(error);
      }
    }
    const hasMore = rows.length === limit;
    return { events, nextAfterId: hasMore ? examined : newest, hasMore, faults };
  });
}
