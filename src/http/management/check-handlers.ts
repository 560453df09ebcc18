// The handlers of models and of checks, which end when the client disconnects.
import type { Administrator } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { ModelCheckWishWire } from '../../wire/capabilities/model.ts';
import { renderList } from '../replies/render-list.ts';
import { renderMcpServerCheck, renderModel, renderModelCheck } from './checks-wire.ts';
import { type Exchange, refInPath } from '../frame/exchange.ts';
import { ok } from '../replies/reply.ts';
import { untilGone } from '../frame/until-gone.ts';

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeCheckHandlers(operations: Operations) {
  return {
    listModels: (_exchange: Exchange, caller: Administrator) =>
      ok(renderList(operations.listModels(caller), renderModel)),
    /** Everything is checked by default. */
    checkModel: async (exchange: Exchange<unknown, ModelCheckWishWire>, caller: Administrator) => {
      const wish = { context: exchange.body.context ?? true };
      return ok(renderModelCheck(await operations.checkModel(caller, refInPath(exchange), wish, untilGone(exchange))));
    },
    checkMcpServer: async (exchange: Exchange, caller: Administrator) =>
      ok(renderMcpServerCheck(await operations.checkMcpServer(caller, refInPath(exchange), untilGone(exchange)))),
  };
}
