// Warnings of budgets, told after the commit in which they were noted.
import type { NearlyUsedUp } from '../../domain/budgets/warning.ts';
import type { Database } from '../engine/database.ts';

export interface BudgetWarnings {
  /** Call it in the transaction that notes the warning. */
  note(budget: NearlyUsedUp): void;
  onWarning(listener: (budget: NearlyUsedUp) => void): void;
}

/** Makes them. Each comes with an event, so a commit without events has none. */
export function makeBudgetWarnings({ onCommitted }: Pick<Database, 'onCommitted'>): BudgetWarnings {
  const listeners: ((budget: NearlyUsedUp) => void)[] = [];
  /** By the budget's id: a verb that is run again notes it again. */
  let noted = new Map<string, NearlyUsedUp>();
  onCommitted(() => {
    if (noted.size === 0) return;
    const told = noted;
    noted = new Map();
    for (const budget of told.values()) for (const listener of listeners) listener(budget);
  });
  return {
    note: (budget) => void noted.set(budget.id, budget),
    onWarning: (listener) => void listeners.push(listener),
  };
}
