// The paths of webhooks and their deliveries (H2): everyone's own, and for administrators all.
import type { Operations } from '../../operations/operations.ts';
import { listOf } from '../../wire/listing.ts';
import {
  deliveriesOfWebhookQuery,
  delivery,
  deliveryQuery,
  deliveryRecord,
  redelivered,
  redelivery,
  webhookTest,
  webhookTestResult,
} from '../../wire/webhooks/delivery.ts';
import { sampleEvent, sampleEventQuery, webhookEvents, webhookEventsQuery } from '../../wire/webhooks/event.ts';
import { newWebhook, webhook, webhookChange, webhookDeletion, webhookQuery } from '../../wire/webhooks/webhook.ts';
import { type Route, routesWith } from '../frame/route.ts';
import { makeDeliveryHandlers } from './deliveries.ts';
import { makeEventHandlers } from './events.ts';
import { makeWebhookHandlers } from './webhooks.ts';

const ofUser = routesWith('user', 'envelope');

/** The rows of the table of routes. */
export function webhookRoutes(operations: Operations): Route[] {
  const webhooks = makeWebhookHandlers(operations);
  const deliveries = makeDeliveryHandlers(operations);
  const events = makeEventHandlers(operations);
  // biome-ignore format: a table reads best with one route a line
  return [
    ofUser('GET /api/v1/webhooks', 'List webhooks', { query: webhookQuery, reply: listOf(webhook), handler: webhooks.list }),
    ofUser('POST /api/v1/webhooks', 'Create a webhook', { body: newWebhook, reply: webhook, statuses: [201], handler: webhooks.create }),
    ofUser('GET /api/v1/webhooks/:id', 'Read a webhook', { reply: webhook, handler: webhooks.get }),
    ofUser('PATCH /api/v1/webhooks/:id', 'Change a webhook', { body: webhookChange, reply: webhook, handler: webhooks.change }),
    ofUser('DELETE /api/v1/webhooks/:id', 'Delete a webhook with its deliveries', { reply: webhookDeletion, handler: webhooks.remove }),
    ofUser('POST /api/v1/webhooks/:id/test', 'Send a test event to a webhook', { body: webhookTest, reply: webhookTestResult, handler: webhooks.test }),
    ofUser('GET /api/v1/webhooks/:id/deliveries', 'List the deliveries of a webhook', { query: deliveriesOfWebhookQuery, reply: listOf(delivery), handler: deliveries.listOfWebhook }),
    ofUser('GET /api/v1/webhook-deliveries', 'List deliveries of webhooks', { query: deliveryQuery, reply: listOf(delivery), handler: deliveries.list }),
    ofUser('POST /api/v1/webhook-deliveries/redeliver', 'Deliver again what ended in a state since a moment', { body: redelivery, reply: redelivered, handler: deliveries.redeliverMany }),
    ofUser('GET /api/v1/webhook-deliveries/:id', 'Read a delivery with its attempts and its body', { reply: deliveryRecord, handler: deliveries.get }),
    ofUser('POST /api/v1/webhook-deliveries/:id/redeliver', 'Deliver again, at once and with the same body', { reply: deliveryRecord, handler: deliveries.redeliver }),
    ofUser('GET /api/v1/webhook-events', 'Listen to events as a webhook would be sent them', { query: webhookEventsQuery, reply: webhookEvents, handler: events.listen }),
    ofUser('GET /api/v1/webhook-events/sample', 'Make a test event that nobody is sent', { query: sampleEventQuery, reply: sampleEvent, handler: events.sample }),
  ];
}
