// The handlers of the floor of Office Mode (§4.8).
import type { Administrator } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { pageQuery } from '../../wire/listing.ts';
import type { snapshotQuery, todayQuery } from '../../wire/office/snapshot.ts';
import type { Static } from '../../wire/shape.ts';
import type { Exchange } from '../frame/exchange.ts';
import { ok } from '../replies/reply.ts';
import { renderLastHour, renderLiveRuns, renderSnapshot, renderTodayRuns } from './floor-wire.ts';

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeFloorHandlers(operations: Operations) {
  return {
    snapshot: async ({ query }: Exchange<Static<typeof snapshotQuery>>, caller: Administrator) =>
      ok(renderSnapshot(await operations.getOfficeSnapshot(caller, query))),
    liveRuns: async ({ query }: Exchange<Static<typeof pageQuery>>, caller: Administrator) =>
      ok(renderLiveRuns(await operations.listLiveRuns(caller, query), query)),
    lastHour: async (_: Exchange, caller: Administrator) => ok(renderLastHour(await operations.getLastHour(caller))),
    todayRuns: async ({ query }: Exchange<Static<typeof todayQuery>>, caller: Administrator, teamId: string) =>
      ok(renderTodayRuns(await operations.listTodayRuns(caller, teamId, query), query)),
  };
}
