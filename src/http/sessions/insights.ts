// The handlers of insights (I3).
import { INSIGHT_STATUSES } from '../../domain/insight.ts';
import type { Caller } from '../../domain/user.ts';
import type { Operations } from '../../operations/operations.ts';
import { type Exchange, idInPath } from '../frame/exchange.ts';
import { parseInsightStatus, renderInsight } from './insights-wire.ts';
import { pageInQuery, uuidInQuery, wordInQuery } from '../frame/query.ts';
import { ok, type Reply } from '../frame/reply.ts';

type UserHandler = (exchange: Exchange, caller: Caller) => Promise<Reply>;

/** The handlers by name; `routes.ts` says where each stands. */
export function makeInsightHandlers(operations: Operations) {
  const id = (exchange: Exchange) => idInPath(exchange, 'Insight');
  return {
    list: async (exchange, caller) => {
      const status = wordInQuery(exchange, 'status', INSIGHT_STATUSES);
      const filter = { sessionId: uuidInQuery(exchange, 'session_id'), status };
      const { items, total } = await operations.listInsights(caller, { ...filter, ...pageInQuery(exchange) });
      return ok({ items: items.map(renderInsight), total });
    },
    get: async (exchange, caller) => ok(renderInsight(await operations.getInsight(caller, id(exchange)))),
    setStatus: async (exchange, caller) => {
      const status = parseInsightStatus(exchange.body);
      return ok(renderInsight(await operations.setInsightStatus(caller, id(exchange), status)));
    },
  } satisfies Record<string, UserHandler>;
}
