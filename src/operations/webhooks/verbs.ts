// The verbs on webhooks, on what they deliver, and on what they would deliver.
import { type DeliveryOperationParts, makeDeliveryOperations } from './deliveries.ts';
import { type ListenParts, makeListenOperations } from './listen.ts';
import { makeTestWebhook, type TestWebhookParts } from './test-webhook.ts';
import { makeWebhookOperations, type WebhookOperationParts } from './webhooks.ts';

export type WebhookParts = WebhookOperationParts & DeliveryOperationParts & ListenParts & TestWebhookParts;

export function makeWebhookVerbs(parts: WebhookParts) {
  return {
    ...makeWebhookOperations(parts),
    ...makeDeliveryOperations(parts),
    ...makeListenOperations(parts),
    testWebhook: makeTestWebhook(parts),
  };
}
