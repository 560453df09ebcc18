// The handlers of webhooks (H2).
import type { Page } from '../../domain/listing.ts';
import type { Caller } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { Static } from '../../wire/shape.ts';
import type { webhookTest } from '../../wire/webhooks/delivery.ts';
import type { NewWebhookWire, WebhookChangeWire, webhookQuery } from '../../wire/webhooks/webhook.ts';
import { type Exchange, numberInPath } from '../frame/exchange.ts';
import { renderLongList } from '../replies/render-list.ts';
import { created, ok } from '../replies/reply.ts';
import { renderTestResult } from './deliveries-wire.ts';
import { newWebhookOf, renderWebhook, webhookInputOf } from './webhooks-wire.ts';

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeWebhookHandlers(operations: Operations) {
  const id = (exchange: Exchange) => numberInPath(exchange, 'Webhook');
  return {
    list: async ({ query }: Exchange<Static<typeof webhookQuery>>, caller: Caller) => {
      const { owner_scope: ownerScope = null, enabled = null, ...page } = query;
      const list = async (part: Page) => operations.listWebhooks(caller, { ownerScope, enabled, ...part });
      return ok(await renderLongList({ ...page, perPart: 80, list, idOf: (one) => one.id }, renderWebhook));
    },
    create: async ({ body }: Exchange<unknown, NewWebhookWire>, caller: Caller) =>
      created(renderWebhook(await operations.createWebhook(caller, newWebhookOf(body)))),
    get: async (exchange: Exchange, caller: Caller) =>
      ok(renderWebhook(await operations.getWebhook(caller, id(exchange)))),
    change: async (exchange: Exchange<unknown, WebhookChangeWire>, caller: Caller) =>
      ok(renderWebhook(await operations.changeWebhook(caller, id(exchange), webhookInputOf(exchange.body)))),
    remove: async (exchange: Exchange, caller: Caller) => {
      const removed = id(exchange);
      await operations.deleteWebhook(caller, removed);
      return ok({ id: removed });
    },
    test: async (exchange: Exchange<unknown, Static<typeof webhookTest>>, caller: Caller) => {
      const { event_type: eventType, session_id: sessionId = null } = exchange.body;
      return ok(renderTestResult(await operations.testWebhook(caller, id(exchange), { eventType, sessionId })));
    },
  };
}
