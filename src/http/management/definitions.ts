// The handlers of definitions: what the config directory defines, one kind at a time.
import type { DefinitionNoun } from '../../operations/capabilities/definitions.ts';
import type { Operations } from '../../operations/operations.ts';
import { renderDefinition, renderProblems, renderWholeDefinition } from './definitions-wire.ts';
import { type Exchange, refInPath } from '../frame/exchange.ts';
import { ok, type Reply } from '../frame/reply.ts';

type Handler = (exchange: Exchange) => Promise<Reply>;

/** The handlers of one kind by name; `routes.ts` says where each stands. */
export function makeDefinitionHandlers(operations: Operations, noun: DefinitionNoun) {
  return {
    list: async () => {
      const { items, total, problems } = await operations.listDefinitions(noun);
      return ok({ items: items.map(renderDefinition), total, problems });
    },
    get: async (exchange) => ok(renderWholeDefinition(await operations.getDefinition(noun, refInPath(exchange)))),
    check: async () => ok(renderProblems(await operations.checkDefinitions(noun))),
  } satisfies Record<string, Handler>;
}
