// The gate of budgets: each model call passes it before it begins, and is held there until what it has used is committed.
import type { Services } from '../../agent/port/services.ts';
import type { Catalog } from '../../catalog/kinds/models.ts';
import { mostOf } from '../../domain/budgets/decide.ts';
import { percentUsed } from '../../domain/budgets/warning.ts';
import { type Clock, isoTimeOrNull, type Timer } from '../../domain/clock.ts';
import { costOf, NO_PRICE, NO_USAGE } from '../../domain/sessions/usage.ts';
import type { Log } from '../../log/log.ts';
import type { HeldCall } from '../../store/budgets/held-call.ts';
import type { BudgetsInForce } from '../../store/budgets/in-force.ts';
import type { Store } from '../../store/open-store.ts';
import type { Fence } from '../../store/runs/fence.ts';
import { makeCallEnds } from './budget-ends.ts';
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
  const saver = makeSaver({ budgets, clock, log }, inProgress);
  const ends = makeCallEnds({ budgets, clock, log, freed: () => queue.notify() });
  const queue = makeBudgetQueue({ budgets, clock, begin, letGo: ends.letGo });

  function begin(call: HeldCall): void {
    const earlier = inProgress.get(call.runSeq);
    // One of an earlier attempt is recorded when that has ended.
    if (earlier?.attempt === call.attempt) budgets.release(earlier);
    inProgress.set(call.runSeq, call);
    saver.begun();
  }

  function take({ runSeq, attempt }: Fence): HeldCall | undefined {
    const call = inProgress.get(runSeq);
    if (call?.attempt !== attempt) return undefined;
    inProgress.delete(runSeq);
    return call;
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
      if (call !== undefined) ends.settles(call, recorded);
    },
    refused: (run) => {
      const call = take(run);
      if (call !== undefined) ends.letGo(call);
    },
    ended: async (run) => {
      take(run);
      queue.leave(run);
      await ends.attemptEnded(run);
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
  const save = () => {
    timer = undefined;
    if (inProgress.size === 0) return;
    budgets.saveHeld([...inProgress.values()]).catch((error: unknown) => {
      log.warn({ err: error }, 'model calls in progress could not be written down; a crash would lose what they cost');
    });
  };
  return { begun: () => void (timer ??= clock.after(SAVE_MS, save)) };
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
