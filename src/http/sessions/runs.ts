// The handlers of runs and of the queue, for the key that submitted them and for administrators.
import { RUN_STATUSES } from '../../domain/run.ts';
import type { Administrator, Caller } from '../../domain/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { OpenRunStream } from '../conversations/run-stream.ts';
import { type Exchange, idInPath, queryValue } from '../frame/exchange.ts';
import { pageInQuery, positionInRequest, wordInQuery } from '../frame/query.ts';
import { ok, type Reply } from '../frame/reply.ts';
import { renderRunArtifacts } from './artifacts-wire.ts';
import { renderQueue, renderRunRecord } from './runs-wire.ts';
import { renderStop } from './sessions-wire.ts';

export interface RunHandlerParts {
  readonly operations: Operations;
  readonly openStream: OpenRunStream;
}

type Handler<C extends Caller = Caller> = (exchange: Exchange, caller: C) => Promise<Reply | undefined>;

/** The handlers by name; `routes.ts` says where each stands. */
export function makeRunHandlers({ operations, openStream }: RunHandlerParts) {
  const id = (exchange: Exchange) => idInPath(exchange, 'Run');
  const list: Handler<Administrator> = async (exchange, caller) => {
    const sessionId = queryValue(exchange, 'session');
    const status = wordInQuery(exchange, 'status', RUN_STATUSES);
    const { items, total } = await operations.listRuns(caller, { sessionId, status, ...pageInQuery(exchange) });
    return ok({ items: items.map(renderRunRecord), total });
  };
  const queue: Handler<Administrator> = async (exchange, caller) =>
    ok(renderQueue(await operations.getQueue(caller, pageInQuery(exchange))));
  const handlers = {
    get: async (exchange, caller) => ok(renderRunRecord(await operations.getRun(caller, id(exchange)))),
    artifacts: async (exchange, caller) =>
      ok(renderRunArtifacts(await operations.getRunArtifacts(caller, id(exchange)))),
    stop: async (exchange, caller) => ok(renderStop(await operations.stopRun(caller, id(exchange)))),
    /** The journal's events as they are. */
    stream: async (exchange, caller) => {
      const afterId = positionInRequest(exchange);
      const run = await operations.followRun(caller, id(exchange));
      openStream(exchange, run, { afterId, ids: true, tools: true, format: 'journal' });
      return undefined;
    },
  } satisfies Record<string, Handler>;
  return { list, queue, ...handlers };
}
