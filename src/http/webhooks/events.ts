// The handlers of events for who listens without a webhook.
import type { Caller } from '../../domain/people/user.ts';
import { WEBHOOK_EVENT_TYPES } from '../../domain/webhooks/webhook.ts';
import type { Operations } from '../../operations/operations.ts';
import type { Static } from '../../wire/shape.ts';
import type { sampleEventQuery, webhookEventsQuery } from '../../wire/webhooks/event.ts';
import type { Exchange } from '../frame/exchange.ts';
import { ok } from '../replies/reply.ts';
import { untilGone } from '../frame/until-gone.ts';
import { renderEvents, renderSampleEvent } from './events-wire.ts';

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeEventHandlers(operations: Operations) {
  return {
    listen: async (exchange: Exchange<Static<typeof webhookEventsQuery>>, caller: Caller) => {
      const { after_id: afterId = null, event_type: types = WEBHOOK_EVENT_TYPES } = exchange.query;
      const { owner_scope: ownerScope = null, limit, wait_seconds: seconds } = exchange.query;
      const query = { ownerScope, types, afterId, limit, waitMs: seconds * 1_000 };
      const page = await operations.listenToEvents(caller, query, untilGone(exchange));
      // A credential may have been revoked while its request was waiting.
      if (seconds > 0) await exchange.admit();
      return ok(renderEvents(page));
    },
    sample: async ({ query }: Exchange<Static<typeof sampleEventQuery>>, caller: Caller) => {
      const { event_type: eventType, session_id: sessionId = null } = query;
      return ok(renderSampleEvent(await operations.getSampleEvent(caller, { eventType, sessionId })));
    },
  };
}
