// The handlers of deliveries (H2, H11).
import type { Page } from '../../domain/listing.ts';
import type { Caller } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { Static } from '../../wire/shape.ts';
import type { deliveriesOfWebhookQuery, deliveryQuery, redelivery } from '../../wire/webhooks/delivery.ts';
import { type Exchange, numberInPath } from '../frame/exchange.ts';
import { renderLongList } from '../replies/render-list.ts';
import { ok } from '../replies/reply.ts';
import { renderDelivery, renderDeliveryRecord } from './deliveries-wire.ts';

type Query = Static<typeof deliveryQuery>;

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeDeliveryHandlers(operations: Operations) {
  const list = async (query: Query, caller: Caller) => {
    const { webhook_id: webhookId = null, event_id: eventId = null, event_type: eventType = null } = query;
    const { state = null, since = null, until = null, limit, offset } = query;
    const filter = { webhookId, eventId, eventType, state, since, until };
    const list = async (part: Page) => operations.listDeliveries(caller, { ...filter, ...part });
    return ok(await renderLongList({ limit, offset, perPart: 25, list, idOf: ({ id }) => id }, renderDelivery));
  };
  return {
    list: async ({ query }: Exchange<Query>, caller: Caller) => list(query, caller),
    listOfWebhook: async (exchange: Exchange<Static<typeof deliveriesOfWebhookQuery>>, caller: Caller) =>
      list({ ...exchange.query, webhook_id: numberInPath(exchange, 'Webhook') }, caller),
    get: async (exchange: Exchange, caller: Caller) =>
      ok(renderDeliveryRecord(await operations.getDelivery(caller, numberInPath(exchange, 'Delivery')))),
    redeliver: async (exchange: Exchange, caller: Caller) =>
      ok(renderDeliveryRecord(await operations.redeliver(caller, numberInPath(exchange, 'Delivery')))),
    redeliverMany: async ({ body }: Exchange<unknown, Static<typeof redelivery>>, caller: Caller) => {
      const { webhook_id: webhookId, since, state = 'failed' } = body;
      return ok(await operations.redeliverMany(caller, { webhookId, since, state }));
    },
  };
}
