// Model calls of which nothing is heard again: they are recorded with the estimate of their prompt.
import { NO_USAGE } from '../../domain/sessions/usage.ts';
import type { Database } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { addToAny, recordUsage } from './record-usage.ts';
import { forgetIn, insertCall, type LeftCall, listLeft } from './call-rows.ts';
import type { HeldCall } from './held-call.ts';
import type { BudgetKit } from './budget-kit.ts';

/** The verbs on calls in progress. */
export function makeLostCalls({ write }: Database, kit: BudgetKit) {
  const { held } = kit;
  const insertAll = write(function* (tx: Transaction, calls: readonly HeldCall[]): Step<void> {
    for (const call of calls) yield* insertCall(tx, call);
  });
  const forget = write(function* (tx: Transaction, call: HeldCall): Step<boolean> {
    yield* forgetIn(tx, call);
    return true;
  });
  return {
    /** Writes down those that aren't yet, for the case that the daemon is killed. */
    saveHeld: async (calls: readonly HeldCall[]): Promise<void> => {
      const unwritten = calls.filter((call) => !held.isWritten(call));
      held.written(unwritten);
      if (unwritten.length > 0) await insertAll(unwritten);
    },

    /** Removes what was written of a call that has cost nothing. */
    forget: (call: HeldCall): Promise<boolean> => (held.isWritten(call) ? forget(call) : Promise.resolve(true)),

    /** Records a call whose worker is lost. */
    settleLost: write(function* (tx: Transaction, { prompt, ...call }: HeldCall): Step<boolean> {
      if (yield* held.lostIn(tx, call)) yield* recordLost(tx, kit, { ...call, ...prompt });
      return true;
    }),

    release: held.release,
    heldOf: held.ofAttempt,
  };
}

/** Records the calls of a node's runs that were in progress when its process ended. */
export function* settleLeftIn(tx: Transaction, kit: BudgetKit, node: string): Step<void> {
  for (const call of yield* listLeft(tx, node)) {
    yield* forgetIn(tx, call);
    yield* recordLost(tx, kit, call);
  }
}

function* recordLost(tx: Transaction, kit: BudgetKit, lost: LeftCall): Step<void> {
  const { sessionSeq, runSeq, attempt, model, inputTokens, costUsd } = lost;
  const facts = { purpose: null, step: null, agent: null, outcome: 'lost', timing: null } as const;
  const call = { usage: { ...NO_USAGE, inputTokens }, estimated: true, model, costUsd, facts };
  const run = yield* addToAny(tx, runSeq, call);
  yield* recordUsage(tx, kit, { sessionSeq, runSeq, attempt, run }, call);
}
