// What of the budgets the verbs on rows share.
import { makePeriodOf, type PeriodOf } from '../../domain/budgets/period.ts';
import type { Database } from '../engine/database.ts';
import { type HeldCalls, makeHeldCalls } from './held-calls.ts';
import { type BudgetsInForce, makeBudgetsInForce, makeSharedInForce } from './in-force.ts';
import { makeSharedCalls } from './shared-calls.ts';
import { type BudgetWarnings, makeBudgetWarnings } from './warnings.ts';

export interface BudgetKit {
  readonly inForce: BudgetsInForce;
  readonly held: HeldCalls;
  readonly periodOf: PeriodOf;
  readonly warnings: BudgetWarnings;
}

/** Makes it, for one open database. */
export function makeBudgetKit({ peers }: Pick<Database, 'peers'>): BudgetKit {
  return {
    inForce: peers === null ? makeBudgetsInForce() : makeSharedInForce(peers),
    held: peers === null ? makeHeldCalls() : makeSharedCalls(),
    periodOf: makePeriodOf(),
    warnings: makeBudgetWarnings(),
  };
}
