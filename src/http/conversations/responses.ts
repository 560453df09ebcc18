// The handlers of existing responses (M3).
import { responseIdOf } from '../../domain/ids.ts';
import type { KeyCaller } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { inputItemsQuery } from '../../wire/responses/input-items.ts';
import type { responseQuery } from '../../wire/responses/request.ts';
import type { Static } from '../../wire/shapes/shape.ts';
import type { Exchange } from '../frame/exchange.ts';
import { ok } from '../replies/reply.ts';
import { renderInputItems } from './input-items-wire.ts';
import { nameRun } from './name-run.ts';
import { renderResponse } from './responses-wire.ts';
import type { OpenRunStream } from './streams/run-stream.ts';

export interface ResponseParts {
  readonly operations: Operations;
  readonly openStream: OpenRunStream;
}

export function makeResponseHandlers({ operations, openStream }: ResponseParts) {
  return {
    /** Of a stream, HEAD would have no end. */
    getResponse: async (exchange: Exchange<Static<typeof responseQuery>>, caller: KeyCaller, id: string) => {
      const { stream, starting_after: afterNumber } = exchange.query;
      if (!stream || exchange.req.method === 'HEAD') {
        const run = await operations.getResponse(caller, id);
        nameRun(exchange.res, run);
        return ok(renderResponse(run));
      }
      const run = await operations.followResponse(caller, id);
      nameRun(exchange.res, run);
      openStream(exchange, run, { afterId: 0, afterNumber, ids: false, tools: false });
      return undefined;
    },

    cancelResponse: async (exchange: Exchange, caller: KeyCaller, id: string) => {
      const run = await operations.cancelResponse(caller, id);
      nameRun(exchange.res, run);
      return ok(renderResponse(run));
    },

    deleteResponse: async (_exchange: Exchange, caller: KeyCaller, id: string) => {
      const runId = await operations.deleteResponse(caller, id);
      return ok({ id: responseIdOf(runId), object: 'response', deleted: true } as const);
    },

    inputItems: async ({ query }: Exchange<Static<typeof inputItemsQuery>>, caller: KeyCaller, id: string) =>
      ok(renderInputItems(await operations.listResponseInput(caller, id), query.after ?? null)),
  };
}
