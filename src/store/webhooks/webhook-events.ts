// The journal, as webhooks look at it: the events that one may want, in order.
import { createHash } from 'node:crypto';
import type { EventType } from '../../domain/journal-event.ts';
import { WEBHOOK_EVENTS, type WebhookEventType } from '../../domain/webhooks/webhook.ts';
import type { Reader, Step } from '../engine/statement.ts';
import type { EventRow } from '../sessions/events.ts';

/** The journal type of each event type that happens, and the other way round. */
export const JOURNAL_TYPES: ReadonlyMap<WebhookEventType, EventType> = new Map(
  Object.entries(WEBHOOK_EVENTS).flatMap(([type, { journalType }]) =>
    journalType === null ? [] : [[type as WebhookEventType, journalType] as const],
  ),
);
export const EVENT_TYPE_OF: ReadonlyMap<EventType, WebhookEventType> = new Map(
  [...JOURNAL_TYPES].map(([type, journalType]) => [journalType, type]),
);

// The list is the condition of the index `events_for_webhooks`: the table's journal types in its order.
const EVENTS = `SELECT * FROM events WHERE type IN (${[...JOURNAL_TYPES.values()].map((type) => `'${type}'`).join(', ')})
  AND type = ? AND id > ? ORDER BY id LIMIT ?`;

/** Up to `limit` events of some types after an id, in order. Those of other types are not looked at. */
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

/** The id that an event has for all webhooks: a UUID version 8, of its time and of what tells it from every other. */
export function eventIdOf(sessionId: string, event: Pick<EventRow, 'id' | 'created_at'>): string {
  const bytes = createHash('sha256').update(`webhook event ${event.id} of ${sessionId}`).digest().subarray(0, 16);
  bytes.writeUIntBE(event.created_at, 0, 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
