// The handlers of definitions: what the config directory defines, one kind at a time.
import type { DefinitionNoun } from '../../operations/capabilities/definitions.ts';
import { renderList } from '../replies/render-list.ts';
import type { Administrator } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import { renderDefinition, renderProblems, renderWholeDefinition } from './definitions-wire.ts';
import type { Exchange } from '../frame/exchange.ts';
import { ok } from '../replies/reply.ts';

/** The handlers of one kind by name; `routes.ts` assigns their paths. */
export function makeDefinitionHandlers<N extends DefinitionNoun>(operations: Operations, noun: N) {
  return {
    list: async (_exchange: Exchange, caller: Administrator) => {
      const { problems, ...list } = await operations.listDefinitions(caller, noun);
      return ok({ ...renderList(list, renderDefinition), problems });
    },
    get: async (_exchange: Exchange, caller: Administrator, ref: string) =>
      ok(renderWholeDefinition(await operations.getDefinition(caller, noun, ref))),
    check: async (_exchange: Exchange, caller: Administrator) =>
      ok(renderProblems(await operations.checkDefinitions(caller, noun))),
  };
}
