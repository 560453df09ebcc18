// Events as webhooks would be sent them, for who listens without one.
import { OWNER_SCOPES, WEBHOOK_EVENT_TYPES } from '../../domain/webhooks/webhook.ts';
import { array } from '../shapes/composites.ts';
import { endpoints } from '../endpoint.ts';
import { digits, optionalEventId, optionalWords } from '../shapes/query.ts';
import { called, record, request } from '../shapes/record.ts';
import { boolean, integer, oneOf, string, uuid } from '../shapes/scalars.ts';
import { type JsonOf, named, orElse, refersTo } from '../shapes/shape.ts';

const eventFields = {
  eventId: uuid,
  eventType: oneOf(WEBHOOK_EVENT_TYPES),
  /** The exact text, of which `webhook.id` is 0. */
  body: string,
};

/** An event of the journal. */
const webhookEvent = named('WebhookEvent', record({ id: integer({ from: 1 }), ...eventFields }));
export type WebhookEventWire = JsonOf<typeof webhookEvent>;

/** Some events, in the order of the journal; the next request continues after `next_after_id`. */
export const webhookEventsPage = named(
  'WebhookEvents',
  record({ events: called('items', array(webhookEvent)), nextAfterId: integer({ from: 0 }), hasMore: boolean }),
);
export type WebhookEventsWire = JsonOf<typeof webhookEventsPage>;

/**
 * Which events. Without `after_id`, those that come from now on. Without events, the reply is held up to `wait_seconds` until
 * there are some.
 */
export const webhookEventsQuery = request({
  afterId: orElse(optionalEventId, null),
  types: called('event_type', orElse(optionalWords(WEBHOOK_EVENT_TYPES), WEBHOOK_EVENT_TYPES)),
  ownerScope: orElse(oneOf(OWNER_SCOPES), null),
  limit: digits({ from: 1, to: 100, absent: 100 }),
  waitSeconds: digits({ from: 0, to: 30, absent: 0 }),
});

/** A test event that nobody is sent. */
const sampleEvent = named('WebhookSampleEvent', record(eventFields));
export type SampleEventWire = JsonOf<typeof sampleEvent>;

const sampleEventQuery = request({
  eventType: oneOf(WEBHOOK_EVENT_TYPES),
  sessionId: orElse(refersTo('sessions', uuid), null),
});

/** Events for who listens without a webhook. A client waits longer than the daemon holds a reply. */
// biome-ignore format: a table reads best with one endpoint a line
export const webhookEvents = endpoints('user', 'envelope', {
  listen: { route: 'GET /api/v1/webhook-events', summary: 'Listen to events as a webhook would be sent them', query: webhookEventsQuery, reply: webhookEventsPage, patienceMs: 60_000 },
  sample: { route: 'GET /api/v1/webhook-events/sample', summary: 'Make a test event that nobody is sent', operation: 'getSampleEvent', query: sampleEventQuery, reply: sampleEvent },
});
