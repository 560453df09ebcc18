// Whether there is any budget: without one, a model call costs no statement for it.
import type { Reader, Step } from '../engine/statement.ts';

export interface BudgetsInForce {
  /** Whether there is any, as the transaction sees it. Asks the database only after a change. */
  any(tx: Reader): Step<boolean>;
  /** Call it in the transaction that sets one, before it is committed. */
  begun(): void;
  /** Call it when the commit of a change has ended, well or not. */
  changed(): void;
  /** Whether model calls must be reserved. True while that is unknown. */
  mayBe(): boolean;
  /** Calls back when `mayBe` has changed. */
  onChange(listener: (mayBe: boolean) => void): void;
}

/** Makes it, for one open database. */
export function makeBudgetsInForce(): BudgetsInForce {
  const listeners: ((mayBe: boolean) => void)[] = [];
  let known: boolean | undefined;
  /** Counts the changes: the answer to a question that was asked before one is not of what is in force after it. */
  let changes = 0;
  const learn = (found: boolean | undefined) => {
    const before = known !== false;
    known = found;
    if ((known !== false) !== before) for (const listener of listeners) listener(known !== false);
  };
  const change = (found: true | undefined) => {
    changes += 1;
    learn(found);
  };
  return {
    *any(tx) {
      if (known !== undefined) return known;
      const before = changes;
      const found = (yield* tx.get('SELECT 1 FROM budgets LIMIT 1')) !== undefined;
      if (changes === before) learn(found);
      return found;
    },
    begun: () => change(true),
    changed: () => change(undefined),
    mayBe: () => known !== false,
    onChange: (listener) => void listeners.push(listener),
  };
}
