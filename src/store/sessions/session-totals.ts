// The totals of a session, updated by the verbs that add to it, so that no query counts the rows of a long session.
import type { Step, Transaction } from '../engine/statement.ts';

/** What a statement adds to a session's totals; absent totals stay unchanged. */
export interface Added {
  readonly messages?: number;
  readonly runs?: number;
  readonly tools?: number;
  readonly artifacts?: number;
  /** Milliseconds that workers spent on a run that has ended. */
  readonly workedMs?: number;
}

/** Adds to the totals of a session; its first turn creates the row. */
export function* addToTotals(
  tx: Transaction,
  sessionSeq: number,
  { messages = 0, runs = 0, tools = 0, artifacts = 0, workedMs = 0 }: Added,
): Step<void> {
  yield* tx.run(
    `INSERT INTO session_totals AS t (session_seq, message_count, run_count, tool_count, artifact_count, worked_ms)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (session_seq) DO UPDATE SET
       message_count = t.message_count + excluded.message_count, run_count = t.run_count + excluded.run_count,
       tool_count = t.tool_count + excluded.tool_count, artifact_count = t.artifact_count + excluded.artifact_count,
       worked_ms = t.worked_ms + excluded.worked_ms`,
    sessionSeq,
    messages,
    runs,
    tools,
    artifacts,
    workedMs,
  );
}
