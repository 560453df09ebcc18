// Events as webhooks would be sent them, for who listens without one.
import { OWNER_SCOPES, WEBHOOK_EVENT_TYPES } from '../../domain/webhooks/webhook.ts';
import { array, object } from '../composites.ts';
import { digits, optionalEventId, optionalWords } from '../query.ts';
import { boolean, integer, oneOf, string, uuid } from '../scalars.ts';
import { named, optional, type Static } from '../shape.ts';

const eventFields = {
  event_id: uuid,
  event_type: oneOf(WEBHOOK_EVENT_TYPES),
  /** The exact text, of which `webhook.id` is 0. */
  body: string,
};

/** An event of the journal. */
const webhookEvent = named('WebhookEvent', object({ id: integer({ from: 1 }), ...eventFields }));
export type WebhookEventWire = Static<typeof webhookEvent>;

/** Some events, in the order of the journal; the next request continues after `next_after_id`. */
export const webhookEvents = named(
  'WebhookEvents',
  object({ items: array(webhookEvent), next_after_id: integer({ from: 0 }), has_more: boolean }),
);
export type WebhookEventsWire = Static<typeof webhookEvents>;

/**
 * Which events. Without `after_id`, those that come from now on. Without events, the reply is held up to `wait_seconds` until
 * there are some.
 */
export const webhookEventsQuery = object({
  after_id: optionalEventId,
  event_type: optionalWords(WEBHOOK_EVENT_TYPES),
  owner_scope: optional(oneOf(OWNER_SCOPES)),
  limit: digits({ from: 1, to: 100, absent: 100 }),
  wait_seconds: digits({ from: 0, to: 30, absent: 0 }),
});

/** A test event that nobody is sent. */
export const sampleEvent = named('WebhookSampleEvent', object(eventFields));
export type SampleEventWire = Static<typeof sampleEvent>;

export const sampleEventQuery = object({
  event_type: oneOf(WEBHOOK_EVENT_TYPES),
  session_id: optional(uuid),
});
