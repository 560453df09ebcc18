// The gate of budgets: each model call passes it before it begins, and waits there while others hold back what is left.
import type { Services } from '../../agent/port/protocol.ts';
import type { Catalog } from '../../catalog/kinds/models.ts';
import { budgetErrorOf, mostOf } from '../../domain/budgets/decide.ts';
import { percentUsed } from '../../domain/budgets/warning.ts';
import { type Clock, isoTimeOrNull } from '../../domain/clock.ts';
import { NO_PRICE } from '../../domain/sessions/usage.ts';
import type { Log } from '../../log/log.ts';
import type { BudgetsInForce } from '../../store/budgets/in-force.ts';
import type { Store } from '../../store/open-store.ts';
import type { Fence } from '../../store/runs/record-progress.ts';

type HoldBudget = Services['hold_budget'];

export interface BudgetGate {
  /** Holds back what a call of the run may use, or says which budget is used up. An attempt that has ended passes. */
  hold(run: Fence, call: HoldBudget['input']): Promise<HoldBudget['output']>;
  /** Call it when a call was recorded, well or not: there may be room for those that wait. */
  settled(): void;
  /** Gives back what was held back for a call that failed. */
  failed(run: Fence): void;
}

export interface BudgetGateParts {
  readonly store: Pick<Store, 'budgets'>;
  readonly clock: Clock;
  readonly log: Log;
  catalog(): Catalog;
}

/** Runs that end otherwise, and budgets that are raised, are noticed within this time. */
const LOOK_MS = 1_000;
/** All who wait look again at most this often: each look is a write, and the calls of others end all the time. */
const REST_MS = 50;

export function makeBudgetGate({ store: { budgets }, catalog, clock, log }: BudgetGateParts): BudgetGate {
  /** In the order of their coming. */
  const waiting = new Set<() => void>();
  let rest: 'none' | 'resting' | 'wanted' = 'none';

  function wake(): void {
    if (waiting.size === 0) return;
    if (rest !== 'none') {
      rest = 'wanted';
      return;
    }
    rest = 'resting';
    clock.after(REST_MS, () => {
      const isWanted = rest === 'wanted';
      rest = 'none';
      if (isWanted) wake();
    });
    for (const look of waiting) look();
  }

  function room(): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        timer.cancel();
        waiting.delete(look);
        resolve();
      };
      const timer = clock.after(LOOK_MS, look);
      waiting.add(look);
    });
  }

  return {
    hold: async (run, { model, ...tokens }) => {
      const most = mostOf(tokens, catalog().models.get(model)?.price ?? NO_PRICE);
      for (;;) {
        const reservation = await budgets.reserve(run, most);
        if (reservation.kind === 'used up') return { refusal: budgetErrorOf(reservation.budget) };
        if (reservation.kind !== 'wait') return { refusal: null };
        await room();
      }
    },
    settled: wake,
    failed: (run) => {
      budgets.release(run).then(wake, (error: unknown) => {
        log.warn(
          { err: error },
          'the budget of a failed call could not be given back; the next call of its run does so',
        );
      });
    },
  };
}

/** What workers read before each call: 1 while there may be budgets. */
export function shareBudgets(inForce: Pick<BudgetsInForce, 'mayBe' | 'onChange'>): Int32Array<SharedArrayBuffer> {
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const share = (mayBe: boolean) => void Atomics.store(shared, 0, Number(mayBe));
  share(inForce.mayBe());
  inForce.onChange(share);
  return shared;
}

/** Warns of each budget of which most is used, once in each of its periods. */
export function logBudgetWarnings({ onBudgetWarning }: Pick<Store, 'onBudgetWarning'>, log: Log): void {
  onBudgetWarning((budget) => {
    const { id, subject, name, unit, limit, spent, period, renewsAt } = budget;
    const facts = { budget_id: id, subject, name, unit, limit, spent, period, renews_at: isoTimeOrNull(renewsAt) };
    log.warn(facts, `${percentUsed(budget)} % of a budget is used`);
  });
}
