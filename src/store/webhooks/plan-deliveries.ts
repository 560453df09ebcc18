// Planning: events of the journal become deliveries, each exactly once, because the cursor moves in the same commit.
import type { EventType } from '../../domain/sessions/journal-event.ts';
import type { EventFacts, RenderBody } from '../../domain/webhooks/event-facts.ts';
import { filteredReason } from '../../domain/webhooks/webhook-filter.ts';
import { ownerScopeOf, type Webhook, type WebhookEventType } from '../../domain/webhooks/webhook.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import type { EventRow } from '../engine/journal/rows.ts';
import { factsOf, type FoundSession, findSession } from './event-facts.ts';
import { type HeldEvent, heldUntil } from './held-deliveries.ts';
import { EVENT_TYPE_OF, eventIdOf, JOURNAL_TYPES, listEventsAfter, newestEventId } from './webhook-events.ts';
import { ownerOf, WEBHOOK, WEBHOOK_COLUMNS } from './webhook-rows.ts';

/** What one commit may plan: whichever is reached first ends it, also in the middle of an event. */
export const EVENTS_AT_ONCE = 100;
const DELIVERIES_AT_ONCE = 500;
/** Of bodies, in UTF-16 units. Beyond it is the body that reaches it. */
const BODIES_AT_ONCE = 1_000_000;

export interface PlanResult {
  /** Whether events may be left. */
  readonly more: boolean;
  /** The webhooks that got deliveries. */
  readonly webhookIds: ReadonlySet<number>;
  /** The types of journal events that enabled webhooks want now. */
  readonly wanted: ReadonlySet<EventType>;
  /** What was thrown while bodies were made. Those deliveries failed, and the others are planned. */
  readonly faults: readonly unknown[];
  /** Events whose deliveries wait until it is known whether there are files. */
  readonly held: readonly HeldEvent[];
}

/** Each type is looked up once, however many webhooks want it. */
const WANTED = Array.from(
  JOURNAL_TYPES.keys(),
  (type) => `SELECT '${type}' AS type WHERE EXISTS (SELECT 1 FROM webhook_subscriptions WHERE event_type = '${type}')`,
).join(' UNION ALL ');
const WEBHOOKS = `SELECT ${WEBHOOK_COLUMNS} FROM webhook_subscriptions s CROSS JOIN webhooks w ON w.id = s.webhook_id
  WHERE s.event_type = ? AND s.user_seq = ?`;

export interface PlanOptions {
  /** Deliveries may wait for the files of their run, because somebody is going to release them. */
  readonly holds?: boolean;
}

/** Plans the next events. */
export function* planIn(tx: Transaction, render: RenderBody, { holds = false }: PlanOptions): Step<PlanResult> {
  const { cursor } = (yield* tx.get<{ cursor: number }>('SELECT cursor FROM webhook_planning'))!;
  const newest = yield* newestEventId(tx);
  const wanted = (yield* tx.all<{ type: WebhookEventType }>(WANTED)).map(({ type }) => JOURNAL_TYPES.get(type)!);
  const events = yield* listEventsAfter(tx, wanted, { afterId: cursor, limit: EVENTS_AT_ONCE });
  const batch = makeBatch(render, holds);
  let planned = 0;
  while (planned < events.length && (yield* planEvent(tx, batch, events[planned]!))) planned += 1;
  const more = planned < events.length || planned === EVENTS_AT_ONCE;
  const reached = more ? (events[planned - 1]?.id ?? cursor) : newest;
  if (reached > cursor) yield* tx.run('UPDATE webhook_planning SET cursor = ?', reached);
  const { webhookIds, faults, held } = batch;
  return { more, webhookIds, wanted: new Set(wanted), faults, held };
}

/** What one commit has read and done. */
interface Batch {
  readonly render: RenderBody;
  readonly holds: boolean;
  readonly held: HeldEvent[];
  readonly sessions: Map<number, FoundSession>;
  /** By event type and owner. */
  readonly webhooks: Map<string, Webhook[]>;
  readonly webhookIds: Set<number>;
  readonly faults: unknown[];
  /** Whether an event was planned, so that the commit before cannot have planned part of the next. */
  hasBegun: boolean;
  deliveries: number;
  bodies: number;
}

function makeBatch(render: RenderBody, holds: boolean): Batch {
  const [sessions, webhooks, webhookIds] = [new Map(), new Map(), new Set<number>()];
  const counts = { hasBegun: false, deliveries: 0, bodies: 0 };
  return { render, holds, held: [], sessions, webhooks, webhookIds, faults: [], ...counts };
}

/** Returns whether the event is planned for all its webhooks; the next commit continues with the others. */
function* planEvent(tx: Transaction, batch: Batch, event: EventRow): Step<boolean> {
  const type = EVENT_TYPE_OF.get(event.type)!;
  const session = batch.sessions.get(event.sessionSeq) ?? (yield* findSession(tx, event.sessionSeq));
  batch.sessions.set(event.sessionSeq, session);
  const eventId = eventIdOf(session.session.id, event);
  const wanting = yield* wantingOf(tx, batch, { type, session });
  const done = batch.hasBegun || wanting.length === 0 ? NONE : yield* plannedOf(tx, eventId);
  batch.hasBegun = true;
  const left = wanting.filter(({ id }) => !done.has(id));
  if (left.length === 0) return true;
  const facts = yield* factsOrFault(tx, batch, { event, session });
  if (facts === undefined) return true;
  const until = batch.holds ? yield* heldUntil(tx, event, tx.now) : undefined;
  if (until !== undefined) batch.held.push({ eventId, sessionSeq: event.sessionSeq, runSeq: event.runSeq!, until });
  for (const webhook of left) {
    if (batch.deliveries >= DELIVERIES_AT_ONCE || batch.bodies >= BODIES_AT_ONCE) return false;
    const body = facts === null ? null : bodyOf(batch, facts, webhook);
    yield* insertDelivery(tx, webhook, {
      eventId,
      type,
      sessionSeq: event.sessionSeq,
      body,
      dueAt: until ?? tx.now,
    });
    batch.webhookIds.add(webhook.id);
    batch.deliveries += 1;
    batch.bodies += body?.length ?? 0;
  }
  return true;
}

const NONE: ReadonlySet<number> = new Set();

/** The webhooks that an event is planned for already. */
function* plannedOf(tx: Transaction, eventId: string): Step<ReadonlySet<number>> {
  const rows = yield* tx.all<{ id: number }>(
    'SELECT webhook_id AS id FROM webhook_deliveries WHERE event_id = ?',
    eventId,
  );
  return new Set(rows.map(({ id }) => id));
}

interface WantedEvent {
  readonly type: WebhookEventType;
  readonly session: FoundSession;
}

/** The webhooks that an event is for, in order. */
function* wantingOf(tx: Transaction, batch: Batch, { type, session }: WantedEvent): Step<readonly Webhook[]> {
  // The webhooks of a disabled user rest (H16).
  const owners = session.isDisabled ? [0] : [0, session.userSeq];
  const webhooks: Webhook[] = [];
  for (const owner of owners) webhooks.push(...(yield* webhooksOf(tx, batch, { type, owner })));
  const { kind: sessionKind, projectId } = session.session;
  return webhooks.filter((one) => filteredReason(one, { type, sessionKind, projectId }) === null);
}

/** Null when they cannot be made of what was stored: one event must not stop all that come after it. */
function* factsOrFault(
  tx: Transaction,
  { faults }: Batch,
  { event, session }: { readonly event: EventRow; readonly session: FoundSession },
): Step<EventFacts | undefined | null> {
  // Statements that fail never come here: the engine ends the commit.
  try {
    return yield* factsOf(tx, event, session);
  } catch (error) {
    faults.push(error);
    return null;
  }
}

/** Null when it cannot be made. */
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
  const known = webhooks.get(key) ?? (yield* tx.rows(WEBHOOK).all(WEBHOOKS, type, owner));
  webhooks.set(key, known);
  return known;
}

interface NewDelivery {
  readonly eventId: string;
  readonly type: WebhookEventType;
  readonly sessionSeq: number;
  readonly body: string | null;
  readonly dueAt: number;
}

function* insertDelivery(tx: Transaction, webhook: Webhook, delivery: NewDelivery): Step<void> {
  const { eventId, type, sessionSeq, body, dueAt } = delivery;
  yield* tx.run(
    `INSERT INTO webhook_deliveries (webhook_id, owner, event_id, event_type, session_seq, is_test, state, attempts_left,
       next_attempt_at, last_error, body, created_at, ended_at) VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?)`,
    webhook.id,
    ownerOf(webhook),
    eventId,
    type,
    sessionSeq,
    body === null ? 'failed' : 'pending',
    webhook.retryCount + 1,
    body === null ? null : dueAt,
    body === null ? 'The body could not be made.' : null,
    body ?? '',
    tx.now,
    body === null ? tx.now : null,
  );
}
