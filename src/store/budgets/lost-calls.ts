// Model calls of which nothing is heard again: they are recorded with the estimate of their prompt.
import { NO_USAGE } from '../../domain/sessions/usage.ts';
import type { Database } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { addToAny, recordUsage } from './record-usage.ts';
import type { HeldCall, LostPrompt } from './held-calls.ts';
import type { BudgetKit } from './reserve.ts';
import { forgetIn } from './settle.ts';

type Lost = LostPrompt & { readonly runSeq: number; readonly sessionSeq: number };

// Each run that executes has one at most. In this order, whatever the planner thinks of the sizes: a few rows, and the run of each.
const LEFT = `SELECT c.run_seq, r.session_seq, c.model, c.input_tokens,
    c.cost_usd
  FROM calls_in_progress c CROSS JOIN runs r ON r.seq = c.run_seq WHERE coalesce(r.node_id, ?) = ?`;

/** The verbs on calls in progress. */
export function makeLostCalls({ write }: Database, kit: BudgetKit) {
  return {
    /** Writes calls in progress down, for the case that the daemon is killed. A run has one at a time. */
    saveHeld: write(function* (tx: Transaction, calls: readonly HeldCall[]): Step<void> {
      for (const { runSeq, prompt } of calls) {
        yield* tx.run(
          `INSERT INTO calls_in_progress (run_seq, model, input_tokens, cost_usd) VALUES (?, ?, ?, ?)
           ON CONFLICT (run_seq) DO UPDATE SET model = excluded.model, input_tokens = excluded.input_tokens,
             cost_usd = excluded.cost_usd`,
          runSeq,
          prompt.model,
          prompt.inputTokens,
          prompt.costUsd,
        );
        kit.held.saved.add(runSeq);
      }
    }),

    /** Removes what was written of a call that has cost nothing. */
    forget: write(function* (tx: Transaction, { runSeq }: HeldCall): Step<boolean> {
      yield* forgetIn(tx, runSeq);
      return true;
    }),

    /** Records a call whose worker is lost. */
    settleLost: write(function* (tx: Transaction, { sessionSeq, runSeq, prompt }: HeldCall): Step<boolean> {
      yield* recordLost(tx, kit, { ...prompt, sessionSeq, runSeq });
      return true;
    }),

    release: kit.held.release,
    heldOf: kit.held.ofAttempt,
  };
}

/** Records the calls of a node's runs that were in progress when its process ended. */
export function* settleLeftIn(tx: Transaction, kit: BudgetKit, node: string): Step<void> {
  for (const call of yield* tx.all<Lost>(LEFT, node, node)) yield* recordLost(tx, kit, call);
}

function* recordLost(tx: Transaction, kit: BudgetKit, lost: Lost): Step<void> {
  // First, since the recording removes only what this process has written.
  yield* forgetIn(tx, lost.runSeq);
  const { sessionSeq, runSeq, model, inputTokens, costUsd } = lost;
  const facts = { purpose: null, step: null, agent: null, outcome: 'lost', timing: null } as const;
  const call = { usage: { ...NO_USAGE, inputTokens }, estimated: true, model, costUsd, facts };
  const run = yield* addToAny(tx, runSeq, call);
  yield* recordUsage(tx, kit, { sessionSeq, runSeq, run }, call);
}
