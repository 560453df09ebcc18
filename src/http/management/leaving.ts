// The handlers of a user who leaves.
import type { Administrator } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { Leaving } from '../../operations/people/leave.ts';
import type { HoldingsWire, LeaveWishWire } from '../../wire/people/leaving.ts';
import { type Exchange, refInPath } from '../frame/exchange.ts';
import { ok } from '../replies/reply.ts';

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeLeavingHandlers(operations: Pick<Operations, 'getHoldings' | 'leaveUser'>) {
  return {
    holdings: async (exchange: Exchange, caller: Administrator) =>
      ok(renderHoldings(await operations.getHoldings(caller, refInPath(exchange)))),
    leave: async (exchange: Exchange<unknown, LeaveWishWire>, caller: Administrator) => {
      const { hand_over_to: heir = null, delete: deletes } = exchange.body;
      const progress = await operations.leaveUser(caller, refInPath(exchange), { heir, deletes: deletes ?? false });
      return ok({ ...renderHoldings(progress), settled: progress.settled, done: progress.isDone });
    },
  };
}

function renderHoldings({ user, holdings }: Leaving): HoldingsWire {
  return {
    user_id: user.id,
    username: user.username,
    disabled: user.disabled,
    team: user.teamName,
    holdings: holdings.map(({ kind, count, names }) => ({ kind, count, names })),
  };
}
