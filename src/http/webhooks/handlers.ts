// The handlers of webhooks that no table can say.
import type { Page } from '../../domain/listing.ts';
import type { Caller } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { Static } from '../../wire/shapes/shape.ts';
import { DELIVERIES_PER_PART, type deliveriesOfWebhookQuery, delivery } from '../../wire/webhooks/delivery.ts';
import { webhookEventsPage, type webhookEventsQuery } from '../../wire/webhooks/event.ts';
import type { Exchange } from '../frame/exchange.ts';
import { untilGone } from '../frame/until-gone.ts';
import { renderLongList } from '../replies/render-list.ts';
import { ok } from '../replies/reply.ts';

/** Lists the deliveries of the webhook in the path. */
export function makeListDeliveries({ listDeliveries }: Pick<Operations, 'listDeliveries'>) {
  return async ({ query }: Exchange<Static<typeof deliveriesOfWebhookQuery>>, caller: Caller, webhookId: number) => {
    const { limit, offset } = query;
    const list = async (part: Page) => listDeliveries(caller, { ...query, webhookId, ...part });
    const page = { limit, offset, perPart: DELIVERIES_PER_PART, list, idOf: ({ id }: { readonly id: number }) => id };
    return ok(await renderLongList(page, delivery.render));
  };
}

/** Waits for events. */
export function makeListen({ listenToEvents }: Pick<Operations, 'listenToEvents'>) {
  return async (exchange: Exchange<Static<typeof webhookEventsQuery>>, caller: Caller) => {
    const { waitSeconds, ...query } = exchange.query;
    const page = await listenToEvents(caller, { ...query, waitMs: waitSeconds * 1_000 }, untilGone(exchange));
    // A credential may have been revoked while its request was waiting.
    if (waitSeconds > 0) await exchange.admit();
    return ok(webhookEventsPage.render(page));
  };
}
