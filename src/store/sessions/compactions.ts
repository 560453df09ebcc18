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

    /** The newest summary of a session, or of what it begins with; undefined when there is none. For the executor of a run alone. */
    findNewest: read(function* (tx: Reader, sessionSeq: number): Step<StoredCompaction | undefined> {
      const own = yield* tx.get<StoredCompaction>(OWN, sessionSeq);
      return own ?? (yield* tx.get<StoredCompaction>(OF_ORIGINS, sessionSeq));
    }, 'committed'),
  };
}

const OWN = 'SELECT run_seq, step, summary FROM compactions WHERE session_seq = ? ORDER BY seq DESC LIMIT 1';
// Without their texts until it is known which.
const OF_ORIGINS = `SELECT run_seq, step, summary FROM compactions WHERE seq = (
  SELECT max(c.seq) FROM session_origins o CROSS JOIN compactions c
    ON c.session_seq = o.from_session AND c.run_seq <= o.until_run WHERE o.session_seq = ?)`;
