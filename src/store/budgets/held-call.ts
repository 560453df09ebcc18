// A model call in progress, with what it may use at most: that much is held back from the budgets that pay for it.
import type { Amounts } from '../../domain/budgets/budget.ts';
import type { BudgetRow, Payer } from './budget-rows.ts';

/** The call of an attempt. It has one at a time. */
export interface CallOfAttempt {
  readonly runSeq: number;
  readonly attempt: number;
}

/** A call before it begins. `prompt`: what is recorded of it when nothing is ever heard of its end. */
export interface CallToHold extends CallOfAttempt {
  readonly sessionSeq: number;
  readonly most: Amounts;
  readonly prompt: LostPrompt;
}

/** The prompt of a call, estimated, and its cost by the prices of then. */
export interface LostPrompt {
  readonly model: string;
  readonly inputTokens: number;
  readonly costUsd: number;
}

/** A call in progress, and the node where its run executes. Each stays until what it has used is committed. */
export interface HeldCall extends CallToHold {
  readonly payer: Payer;
  readonly node: string | null;
}

/** What calls hold back of a budget, without those of a run. */
export function reservedBy(calls: readonly HeldCall[], row: BudgetRow, exceptRunSeq?: number): number {
  let sum = 0;
  for (const { payer, runSeq, most } of calls) if (runSeq !== exceptRunSeq && pays(payer, row)) sum += most[row.unit];
  return sum;
}

function pays({ keySeq, userSeq, teamId }: Payer, row: BudgetRow): boolean {
  if (row.subject === 'user') return row.userSeq === userSeq;
  if (row.subject === 'key') return row.keySeq === keySeq;
  return row.subject === 'team' && row.teamId === teamId;
}
