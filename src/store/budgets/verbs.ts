// The verbs on budgets, and what those share that use one.
import { makePeriodOf } from '../../domain/budgets/period.ts';
import type { Database } from '../engine/database.ts';
import { makeBudgets } from './budgets.ts';
import { makeHeldCalls } from './held-calls.ts';
import { makeBudgetsInForce } from './in-force.ts';
import { makeLostCalls } from './lost-calls.ts';
import { type BudgetKit, makeReservations } from './reserve.ts';
import { makeBudgetWarnings } from './warnings.ts';

export function makeBudgetKit(database: Database): BudgetKit {
  return {
    inForce: makeBudgetsInForce(),
    held: makeHeldCalls(),
    periodOf: makePeriodOf(),
    warnings: makeBudgetWarnings(database),
  };
}

export function makeBudgetVerbs(database: Database, kit: BudgetKit) {
  return {
    budgets: { ...makeBudgets(database, kit), ...makeReservations(database, kit), ...makeLostCalls(database, kit) },
    budgetsInForce: kit.inForce,
    onBudgetWarning: kit.warnings.onWarning,
  };
}
