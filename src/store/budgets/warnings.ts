// Warnings of budgets, told once by the process that has recorded the call, after its commit.
import type { NearlyUsedUp } from '../../domain/budgets/warning.ts';
import type { Transaction } from '../engine/statement.ts';

export interface BudgetWarnings {
  /** Call it in the transaction that notes the warning. */
  note(tx: Transaction, budget: NearlyUsedUp): void;
  onWarning(listener: (budget: NearlyUsedUp) => void): void;
}

/** Makes them. */
export function makeBudgetWarnings(): BudgetWarnings {
  const listeners: ((budget: NearlyUsedUp) => void)[] = [];
  return {
    note: (tx, budget) => tx.afterCommit(() => listeners.forEach((listener) => listener(budget))),
    onWarning: (listener) => void listeners.push(listener),
  };
}
