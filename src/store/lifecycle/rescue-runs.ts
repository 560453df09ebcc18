// Rescue: runs that lost their worker are settled, given back to the queue, or failed (D7).
import { MAX_RESUMES, type RunError } from '../../domain/sessions/run.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { discardIn } from '../sessions/erasures.ts';
import { passIn, settleIn } from './end-run.ts';
import { IS_EXECUTING } from '../runs/run-states.ts';
import { type Fence, holds, type Progress } from '../runs/fence.ts';
import { closeOpenBlock } from './record-progress.ts';
import { KEEP_WORK, noteWork } from '../runs/work-time.ts';

export interface Rescued {
  /** Runs whose agent had ended: they are settled now. */
  readonly settled: number;
  /** Runs that were executing: they are queued again, or failed once resumed too often. */
  readonly interrupted: number;
}

interface UnfinishedRow {
  sessionSeq: number;
  runSeq: number;
  attempt: number;
  status: 'running' | 'finalizing';
}

/** Of a node, or of the time when runs had none. One question for each index: joined by UNION they would be merged in order of id, through all sessions. */
const EXECUTING_SESSIONS = [
  `SELECT s.id FROM runs r JOIN sessions s ON s.seq = r.session_seq
   WHERE r.${IS_EXECUTING} AND r.status = 'running' AND coalesce(r.node_id, ?) = ?`,
  // Whose runs are stopped, and whose workspace is there: an executor may still have worked in it.
  `SELECT id FROM sessions WHERE stop_requested_at IS NOT NULL AND stop_confirmed_at IS NULL
   AND coalesce(workspace_node, ?) = ?`,
];
const UNFINISHED = `SELECT session_seq, seq AS runSeq, attempt, status FROM runs
  WHERE ${IS_EXECUTING} AND (coalesce(node_id, ?) = ? OR node_id NOT IN (SELECT id FROM worker_nodes))`;

const RENEW = `UPDATE runs SET lease_until = ?, ${KEEP_WORK} WHERE seq = ? AND attempt = ? AND status = 'running'`;

/**
 * Why a run lost its worker. A crash counts against its resumes (D7). A drain does not, nor does the death of a thread that
 * any of several runs may have caused, nor a lock of another process on the database.
 */
export type Interruption = 'crash' | 'drain' | 'blameless';

/** The verbs that find runs without a worker. */
export function makeRescueRuns({ write, read }: Database) {
  return {
    /** Returns a run whose worker is lost to the queue, or fails it when it was resumed too often. */
    interrupt: write(function* (tx: Transaction, fence: Progress, interruption: Interruption): Step<boolean> {
      if (!(yield* holds(tx, fence))) return false;
      yield* noteWork(tx, fence);
      return yield* interruptIn(tx, fence, interruption);
    }),

    /** Sessions with an executor at a node: before a rescue, those that a crash may have cut off in the middle of a write. */
    listExecutingSessions: read(function* (tx: Reader, node: string): Step<string[]> {
      const ids = new Set<string>();
      for (const sql of EXECUTING_SESSIONS)
        for (const { id } of yield* tx.all<{ id: string }>(sql, node, node)) ids.add(id);
      return [...ids];
    }),

    /**
     * Extends the leases of the attempts that have a worker at a node, then rescues runs of that node whose lease ended. Answers how
     * many. Whether the node itself is lost, its beats tell.
     */
    renewLeases: write(function* (
      tx: Transaction,
      node: string,
      held: readonly Progress[],
      leaseMs: number,
    ): Step<number> {
      // In this order: after a jump of the clock every lease looks expired, also those that are held.
      for (const { runSeq, attempt, workedMs } of held) {
        yield* tx.run(RENEW, tx.now + leaseMs, workedMs, workedMs, runSeq, attempt);
      }
      const expired = yield* tx.all<UnfinishedRow>(
        `SELECT session_seq, seq AS runSeq, attempt, status FROM runs
           WHERE ${IS_EXECUTING} AND status = 'running' AND lease_until < ? AND coalesce(node_id, ?) = ?`,
        tx.now,
        node,
        node,
      );
      for (const row of expired) yield* interruptIn(tx, row, 'crash');
      return expired.length;
    }),
  };
}

/** The runs of a node where no worker is left, and those of nodes that nobody knows. */
export function* rescueIn(tx: Transaction, node: string): Step<Rescued> {
  const count = { settled: 0, interrupted: 0 };
  const rows = yield* tx.all<UnfinishedRow>(UNFINISHED, node, node);
  for (const row of rows.sort((a, b) => a.runSeq - b.runSeq)) {
    if (row.status === 'finalizing' && (yield* settleIn(tx, row))) count.settled += 1;
    else if (row.status === 'running' && (yield* interruptIn(tx, row, 'crash'))) count.interrupted += 1;
  }
  return count;
}

/** Takes a running run from its lost worker: back to the queue, or failed once its resumes are used up. */
function* interruptIn(tx: Transaction, fence: Fence, interruption: Interruption): Step<boolean> {
  yield* closeOpenBlock(tx, fence);
  const { resumes } = (yield* tx.get<{ resumes: number }>('SELECT resumes FROM runs WHERE seq = ?', fence.runSeq))!;
  if (interruption === 'crash' && resumes >= MAX_RESUMES) {
    const error: RunError = {
      type: 'interrupted_error',
      message: 'The run was interrupted too often and was given up.',
      retryable: true,
    };
    return yield* passIn(tx, { ...fence, workedMs: 0 }, { outcome: 'failed', error }, {});
  }
  yield* discardIn(tx, fence.runSeq);
  const counted = resumes + (interruption === 'crash' ? 1 : 0);
  yield* tx.run(
    "UPDATE runs SET status = 'queued', ready = 1, ready_at = ?, resumes = ?, lease_until = NULL WHERE seq = ?",
    tx.now,
    counted,
    fence.runSeq,
  );
  yield* tx.run("UPDATE sessions SET status = 'pending', updated_at = ? WHERE seq = ?", tx.now, fence.sessionSeq);
  tx.emit(fence.sessionSeq, fence.runSeq, { type: 'run.resumed', payload: { resumes: counted } });
  return true;
}
