// The gate of budgets: each model call passes it before it begins, and is held there until what it has used is committed.
import type { Services } from '../../agent/port/services.ts';
import type { Catalog } from '../../catalog/kinds/models.ts';
import { mostOf } from '../../domain/budgets/decide.ts';
import { percentUsed } from '../../domain/budgets/warning.ts';
import { type Clock, isoTimeOrNull, type Timer } from '../../domain/clock.ts';
import { costOf, NO_PRICE, NO_USAGE } from '../../domain/sessions/usage.ts';
import type { Log } from '../../log/log.ts';
import type { HeldCall } from '../../store/budgets/held-calls.ts';
import type { BudgetsInForce } from '../../store/budgets/in-force.ts';
import type { Store } from '../../store/open-store.ts';
import type { Fence } from '../../store/runs/fence.ts';
import { makeBudgetQueue } from './budget-queue.ts';

type HoldBudget = Services['hold_budget'];

export interface BudgetGate {
  /** Holds back what a call of the run may use, or says which budget is used up. An attempt that has ended passes. */
  hold(run: Fence, call: HoldBudget['input']): Promise<HoldBudget['output']>;
  /** The call of the run has ended, and what it has used is being recorded. Until that is committed it stays held. */
  settles(run: Fence, recorded: Promise<boolean>): void;
  /** The call of the run has cost nothing. */
  refused(run: Fence): void;
  /** The attempt has ended. A call of which nothing was heard is recorded with the estimate of its prompt. */
  ended(run: Fence): Promise<void>;
}

export interface BudgetGateParts {
  readonly store: Pick<Store, 'budgets'>;
  readonly clock: Clock;
  readonly log: Log;
  catalog(): Catalog;
}

export function makeBudgetGate({ store: { budgets }, catalog, clock, log }: BudgetGateParts): BudgetGate {
  /** The call of each run of which no end was heard. */
  const inProgress = new Map<number, HeldCall>();
  /** Calls that have ended, until what they have used is committed. */
  const settling = new Map<HeldCall, Promise<void>>();
  const saver = makeSaver({ budgets, clock, log }, inProgress);
  const queue = makeBudgetQueue({ budgets, clock, begin });

  function begin(call: HeldCall): void {
    const earlier = inProgress.get(call.runSeq);
    if (earlier !== undefined) budgets.release(earlier);
    inProgress.set(call.runSeq, call);
    saver.begun();
  }

  function take({ runSeq, attempt }: Fence): HeldCall | undefined {
    const call = inProgress.get(runSeq);
    if (call?.attempt !== attempt) return undefined;
    inProgress.delete(runSeq);
    return call;
  }

  function settles(call: HeldCall, recorded: Promise<boolean>): void {
    // Whoever records it reports a failure. The call then stays held until its attempt has ended.
    const settled = recorded
      .catch(() => false)
      .then((isRecorded) => {
        settling.delete(call);
        if (isRecorded) budgets.release(call);
        queue.notify();
      });
    settling.set(call, settled);
  }

  async function settleLost(call: HeldCall): Promise<void> {
    await budgets.settleLost(call).catch((error: unknown) => {
      log.error({ err: error }, 'what a lost model call has cost could not be recorded');
    });
    budgets.release(call);
    queue.notify();
  }

  return {
    hold: (run, { model, inputTokens, outputTokens }) => {
      const price = catalog().models.get(model)?.price ?? NO_PRICE;
      const prompt = { model, inputTokens, costUsd: costOf({ ...NO_USAGE, inputTokens }, price) };
      const { sessionSeq, runSeq, attempt } = run;
      return queue.admit({ sessionSeq, runSeq, attempt, most: mostOf({ inputTokens, outputTokens }, price), prompt });
    },
    settles: (run, recorded) => {
      const call = take(run);
      if (call !== undefined) settles(call, recorded);
    },
    refused: (run) => {
      const call = take(run);
      if (call !== undefined) settles(call, saver.hasSaved(call) ? budgets.forget(call) : Promise.resolve(true));
    },
    ended: async (run) => {
      take(run);
      queue.leave(run);
      for (const call of budgets.heldOf(run)) await settling.get(call);
      for (const call of budgets.heldOf(run)) await settleLost(call);
    },
  };
}

/** Calls in progress are written down this often. Most are shorter, and cost no statement. */
const SAVE_MS = 1_000;

/** Writes down the calls in progress, all of them in one commit. */
function makeSaver(
  { budgets, clock, log }: Pick<BudgetGateParts, 'clock' | 'log'> & { readonly budgets: Store['budgets'] },
  inProgress: ReadonlyMap<number, HeldCall>,
) {
  let timer: Timer | undefined;
  const saved = new WeakSet<HeldCall>();
  const save = () => {
    timer = undefined;
    const calls = [...inProgress.values()].filter((call) => !saved.has(call));
    if (calls.length === 0) return;
    for (const call of calls) saved.add(call);
    budgets.saveHeld(calls).catch((error: unknown) => {
      log.warn({ err: error }, 'model calls in progress could not be written down; a crash would lose what they cost');
    });
  };
  return {
    begun: () => void (timer ??= clock.after(SAVE_MS, save)),
    /** Whether the call is written down, or will be before anything that is asked of the store from now on. */
    hasSaved: (call: HeldCall) => saved.has(call),
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
