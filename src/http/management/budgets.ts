// The handlers of budgets.
import type { Administrator } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type { budgetQuery, WantedBudgetWire } from '../../wire/people/budget.ts';
import type { Static } from '../../wire/shape.ts';
import { type Exchange, idInPath } from '../frame/exchange.ts';
import { renderList } from '../replies/render-list.ts';
import { ok } from '../replies/reply.ts';
import { renderBudget, wantedBudgetOf } from './budgets-wire.ts';

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeBudgetHandlers(operations: Operations) {
  return {
    list: async ({ query }: Exchange<Static<typeof budgetQuery>>, caller: Administrator) => {
      const { subject = null, ref: reference = null, ...page } = query;
      return ok(renderList(await operations.listBudgets(caller, { subject, reference, ...page }), renderBudget));
    },
    get: async (exchange: Exchange, caller: Administrator) =>
      ok(renderBudget(await operations.getBudget(caller, idInPath(exchange, 'Budget')))),
    set: async ({ body }: Exchange<unknown, WantedBudgetWire>, caller: Administrator) =>
      ok(renderBudget(await operations.setBudget(caller, wantedBudgetOf(body)))),
    remove: async (exchange: Exchange, caller: Administrator) =>
      ok(renderBudget(await operations.removeBudget(caller, idInPath(exchange, 'Budget')))),
  };
}
