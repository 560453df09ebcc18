// The handlers of Office Mode's events: pages of the past, and the live streams (§4.8).
import type { Administrator } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import { eventFrame } from '../../wire/event-frame.ts';
import type { eventsQuery, floorStreamQuery, runStreamQuery, sessionStreamQuery } from '../../wire/office/stream.ts';
import type { Static } from '../../wire/shapes/shape.ts';
import type { Exchange } from '../frame/exchange.ts';
import { positionAfter } from '../frame/query.ts';
import { ok } from '../replies/reply.ts';
import { renderEventPage } from './events-wire.ts';
import type { OpenWatch } from './watchers.ts';

export interface OfficeStreamParts {
  readonly operations: Pick<Operations, 'listStreamEvents' | 'watchSession' | 'watchRun' | 'watchOffice'>;
  readonly openWatch: OpenWatch;
}

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeOfficeStreams({ operations, openWatch }: OfficeStreamParts) {
  return {
    events: async ({ query }: Exchange<Static<typeof eventsQuery>>, caller: Administrator, id: string) =>
      ok(renderEventPage(await operations.listStreamEvents(caller, id, query), query.afterId)),

    watchSession: async (exchange: Exchange<Static<typeof sessionStreamQuery>>, caller: Administrator, id: string) => {
      const { afterId, replay } = exchange.query;
      const position = fromNowAtZero(positionAfter(exchange, afterId));
      const follow = await operations.watchSession(caller, id, replay ? (position ?? 0) : position);
      openWatch(exchange, { follow });
      return undefined;
    },

    watchRun: async (exchange: Exchange<Static<typeof runStreamQuery>>, caller: Administrator, sessionId: string) => {
      const { afterId, runId } = exchange.query;
      const position = fromNowAtZero(positionAfter(exchange, afterId));
      const follow = await operations.watchRun(caller, { sessionId, runId }, position);
      openWatch(exchange, { follow });
      return undefined;
    },

    watchAll: async (exchange: Exchange<Static<typeof floorStreamQuery>>, caller: Administrator) => {
      const position = fromNowAtZero(positionAfter(exchange, exchange.query.afterId));
      const { follow, resetAt } = await operations.watchOffice(caller, position);
      openWatch(exchange, { follow, ...(resetAt !== null && { first: resetFrame(resetAt) }) });
      return undefined;
    },
  };
}

/** A client that names no event begins after the newest. */
const fromNowAtZero = (position: number) => (position === 0 ? null : position);

/** What the client missed is gone: it has to read the state again, and is then at this event. */
function resetFrame(at: number): Buffer {
  return eventFrame({ name: 'reset', data: '{}', id: at === 0 ? null : at });
}
