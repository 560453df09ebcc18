// Planning: events of the journal become deliveries, each exactly once, because the cursor moves in the same commit.
import { createHash } from 'node:crypto';
import type { EventType } from '../../domain/journal-event.ts';
import type { RenderBody } from '../../domain/webhooks/event-facts.ts';
import { filteredReason } from '../../domain/webhooks/webhook-filter.ts';
import { ownerScopeOf, WEBHOOK_EVENTS, type Webhook, type WebhookEventType } from '../../domain/webhooks/webhook.ts';
import type { Database } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import type { EventRow } from '../sessions/events.ts';
import { factsOf, type FoundSession, findSession } from './event-facts.ts';
import { ownerOf, toWebhook, WEBHOOK_COLUMNS, type WebhookRow } from './webhook-rows.ts';

/** Events of one commit. */
export const EVENTS_AT_ONCE = 100;

export interface PlanResult {
  /** Whether events may be left. */
  readonly more: boolean;
  /** The webhooks that got deliveries. */
  readonly webhookIds: ReadonlySet<number>;
  /** The types of journal events that enabled webhooks want now. */
  readonly wanted: ReadonlySet<EventType>;
}

const JOURNAL_TYPES = new Map(
  Object.entries(WEBHOOK_EVENTS).flatMap(([type, { journalType }]) =>
    journalType === null ? [] : [[type as WebhookEventType, journalType] as const],
  ),
);
const EVENT_TYPE_OF = new Map([...JOURNAL_TYPES].map(([type, journalType]) => [journalType, type]));

const WANTED = `SELECT value AS type FROM json_each('${JSON.stringify([...JOURNAL_TYPES.keys()])}')
  WHERE EXISTS (SELECT 1 FROM webhook_subscriptions WHERE event_type = value)`;
const NEWEST = 'SELECT id FROM events ORDER BY id DESC LIMIT 1';
// The list is the condition of the index `events_for_webhooks`: the table's journal types in its order.
const EVENTS = `SELECT * FROM events WHERE type IN (${[...JOURNAL_TYPES.values()].map((type) => `'${type}'`).join(', ')})
  AND type = ? AND id > ? ORDER BY id LIMIT ?`;
const WEBHOOKS = `SELECT ${WEBHOOK_COLUMNS} FROM webhook_subscriptions s CROSS JOIN webhooks w ON w.id = s.webhook_id
  WHERE s.event_type = ? AND s.user_seq = ?`;

/** Makes the verb that plans the next events. */
export function makePlan({ write }: Database): (render: RenderBody) => Promise<PlanResult> {
  return write(planIn);
}

/** Plans every event up to now, in the commit of what changes who wants what. */
export function* planAllIn(tx: Transaction, render: RenderBody): Step<void> {
  while ((yield* planIn(tx, render)).more);
}

function* planIn(tx: Transaction, render: RenderBody): Step<PlanResult> {
  const { cursor } = (yield* tx.get<{ cursor: number }>('SELECT cursor FROM webhook_planning'))!;
  const newest = (yield* tx.get<{ id: number }>(NEWEST))?.id ?? 0;
  const wanted = (yield* tx.all<{ type: WebhookEventType }>(WANTED)).map(({ type }) => JOURNAL_TYPES.get(type)!);
  const found: EventRow[] = [];
  for (const type of wanted) found.push(...(yield* tx.all<EventRow>(EVENTS, type, cursor, EVENTS_AT_ONCE)));
  const events = found.sort((a, b) => a.id - b.id).slice(0, EVENTS_AT_ONCE);
  const more = events.length === EVENTS_AT_ONCE;
  const batch = makeBatch(render);
  for (const event of events) yield* planEvent(tx, batch, event);
  const reached = more ? events.at(-1)!.id : newest;
  if (reached > cursor) yield* tx.run('UPDATE webhook_planning SET cursor = ?', reached);
  return { more, webhookIds: batch.webhookIds, wanted: new Set(wanted) };
}

/** What one commit has read and done. */
interface Batch {
  readonly render: RenderBody;
  readonly sessions: Map<number, FoundSession>;
  /** By event type and owner. */
  readonly webhooks: Map<string, Webhook[]>;
  readonly webhookIds: Set<number>;
}

function makeBatch(render: RenderBody): Batch {
  return { render, sessions: new Map(), webhooks: new Map(), webhookIds: new Set() };
}

function* planEvent(tx: Transaction, batch: Batch, event: EventRow): Step<void> {
  const type = EVENT_TYPE_OF.get(event.type)!;
  const session = batch.sessions.get(event.session_seq) ?? (yield* findSession(tx, event.session_seq));
  batch.sessions.set(event.session_seq, session);
  // The webhooks of a disabled user rest (H16).
  const owners = session.isDisabled ? [0] : [0, session.userSeq];
  const webhooks: Webhook[] = [];
  for (const owner of owners) webhooks.push(...(yield* webhooksOf(tx, batch, { type, owner })));
  const { kind: sessionKind, projectId } = session.session;
  const wanting = webhooks.filter((one) => filteredReason(one, { type, sessionKind, projectId }) === null);
  if (wanting.length === 0) return;
  const facts = yield* factsOf(tx, { event, type, session, eventId: eventIdOf(session.session.id, event) });
  if (facts === undefined) return;
  for (const webhook of wanting) {
    const body = batch.render(facts, { id: webhook.id, ownerScope: ownerScopeOf(webhook) });
    yield* insertDelivery(tx, webhook, { eventId: facts.eventId, type, sessionSeq: event.session_seq, body });
    batch.webhookIds.add(webhook.id);
  }
}

function* webhooksOf(
  tx: Transaction,
  { webhooks }: Batch,
  { type, owner }: { readonly type: WebhookEventType; readonly owner: number },
): Step<readonly Webhook[]> {
  const key = `${type} ${owner}`;
  const known = webhooks.get(key) ?? (yield* tx.all<WebhookRow>(WEBHOOKS, type, owner)).map(toWebhook);
  webhooks.set(key, known);
  return known;
}

/** The id that an event has for all webhooks: a UUID version 8, of its time and of what tells it from every other. */
export function eventIdOf(sessionId: string, event: Pick<EventRow, 'id' | 'created_at'>): string {
  const bytes = createHash('sha256').update(`webhook event ${event.id} of ${sessionId}`).digest().subarray(0, 16);
  bytes.writeUIntBE(event.created_at, 0, 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

interface NewDelivery {
  readonly eventId: string;
  readonly type: WebhookEventType;
  readonly sessionSeq: number;
  readonly body: string;
}

function* insertDelivery(tx: Transaction, webhook: Webhook, delivery: NewDelivery): Step<void> {
  yield* tx.run(
    `INSERT INTO webhook_deliveries (webhook_id, owner, event_id, event_type, session_seq, is_test, state, attempts_left,
       next_attempt_at, body, created_at) VALUES (?, ?, ?, ?, ?, 0, 'pending', ?, ?, ?, ?)`,
    webhook.id,
    ownerOf(webhook),
    delivery.eventId,
    delivery.type,
    delivery.sessionSeq,
    webhook.retryCount + 1,
    tx.now,
    delivery.body,
    tx.now,
  );
}
