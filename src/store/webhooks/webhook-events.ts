// The journal for webhooks: the events that they can subscribe to, in order.
import { hash } from 'node:crypto';
import type { EventType } from '../../domain/sessions/journal-event.ts';
import { WEBHOOK_EVENTS, type WebhookEventType } from '../../domain/webhooks/webhook.ts';
import type { Reader, Step } from '../engine/statement.ts';
import type { EventRow } from '../engine/journal/rows.ts';

/** The journal type of each event type, and the other way round. */
export const JOURNAL_TYPES: ReadonlyMap<WebhookEventType, EventType> = new Map(
  Object.entries(WEBHOOK_EVENTS).map(([type, { journalType }]) => [type as WebhookEventType, journalType]),
);
export const EVENT_TYPE_OF: ReadonlyMap<EventType, WebhookEventType> = new Map(
  [...JOURNAL_TYPES].map(([type, journalType]) => [journalType, type]),
);

// These are the condition of the index `events_for_webhooks`: the table's journal types in its order.
const EVENTS = `SELECT * FROM events WHERE (${[...JOURNAL_TYPES.values()].map((type) => `type = '${type}'`).join(' OR ')})
  AND type = ? AND id > ? ORDER BY id LIMIT ?`;

/** Up to `limit` events of some types after an id, in order. Events of other types are not read. */
export function* listEventsAfter(
  tx: Reader,
  types: readonly EventType[],
  { afterId, limit }: { readonly afterId: number; readonly limit: number },
): Step<EventRow[]> {
  const found: EventRow[] = [];
  for (const type of types) found.push(...(yield* tx.all<EventRow>(EVENTS, type, afterId, limit)));
  return found.sort((a, b) => a.id - b.id).slice(0, limit);
}

/** The id of the newest event; 0 when there is none. */
export function* newestEventId(tx: Reader): Step<number> {
  return (yield* tx.get<{ id: number }>('SELECT id FROM events ORDER BY id DESC LIMIT 1'))?.id ?? 0;
}

/** The id that an event has for all webhooks: a UUID version 8, made of its time and a digest that is unique to it. */
export function eventIdOf(sessionId: string, event: Pick<EventRow, 'id' | 'createdAt'>): string {
  const time = event.createdAt.toString(16).padStart(12, '0');
  const digest = hash('sha256', `webhook event ${event.id} of ${sessionId}`);
  const [middle, end] = [digest.slice(0, 3), digest.slice(3, 18)];
  return `${time.slice(0, 8)}-${time.slice(8)}-8${middle}-a${end.slice(0, 3)}-${end.slice(3)}`;
}
