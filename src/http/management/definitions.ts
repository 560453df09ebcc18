// The handlers of definitions: what the config directory defines, one kind at a time.
import type { DefinitionNoun } from '../../operations/capabilities/definitions.ts';
import type { Administrator } from '../../domain/user.ts';
import type { Operations } from '../../operations/operations.ts';
import { renderDefinition, renderProblems, renderWholeDefinition } from './definitions-wire.ts';
import { type Exchange, refInPath } from '../frame/exchange.ts';
import { ok, type Reply } from '../frame/reply.ts';

type Handler = (exchange: Exchange, caller: Administrator) => Promise<Reply>;

/** The handlers of one kind by name; `routes.ts` says where each stands. */
export function makeDefinitionHandlers(operations: Operations, noun: DefinitionNoun) {
  return {
    list: async (_exchange, caller) => {
      const { items, total, problems } = await operations.listDefinitions(caller, noun);
      return ok({ items: items.map(renderDefinition), total, problems });
    },
    get: async (exchange, caller) =>
      ok(renderWholeDefinition(await operations.getDefinition(caller, noun, refInPath(exchange)))),
    check: async (_exchange, caller) => ok(renderProblems(await operations.checkDefinitions(caller, noun))),
  } satisfies Record<string, Handler>;
}
