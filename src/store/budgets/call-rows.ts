// Rows of model calls in progress: one for the call of each attempt, gone with the commit that records it.
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import type { BudgetRow } from './budget-rows.ts';
import type { CallOfAttempt, HeldCall, LostPrompt } from './held-call.ts';

const INSERT = `INSERT INTO calls_in_progress
    (run_seq, attempt, node_id, key_seq, user_seq, team_id, most_tokens, most_usd, model, input_tokens, cost_usd)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (run_seq, attempt) DO UPDATE SET node_id = excluded.node_id, key_seq = excluded.key_seq, user_seq = excluded.user_seq,
    team_id = excluded.team_id, most_tokens = excluded.most_tokens, most_usd = excluded.most_usd, model = excluded.model,
    input_tokens = excluded.input_tokens, cost_usd = excluded.cost_usd`;
const DELETE = 'DELETE FROM calls_in_progress WHERE run_seq = ? AND attempt = ?';

/** Writes a call down, in place of the one that its attempt had before. */
export function* insertCall(tx: Transaction, { runSeq, attempt, node, payer, most, prompt }: HeldCall): Step<void> {
  const { keySeq, userSeq, teamId } = payer;
  const { model, inputTokens, costUsd } = prompt;
  const { tokens, usd } = most;
  yield* tx.run(INSERT, runSeq, attempt, node, keySeq, userSeq, teamId, tokens, usd, model, inputTokens, costUsd);
}

/** Removes the row of a call, which has ended. */
export function* forgetIn(tx: Transaction, { runSeq, attempt }: CallOfAttempt): Step<void> {
  yield* tx.run(DELETE, runSeq, attempt);
}

/** The same; returns whether there was one. */
export function* takeIn(tx: Transaction, { runSeq, attempt }: CallOfAttempt): Step<boolean> {
  return (yield* tx.count(DELETE, runSeq, attempt)) === 1;
}

const held = (payer: string, most: string) =>
  `SELECT coalesce(sum(${most}), 0) AS held FROM calls_in_progress WHERE ${payer} = ? AND run_seq <> ?`;
const HELD = {
  key: { tokens: held('key_seq', 'most_tokens'), usd: held('key_seq', 'most_usd') },
  user: { tokens: held('user_seq', 'most_tokens'), usd: held('user_seq', 'most_usd') },
  team: { tokens: held('team_id', 'most_tokens'), usd: held('team_id', 'most_usd') },
} as const;

/** What the rows hold back of a budget, without those of a run. */
export function* readReserved(tx: Reader, row: BudgetRow, exceptRunSeq = 0): Step<number> {
  if (row.subject === 'run') return 0;
  const payer = row.keySeq ?? row.userSeq ?? row.teamId;
  return (yield* tx.get<{ held: number }>(HELD[row.subject][row.unit], payer, exceptRunSeq))!.held;
}

/** A call of which nothing was heard again. */
export type LeftCall = LostPrompt & CallOfAttempt & { readonly sessionSeq: number };

// Each run that executes has one at most. In this order, whatever the planner thinks of the sizes: a few rows, and the run of each.
const LEFT = `SELECT c.run_seq, c.attempt, r.session_seq, c.model, c.input_tokens, c.cost_usd
  FROM calls_in_progress c CROSS JOIN runs r ON r.seq = c.run_seq
  WHERE coalesce(c.node_id, ?) = ? OR c.node_id NOT IN (SELECT id FROM worker_nodes)`;

/** The calls of a node, of those that nobody knows, and of the time when runs had none. */
export function* listLeft(tx: Transaction, node: string): Step<LeftCall[]> {
  return yield* tx.all<LeftCall>(LEFT, node, node);
}
