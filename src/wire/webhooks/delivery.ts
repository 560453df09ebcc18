// Deliveries of webhooks, with their attempts (H11).
import { DELIVERY_STATES } from '../../domain/webhooks/delivery.ts';
import { FILTERED_REASONS } from '../../domain/webhooks/webhook-filter.ts';
import { WEBHOOK_EVENT_TYPES } from '../../domain/webhooks/webhook.ts';
import { SESSION_KINDS } from '../../domain/sessions/session.ts';
import { array, object } from '../composites.ts';
import { pageFields } from '../listing.ts';
import { moment, optionalId } from '../query.ts';
import { boolean, integer, oneOf, string, time, uuid } from '../scalars.ts';
import { named, nullable, optional, type Static } from '../shape.ts';

const id = integer({ from: 1 });

const deliveryFields = {
  id,
  webhook_id: id,
  event_id: uuid,
  event_type: oneOf(WEBHOOK_EVENT_TYPES),
  session_id: nullable(uuid),
  is_test: boolean,
  state: oneOf(DELIVERY_STATES),
  attempt_count: integer({ from: 0 }),
  next_attempt_at: nullable(time),
  last_status_code: nullable(integer()),
  last_error: nullable(string),
  created_at: time,
  delivered_at: nullable(time),
};

export const delivery = named('WebhookDelivery', object(deliveryFields));
export type DeliveryWire = Static<typeof delivery>;

const attempt = named(
  'WebhookAttempt',
  object({
    no: id,
    at: time,
    status_code: nullable(integer()),
    duration_ms: integer({ from: 0 }),
    error: nullable(string),
    response_excerpt: nullable(string),
  }),
);

/** A delivery with its attempts, and the body that each of them sends; the body is null once its session is deleted. */
export const deliveryRecord = named(
  'WebhookDeliveryRecord',
  object({ ...deliveryFields, attempts: array(attempt), body: nullable(string) }),
);
export type DeliveryRecordWire = Static<typeof deliveryRecord>;

const filters = {
  event_type: optional(oneOf(WEBHOOK_EVENT_TYPES)),
  event_id: optional(uuid),
  state: optional(oneOf(DELIVERY_STATES)),
  since: optional(moment),
  until: optional(moment),
};

/** What to list of one webhook's deliveries, and of all. */
export const deliveriesOfWebhookQuery = object({ ...filters, ...pageFields });
export const deliveryQuery = object({ webhook_id: optionalId, ...filters, ...pageFields });

const ENDED = ['delivered', 'failed', 'canceled'] as const;

/** Which deliveries to make again: of a webhook, those planned since a moment that ended so; `failed` when it isn't said. */
export const redelivery = named(
  'WebhookRedelivery',
  object({ webhook_id: id, since: moment, state: optional(oneOf(ENDED)) }),
);

/** How many deliveries are made again. */
export const redelivered = named('WebhookRedelivered', object({ count: integer({ from: 0 }) }));

/** §6.6. */
export const webhookTest = named(
  'WebhookTest',
  object({ event_type: oneOf(WEBHOOK_EVENT_TYPES), session_id: optional(uuid) }),
);

/** The result of a test (§6.6, H10): what the filters decided, and what the receiver replied if it was sent. */
export const webhookTestResult = named(
  'WebhookTestResult',
  object({
    delivered: boolean,
    matched: boolean,
    filtered_reason: nullable(oneOf(FILTERED_REASONS)),
    tested_session_id: nullable(uuid),
    tested_session_kind: oneOf(SESSION_KINDS),
    tested_project_id: nullable(uuid),
    event_id: nullable(uuid),
    status_code: nullable(integer()),
    duration_ms: nullable(integer({ from: 0 })),
    error: nullable(string),
    response_excerpt: nullable(string),
  }),
);
export type WebhookTestResultWire = Static<typeof webhookTestResult>;
