// Planning: events of the journal become deliveries, each exactly once, because the cursor moves in the same commit.
import type { EventType } from '../../domain/sessions/journal-event.ts';
import type { EventFacts, RenderBody } from '../../domain/webhooks/event-facts.ts';
import { filteredReason } from '../../domain/webhooks/webhook-filter.ts';
import { ownerScopeOf, type Webhook, type WebhookEventType } from '../../domain/webhooks/webhook.ts';
import { type Step, together, type Transaction } from '../engine/statement.ts';
import type { EventRow } from '../engine/journal/rows.ts';
import { factsOf, type FoundSession, findSession } from './event-facts.ts';
import { type HeldEvent, heldUntil, UNATTENDED_MS } from './held-deliveries.ts';
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
  const examined = yield* examine(tx, batch, events);
  let planned = 0;
  while (planned < events.length && (yield* planEvent(tx, batch, examined[planned]!))) planned += 1;
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
  readonly webhookIds: Set<number>;
  readonly faults: unknown[];
  /** Whether an event was planned, so that the commit before cannot have planned part of the next. */
  hasBegun: boolean;
  deliveries: number;
  bodies: number;
}

function makeBatch(render: RenderBody, holds: boolean): Batch {
  const counts = { hasBegun: false, deliveries: 0, bodies: 0 };
  return { render, holds, held: [], webhookIds: new Set(), faults: [], ...counts };
}

/** An event, and what is known of it. */
interface Examined {
  readonly event: EventRow;
  readonly session: FoundSession;
  readonly type: WebhookEventType;
  /** The webhooks that it is for. */
  readonly wanting: readonly Webhook[];
  /** Undefined for an event that webhooks hear nothing of, null for one whose facts can't be made. */
  readonly facts: EventFacts | undefined | null;
  /** Until when its deliveries wait for files. */
  readonly until: number | undefined;
}

/** Reads what is needed of all events at once: with a server that is far away, one by one would take seconds. */
function* examine(tx: Transaction, batch: Batch, events: readonly EventRow[]): Step<readonly Examined[]> {
  const seqs = [...new Set(events.map(({ sessionSeq }) => sessionSeq))];
  const found = yield* together(seqs.map((seq) => findSession(tx, seq)));
  const sessions = new Map(seqs.map((seq, at) => [seq, found[at]!]));
  const known = events.map((event) => ({
    event,
    session: sessions.get(event.sessionSeq)!,
    type: EVENT_TYPE_OF.get(event.type)!,
  }));
  const webhooks = yield* findWebhooks(tx, known);
  return yield* together(
    known.map(function* (one): Step<Examined> {
      const wanting = wantingOf(webhooks, one);
      if (wanting.length === 0) return { ...one, wanting, facts: undefined, until: undefined };
      const facts = yield* factsOrFault(tx, batch, one);
      const until = facts !== undefined && batch.holds ? yield* heldUntil(tx, one.event, tx.now) : undefined;
      return { ...one, wanting, facts, until };
    }),
  );
}

/** Returns whether the event is planned for all its webhooks; the next commit continues with the others. */
function* planEvent(
  tx: Transaction,
  batch: Batch,
  { event, session, type, wanting, facts, until }: Examined,
): Step<boolean> {
  const eventId = eventIdOf(session.session.id, event);
  const done = batch.hasBegun || wanting.length === 0 ? NONE : yield* plannedOf(tx, eventId);
  batch.hasBegun = true;
  const left = wanting.filter(({ id }) => !done.has(id));
  if (left.length === 0 || facts === undefined) return true;
  if (until !== undefined) batch.held.push({ eventId, sessionSeq: event.sessionSeq, runSeq: event.runSeq!, until });
  for (const webhook of left) {
    if (batch.deliveries >= DELIVERIES_AT_ONCE || batch.bodies >= BODIES_AT_ONCE) return false;
    const body = facts === null ? null : bodyOf(batch, facts, webhook);
    yield* insertDelivery(tx, webhook, {
      eventId,
      type,
      sessionSeq: event.sessionSeq,
      body,
      dueAt: until === undefined ? tx.now : until + UNATTENDED_MS,
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

type Webhooks = ReadonlyMap<string, readonly Webhook[]>;

const keyOf = (type: WebhookEventType, owner: number) => `${type} ${owner}`;

/** Whose webhooks hear of an event. Those of a disabled user rest (H16). */
const ownersOf = ({ session }: WantedEvent) => (session.isDisabled ? [0] : [0, session.userSeq]);

/** By event type and owner. */
function* findWebhooks(tx: Transaction, events: readonly WantedEvent[]): Step<Webhooks> {
  const wanted = new Map(
    events.flatMap((event) => ownersOf(event).map((owner) => [keyOf(event.type, owner), [event.type, owner]] as const)),
  );
  const found = yield* together([...wanted.values()].map((values) => tx.rows(WEBHOOK).all(WEBHOOKS, ...values)));
  return new Map([...wanted.keys()].map((key, at) => [key, found[at]!]));
}

/** The webhooks that an event is for, in order. */
function wantingOf(webhooks: Webhooks, event: WantedEvent): readonly Webhook[] {
  const { type, session } = event;
  const { kind: sessionKind, projectId } = session.session;
  return ownersOf(event)
    .flatMap((owner) => webhooks.get(keyOf(type, owner))!)
    .filter((one) => filteredReason(one, { type, sessionKind, projectId }) === null);
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
