// The handlers of runs that no table can say: what is streamed, and time lines.
import type { Administrator, Caller } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { followQuery } from '../../wire/shapes/query.ts';
import type { Static } from '../../wire/shapes/shape.ts';
import type { OpenRunStream } from '../conversations/streams/run-stream.ts';
import type { Exchange } from '../frame/exchange.ts';
import { positionInRequest } from '../frame/query.ts';
import { streamedWhole } from '../replies/json-pieces.ts';
import { ok } from '../replies/reply.ts';
import { renderRunArtifacts } from './artifacts-wire.ts';
import { renderRunExport } from './run-export-wire.ts';
import { renderTimeline } from './timeline-wire.ts';

export interface RunHandlerParts {
  readonly operations: Operations;
  readonly openStream: OpenRunStream;
}

export function makeRunHandlers({ operations, openStream }: RunHandlerParts) {
  return {
    timeline: async (_exchange: Exchange, caller: Administrator, id: string) =>
      ok(renderTimeline(await operations.explainRun(caller, id))),
    export: async (_exchange: Exchange, caller: Administrator, id: string) =>
      ok(streamedWhole(await operations.exportRun(caller, id), renderRunExport)),
    artifacts: async ({ bases }: Exchange, caller: Caller, id: string) =>
      ok(renderRunArtifacts(await operations.getRunArtifacts(caller, id), bases.own)),
    /** The journal's events as they are. */
    stream: async (exchange: Exchange<Static<typeof followQuery>>, caller: Caller, id: string) => {
      const afterId = positionInRequest(exchange);
      const run = await operations.followRun(caller, id);
      openStream(exchange, run, { afterId, ids: true, tools: true, format: 'journal' });
      return undefined;
    },
  };
}
