// The handlers of models and of checks, which end when the one who asked goes away.
import type { Administrator } from '../../domain/user.ts';
import type { Operations } from '../../operations/operations.ts';
import { parseModelCheck, renderMcpServerCheck, renderModel, renderModelCheck } from './checks-wire.ts';
import { type Exchange, refInPath } from '../frame/exchange.ts';
import { ok, type Reply } from '../frame/reply.ts';

type AdminHandler = (exchange: Exchange, caller: Administrator) => Promise<Reply>;

/** The handlers by name; `routes.ts` says where each stands. */
export function makeCheckHandlers(operations: Operations) {
  return {
    listModels: async (_exchange, caller) => {
      const { items, total } = operations.listModels(caller);
      return ok({ items: items.map(renderModel), total });
    },
    checkModel: async (exchange, caller) => {
      const wish = parseModelCheck(exchange.body);
      return ok(renderModelCheck(await operations.checkModel(caller, refInPath(exchange), wish, untilGone(exchange))));
    },
    checkMcpServer: async (exchange, caller) =>
      ok(renderMcpServerCheck(await operations.checkMcpServer(caller, refInPath(exchange), untilGone(exchange)))),
  } satisfies Record<string, AdminHandler>;
}

function untilGone({ res }: Exchange): AbortSignal {
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  return gone.signal;
}
