// Model calls in progress, with what each may use at most: that much is held back from the budgets that pay for it.
import type { Amounts } from '../../domain/budgets/budget.ts';
import type { BudgetRow, Payer } from './budget-rows.ts';

/** A call before it begins. `prompt`: what is recorded of it when nothing is ever heard of its end. */
export interface CallToHold {
  readonly sessionSeq: number;
  readonly runSeq: number;
  readonly attempt: number;
  readonly most: Amounts;
  readonly prompt: LostPrompt;
}

/** The prompt of a call, estimated, and its cost by the prices of then. */
export interface LostPrompt {
  readonly model: string;
  readonly inputTokens: number;
  readonly costUsd: number;
}

/** A call in progress. Each stays until what it has used is committed. */
export interface HeldCall extends CallToHold {
  readonly payer: Payer;
}

export interface HeldCalls {
  hold(call: HeldCall): void;
  /** Call it after the commit that settled the call, so that it is never missing from what is held and spent. */
  release(call: HeldCall): void;
  /** Those of an attempt. */
  ofAttempt(attempt: Pick<CallToHold, 'runSeq' | 'attempt'>): HeldCall[];
  /** Those that are in progress now. */
  list(): readonly HeldCall[];
  /**
   * Runs of which a call may be written in the database. They leave it with their last call, never in a transaction: that may be
   * rolled back, and its verbs run again.
   */
  readonly saved: Set<number>;
}

/** Makes them, for one open database. There are never more than runs that execute. */
export function makeHeldCalls(): HeldCalls {
  const calls = new Set<HeldCall>();
  const saved = new Set<number>();
  return {
    hold: (call) => void calls.add(call),
    release: (call) => {
      calls.delete(call);
      if (!Array.from(calls).some(({ runSeq }) => runSeq === call.runSeq)) saved.delete(call.runSeq);
    },
    ofAttempt: ({ runSeq, attempt }) => [...calls].filter((call) => call.runSeq === runSeq && call.attempt === attempt),
    list: () => [...calls],
    saved,
  };
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
