// The handlers of models and of checks, which end when the one who asked goes away.
import type { Operations } from '../../operations/operations.ts';
import { parseModelCheck, renderMcpServerCheck, renderModel, renderModelCheck } from './checks-wire.ts';
import { type Exchange, refInPath } from '../frame/exchange.ts';
import { ok, type Reply } from '../frame/reply.ts';

type AdminHandler = (exchange: Exchange) => Promise<Reply>;

/** The handlers by name; `routes.ts` says where each stands. */
export function makeCheckHandlers(operations: Operations) {
  return {
    listModels: async () => {
      const { items, total } = operations.listModels();
      return ok({ items: items.map(renderModel), total });
    },
    checkModel: async (exchange) => {
      const wish = parseModelCheck(exchange.body);
      return ok(renderModelCheck(await operations.checkModel(refInPath(exchange), wish, untilGone(exchange))));
    },
    checkMcpServer: async (exchange) =>
      ok(renderMcpServerCheck(await operations.checkMcpServer(refInPath(exchange), untilGone(exchange)))),
  } satisfies Record<string, AdminHandler>;
}

function untilGone({ res }: Exchange): AbortSignal {
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  return gone.signal;
}
