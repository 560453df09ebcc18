// The handlers of runs and of the queue, for the key that submitted them and for administrators.
import type { Administrator, Caller } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { pageQuery } from '../../wire/listing.ts';
import type { followQuery } from '../../wire/query.ts';
import type { runQuery } from '../../wire/sessions/run.ts';
import type { Static } from '../../wire/shape.ts';
import type { OpenRunStream } from '../conversations/run-stream.ts';
import { type Exchange, idInPath } from '../frame/exchange.ts';
import { positionInRequest } from '../frame/query.ts';
import { streamedWhole } from '../replies/json-pieces.ts';
import { renderList } from '../replies/render-list.ts';
import { ok } from '../replies/reply.ts';
import { renderRunArtifacts } from './artifacts-wire.ts';
import { renderRunExport } from './run-export-wire.ts';
import { renderQueue, renderRunRecord } from './runs-wire.ts';
import { renderStop } from './sessions-wire.ts';
import { renderTimeline } from './timeline-wire.ts';

export interface RunHandlerParts {
  readonly operations: Operations;
  readonly openStream: OpenRunStream;
}

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeRunHandlers({ operations, openStream }: RunHandlerParts) {
  const id = (exchange: Exchange) => idInPath(exchange, 'Run');
  return {
    list: async ({ query }: Exchange<Static<typeof runQuery>>, caller: Administrator) => {
      const { session: sessionId = null, status = null, ...page } = query;
      return ok(renderList(await operations.listRuns(caller, { sessionId, status, ...page }), renderRunRecord));
    },
    queue: async ({ query: page }: Exchange<Static<typeof pageQuery>>, caller: Administrator) =>
      ok(renderQueue(await operations.getQueue(caller, page))),
    get: async (exchange: Exchange, caller: Caller) =>
      ok(renderRunRecord(await operations.getRun(caller, id(exchange)))),
    timeline: async (exchange: Exchange, caller: Administrator) =>
      ok(renderTimeline(await operations.explainRun(caller, id(exchange)))),
    export: async (exchange: Exchange, caller: Administrator) =>
      ok(streamedWhole(await operations.exportRun(caller, id(exchange)), renderRunExport)),
    artifacts: async (exchange: Exchange, caller: Caller) =>
      ok(renderRunArtifacts(await operations.getRunArtifacts(caller, id(exchange)), exchange.bases.own)),
    stop: async (exchange: Exchange, caller: Caller) => ok(renderStop(await operations.stopRun(caller, id(exchange)))),
    /** The journal's events as they are. */
    stream: async (exchange: Exchange<Static<typeof followQuery>>, caller: Caller) => {
      const afterId = positionInRequest(exchange);
      const run = await operations.followRun(caller, id(exchange));
      openStream(exchange, run, { afterId, ids: true, tools: true, format: 'journal' });
      return undefined;
    },
  };
}
