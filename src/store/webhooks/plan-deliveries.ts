// Planning: events of the journal become deliveries, each exactly once, because the cursor moves in the same commit.
import type { EventType } from '../../domain/journal-event.ts';
import type { EventFacts, RenderBody } from '../../domain/webhooks/event-facts.ts';
import { filteredReason } from '../../domain/webhooks/webhook-filter.ts';
import { ownerScopeOf, type Webhook, type WebhookEventType } from '../../domain/webhooks/webhook.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import type { EventRow } from '../sessions/events.ts';
import { factsOf, type FoundSession, findSession } from './event-facts.ts';
import { EVENT_TYPE_OF, JOURNAL_TYPES, listEventsAfter, newestEventId } from './webhook-events.ts';
import { ownerOf, toWebhook, WEBHOOK_COLUMNS, type WebhookRow } from './webhook-rows.ts';

/** Events of one commit, and the deliveries after which it ends all the same. */
export const EVENTS_AT_ONCE = 100;
const DELIVERIES_AT_ONCE = 500;

export interface PlanResult {
  /** Whether events may be left. */
  readonly more: boolean;
  /** The webhooks that got deliveries. */
  readonly webhookIds: ReadonlySet<number>;
  /** The types of journal events that enabled webhooks want now. */
  readonly wanted: ReadonlySet<EventType>;
  /** What `render` threw. Those deliveries failed, and the others are planned. */
  readonly faults: readonly unknown[];
}

/** Each type is looked up once, however many webhooks want it. */
const WANTED = Array.from(
  JOURNAL_TYPES.keys(),
  (type) => `SELECT '${type}' AS type WHERE EXISTS (SELECT 1 FROM webhook_subscriptions WHERE event_type = '${type}')`,
).join(' UNION ALL ');
const WEBHOOKS = `SELECT ${WEBHOOK_COLUMNS} FROM webhook_subscriptions s CROSS JOIN webhooks w ON w.id = s.webhook_id
  WHERE s.event_type = ? AND s.user_seq = ?`;

/** Plans the next events. */
export function* planIn(tx: Transaction, render: RenderBody): Step<PlanResult> {
  const { cursor } = (yield* tx.get<{ cursor: number }>('SELECT cursor FROM webhook_planning'))!;
  const newest = yield* newestEventId(tx);
  const wanted = (yield* tx.all<{ type: WebhookEventType }>(WANTED)).map(({ type }) => JOURNAL_TYPES.get(type)!);
  const events = yield* listEventsAfter(tx, wanted, { afterId: cursor, limit: EVENTS_AT_ONCE });
  const batch = makeBatch(render);
  let planned = 0;
  while (planned < events.length && batch.deliveries < DELIVERIES_AT_ONCE) {
    yield* planEvent(tx, batch, events[planned]!);
    planned += 1;
  }
  const more = planned < events.length || planned === EVENTS_AT_ONCE;
  const reached = more ? events[planned - 1]!.id : newest;
  if (reached > cursor) yield* tx.run('UPDATE webhook_planning SET cursor = ?', reached);
  const { webhookIds, faults } = batch;
  return { more, webhookIds, wanted: new Set(wanted), faults };
}

/** What one commit has read and done. */
interface Batch {
  readonly render: RenderBody;
  readonly sessions: Map<number, FoundSession>;
  /** By event type and owner. */
  readonly webhooks: Map<string, Webhook[]>;
  readonly webhookIds: Set<number>;
  readonly faults: unknown[];
  deliveries: number;
}

function makeBatch(render: RenderBody): Batch {
  return { render, sessions: new Map(), webhooks: new Map(), webhookIds: new Set(), faults: [], deliveries: 0 };
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
  const facts = yield* factsOf(tx, event, session);
  if (facts === undefined) return;
  for (const webhook of wanting) {
    const body = bodyOf(batch, facts, webhook);
    yield* insertDelivery(tx, webhook, { eventId: facts.eventId, type, sessionSeq: event.session_seq, body });
    batch.webhookIds.add(webhook.id);
    batch.deliveries += 1;
  }
}

/** Null when it cannot be made: one event must not stop all that come after it. */
function bodyOf({ render, faults }: Batch, facts: EventFacts, webhook: Webhook): string | null {
  try {
    return render(facts, { id: webhook.id, ownerScope: ownerScopeOf(webhook) });
  } catch (error) {
    faults.push(error);
    return null;
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

interface NewDelivery {
  readonly eventId: string;
  readonly type: WebhookEventType;
  readonly sessionSeq: number;
  readonly body: string | null;
}

function* insertDelivery(tx: Transaction, webhook: Webhook, delivery: NewDelivery): Step<void> {
  const { eventId, type, sessionSeq, body } = delivery;
  yield* tx.run(
    `INSERT INTO webhook_deliveries (webhook_id, owner, event_id, event_type, session_seq, is_test, state, attempts_left,
       next_attempt_at, last_error, body, created_at) VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?)`,
    webhook.id,
    ownerOf(webhook),
    eventId,
    type,
    sessionSeq,
    body === null ? 'failed' : 'pending',
    webhook.retryCount + 1,
    body === null ? null : tx.now,
    body === null ? 'The body could not be made.' : null,
    body ?? '',
    tx.now,
  );
}
