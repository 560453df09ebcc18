// Deliveries of webhooks, with their attempts (H11).
import { DELIVERY_STATES } from '../../domain/webhooks/delivery.ts';
import { FILTERED_REASONS, type FilteredReason } from '../../domain/webhooks/webhook-filter.ts';
import { WEBHOOK_EVENT_TYPES } from '../../domain/webhooks/webhook.ts';
import { SESSION_KINDS, type SessionKind } from '../../domain/sessions/session.ts';
import { array, object } from '../shapes/composites.ts';
import { endpoints, numberOf } from '../endpoint.ts';
import { listOf, pageFields } from '../listing.ts';
import { made, record, request } from '../shapes/record.ts';
import { moment, optionalId } from '../shapes/query.ts';
import { boolean, integer, oneOf, string, time, uuid } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable, orElse, refersTo } from '../shapes/shape.ts';

const id = integer({ from: 1 });

const deliveryFields = {
  id,
  webhookId: id,
  eventId: uuid,
  eventType: oneOf(WEBHOOK_EVENT_TYPES),
  sessionId: nullable(uuid),
  isTest: boolean,
  state: oneOf(DELIVERY_STATES),
  attemptCount: integer({ from: 0 }),
  nextAttemptAt: nullable(time),
  lastStatusCode: nullable(integer()),
  lastError: nullable(string),
  createdAt: time,
  deliveredAt: nullable(time),
};

export const delivery = named('WebhookDelivery', record(deliveryFields));
export type DeliveryWire = JsonOf<typeof delivery>;

/** What came of an attempt. */
const outcome = {
  statusCode: nullable(integer()),
  durationMs: integer({ from: 0 }),
  error: nullable(string),
  responseExcerpt: nullable(string),
};
const attempt = named('WebhookAttempt', record({ no: id, at: time, ...outcome }));

/** A delivery with its attempts, and the body that each of them sends; the body is null once its session is deleted. */
const deliveryRecord = named(
  'WebhookDeliveryRecord',
  record({
    ...deliveryFields,
    attempts: array(attempt),
    body: made(nullable(string), ({ body }: { readonly body: string }) => (body === '' ? null : body)),
  }),
);
export type DeliveryRecordWire = JsonOf<typeof deliveryRecord>;

const filters = {
  eventType: orElse(oneOf(WEBHOOK_EVENT_TYPES), null),
  eventId: orElse(uuid, null),
  state: orElse(oneOf(DELIVERY_STATES), null),
  since: orElse(moment, null),
  until: orElse(moment, null),
  ...pageFields,
};

/** What to list of one webhook's deliveries, and of all. */
export const deliveriesOfWebhookQuery = request(filters);
const deliveryQuery = request({ webhookId: orElse(optionalId, null), ...filters });

const ENDED = ['delivered', 'failed', 'canceled'] as const;

/** Which deliveries to make again: of a webhook, those planned since a moment that ended so; `failed` when it isn't said. */
const redelivery = named(
  'WebhookRedelivery',
  request({ webhookId: id, since: moment, state: orElse(oneOf(ENDED), 'failed') }),
);

/** How many deliveries are made again. */
const redelivered = named('WebhookRedelivered', object({ count: integer({ from: 0 }) }));

/** §6.6. */
export const webhookTest = named(
  'WebhookTest',
  request({ eventType: oneOf(WEBHOOK_EVENT_TYPES), sessionId: orElse(refersTo('sessions', uuid), null) }),
);

interface TestResult {
  readonly filteredReason: FilteredReason | null;
  readonly tested: { readonly id: string | null; readonly kind: SessionKind; readonly projectId: string | null };
  /** Null when nothing was sent. */
  readonly sent: {
    readonly eventId: string;
    readonly statusCode: number | null;
    readonly durationMs: number;
    readonly error: string | null;
    readonly responseExcerpt: string | null;
  } | null;
}

/** The result of a test (§6.6, H10): what the filters decided, and what the receiver replied if it was sent. */
export const webhookTestResult = named(
  'WebhookTestResult',
  record({
    delivered: made(boolean, ({ sent }: TestResult) => sent !== null && sent.error === null),
    matched: made(boolean, ({ filteredReason }: TestResult) => filteredReason === null),
    filteredReason: nullable(oneOf(FILTERED_REASONS)),
    testedSessionId: made(nullable(uuid), ({ tested }: TestResult) => tested.id),
    testedSessionKind: made(oneOf(SESSION_KINDS), ({ tested }: TestResult) => tested.kind),
    testedProjectId: made(nullable(uuid), ({ tested }: TestResult) => tested.projectId),
    eventId: made(nullable(uuid), ({ sent }: TestResult) => sent?.eventId ?? null),
    statusCode: made(nullable(integer()), ({ sent }: TestResult) => sent?.statusCode ?? null),
    durationMs: made(nullable(integer({ from: 0 })), ({ sent }: TestResult) => sent?.durationMs ?? null),
    error: made(nullable(string), ({ sent }: TestResult) => sent?.error ?? null),
    responseExcerpt: made(nullable(string), ({ sent }: TestResult) => sent?.responseExcerpt ?? null),
  }),
);
export type WebhookTestResultWire = JsonOf<typeof webhookTestResult>;

/** How many deliveries of the longest kind are read at once. */
export const DELIVERIES_PER_PART = 25;

const one = { params: { id: numberOf('Delivery') }, reply: deliveryRecord };

/** Deliveries: of everyone's own webhooks, and for administrators of all (H2). */
// biome-ignore format: a table reads best with one endpoint a line
export const deliveries = endpoints('user', 'envelope', {
  list: { route: 'GET /api/v1/webhook-deliveries', summary: 'List deliveries of webhooks', operation: 'listDeliveries', query: deliveryQuery, reply: listOf(delivery), perPart: DELIVERIES_PER_PART },
  redeliverMany: { route: 'POST /api/v1/webhook-deliveries/redeliver', summary: 'Deliver again what ended in a state since a moment', operation: 'redeliverMany', body: redelivery, reply: redelivered },
  get: { route: 'GET /api/v1/webhook-deliveries/:id', summary: 'Read a delivery with its attempts and its body', operation: 'getDelivery', ...one },
  redeliver: { route: 'POST /api/v1/webhook-deliveries/:id/redeliver', summary: 'Deliver again, at once and with the same body', operation: 'redeliver', ...one },
});
