// Archives that were removed by age are packed again when someone asks for them.
import type { Database } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';

/** The verbs: ready → pending, for the collector. They change nothing when the archive is there, or is being packed. */
export function makePackAgain({ write }: Database) {
  return {
    packWorkspaceAgain: write(function* (tx: Transaction, sessionSeq: number): Step<void> {
      yield* tx.run(
        `UPDATE workspace_exports SET status = 'pending'
         WHERE session_seq = ? AND status = 'ready' AND archive_key IS NULL AND file_count > 0`,
        sessionSeq,
      );
    }),

    packRunAgain: write(function* (tx: Transaction, runSeq: number): Step<void> {
      yield* tx.run(
        `UPDATE runs SET artifact_status = 'pending' WHERE seq = ? AND artifact_status = 'ready'
           AND EXISTS (SELECT 1 FROM run_artifacts WHERE run_seq = runs.seq AND archive_key IS NULL AND file_count > 0)`,
        runSeq,
      );
    }),
  };
}
