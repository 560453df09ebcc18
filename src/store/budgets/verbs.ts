// The verbs on budgets.
import type { Database } from '../engine/database.ts';
import type { BudgetKit } from './budget-kit.ts';
import { makeBudgets } from './budgets.ts';
import { makeLostCalls } from './lost-calls.ts';
import { makeReservations } from './reserve.ts';

export function makeBudgetVerbs(database: Database, kit: BudgetKit) {
  return {
    budgets: { ...makeBudgets(database, kit), ...makeReservations(database, kit), ...makeLostCalls(database, kit) },
    budgetsInForce: kit.inForce,
    onBudgetWarning: kit.warnings.onWarning,
  };
}
