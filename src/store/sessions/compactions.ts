// Summaries that replace the older part of a session's conversation.
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { type Fence, holds } from '../runs/fence.ts';

/** Replaces all turns before a run, and that run's steps up to `step`. */
export interface StoredCompaction {
  readonly runSeq: number;
  readonly step: number;
  readonly summary: string;
}

export interface NewCompaction {
  readonly step: number;
  readonly summary: string;
  /** Length of what it replaces. */
  readonly characters: number;
}

/** The verbs of summaries. */
export function makeCompactions({ write, read }: Database) {
  return {
    /**
     * Records a summary of a running run. Returns false, and writes nothing, when the attempt no longer holds the run (D7).
     */
    record: write(function* (
      tx: Transaction,
      fence: Fence,
      { step, summary, characters }: NewCompaction,
    ): Step<boolean> {
      if (!(yield* holds(tx, fence))) return false;
      yield* tx.run(
        'INSERT INTO compactions (session_seq, run_seq, step, summary, created_at) VALUES (?, ?, ?, ?, ?)',
        fence.sessionSeq,
        fence.runSeq,
        step,
        summary,
        tx.now,
      );
      tx.emit(fence.sessionSeq, fence.runSeq, { type: 'run.compacted', payload: { step, characters } });
      return true;
    }),

    /** The newest summary of a session; undefined when there is none. For the executor of a run alone. */
    findNewest: read(
      (tx: Reader, sessionSeq: number): Step<StoredCompaction | undefined> =>
        tx.get<StoredCompaction>(
          'SELECT run_seq, step, summary FROM compactions WHERE session_seq = ? ORDER BY seq DESC LIMIT 1',
          sessionSeq,
        ),
      'committed',
    ),
  };
}
