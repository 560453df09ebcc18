// Whether there is any budget: without one, a model call costs no statement for it.
import type { Peers } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';

export interface BudgetsInForce {
  /** Whether there is any, as the transaction sees it. */
  any(tx: Reader): Step<boolean>;
  /** Asks the database for what others may have changed. */
  look(tx: Reader): Step<void>;
  /** Call it in the transaction that sets one, before it is committed. */
  begun(): void;
  /** Call it when the commit of a change has ended, well or not. */
  changed(): void;
  /** Whether model calls must be reserved. True while that is unknown. */
  mayBe(): boolean;
  /** Calls back when `mayBe` has changed. */
  onChange(listener: (mayBe: boolean) => void): void;
}

const ANY = 'SELECT 1 FROM budgets LIMIT 1';

/** Makes it for a process that is alone: it asks the database only after a change. */
export function makeBudgetsInForce(): BudgetsInForce {
  const known = makeKnown();
  return {
    *any(tx) {
      return known.value() ?? (yield* known.ask(tx));
    },
    // oxlint-disable-next-line require-yield
    *look() {
      // Nobody else changes them.
    },
    begun: () => known.set(true),
    changed: () => known.set(undefined),
    mayBe: known.mayBe,
    onChange: known.onChange,
  };
}

/** What is known of it. */
function makeKnown() {
  const listeners: ((mayBe: boolean) => void)[] = [];
  let known: boolean | undefined;
  /** Counts the changes: the answer to a question that was asked before one is not of what is in force after it. */
  let changes = 0;
  const mayBe = () => known !== false;
  const learn = (found: boolean | undefined) => {
    const before = mayBe();
    known = found;
    if (mayBe() !== before) for (const listener of listeners) listener(mayBe());
  };
  return {
    value: () => known,
    set: (found: true | undefined) => {
      changes += 1;
      learn(found);
    },
    *ask(tx: Reader): Step<boolean> {
      const before = changes;
      const found = (yield* tx.get(ANY)) !== undefined;
      if (changes === before) learn(found);
      return found;
    },
    mayBe,
    onChange: (listener: (mayBe: boolean) => void) => void listeners.push(listener),
  };
}

/** What processes tell each other after a change. */
const CHANGED = 'budgets changed';

/**
 * Makes it for a process that shares the database: each transaction asks. What workers know of it (`mayBe`) is as old as the last look,
 * unless another process has told of a change, or a transaction has met a budget.
 */
export function makeSharedInForce({ tell, onTold }: Pick<Peers, 'tell' | 'onTold'>): BudgetsInForce {
  const known = makeKnown();
  onTold((words) => {
    if (words === CHANGED || words === null) known.set(undefined);
  });
  return {
    *any(tx) {
      const found = (yield* tx.get(ANY)) !== undefined;
      if (found && !known.mayBe()) known.set(true);
      return found;
    },
    *look(tx) {
      yield* known.ask(tx);
    },
    begun: () => known.set(true),
    changed: () => {
      known.set(undefined);
      tell(CHANGED);
    },
    mayBe: known.mayBe,
    onChange: known.onChange,
  };
}
