// The handlers of insights (I3).
import type { Page } from '../../domain/listing.ts';
import type { Caller } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { insightChange, insightQuery } from '../../wire/sessions/insight.ts';
import type { Static } from '../../wire/shape.ts';
import { type Exchange, idInPath } from '../frame/exchange.ts';
import { renderInsight } from './insights-wire.ts';
import { renderLongList } from '../replies/render-list.ts';
import { ok } from '../replies/reply.ts';

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeInsightHandlers(operations: Operations) {
  const id = (exchange: Exchange) => idInPath(exchange, 'Insight');
  return {
    list: async ({ query }: Exchange<Static<typeof insightQuery>>, caller: Caller) => {
      const { session_id: sessionId = null, status = null, ...page } = query;
      const list = async (part: Page) => operations.listInsights(caller, { sessionId, status, ...part });
      return ok(await renderLongList({ ...page, perPart: 20, list, idOf: ({ id }) => id }, renderInsight));
    },
    get: async (exchange: Exchange, caller: Caller) =>
      ok(renderInsight(await operations.getInsight(caller, id(exchange)))),
    setStatus: async (exchange: Exchange<unknown, Static<typeof insightChange>>, caller: Caller) =>
      ok(renderInsight(await operations.setInsightStatus(caller, id(exchange), exchange.body.status))),
  };
}
