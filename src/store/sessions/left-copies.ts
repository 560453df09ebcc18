// Which of the sessions whose files a node has on its disk have no use for them any more (L5, E9).
import type { Database } from '../engine/database.ts';
import { listed } from '../engine/listed.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { IS_UNFINISHED } from '../runs/run-states.ts';
import { HOME_NODE } from './workspaces-here.ts';

/** A session whose files on a node are of no use. */
export interface LeftCopy {
  readonly sessionSeq: number;
  readonly sessionId: string;
}

/** A session that nobody uses, with files that are recorded. */
export interface IdleCopy extends LeftCopy {
  /** Epoch ms. */
  readonly usedAt: number;
}

/** Deleted, and no executor may still be at work there; or the workspace is known to be at another node. */
const LEFT = `(s.deleted_at IS NOT NULL AND (s.stop_requested_at IS NULL OR s.stop_confirmed_at IS NOT NULL)
  OR s.deleted_at IS NULL AND coalesce(s.workspace_node, (${HOME_NODE}), ?) <> ?)`;

/** Nothing may be under way there: runs, files that aren't known yet, executors of stopped runs. */
const IDLE = `s.deleted_at IS NULL AND coalesce(s.workspace_node, (${HOME_NODE}), ?) = ? AND s.updated_at < ?
  AND w.token IS NOT NULL AND w.step IS NULL AND w.file_count > 0
  AND (s.stop_requested_at IS NULL OR s.stop_confirmed_at IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM runs WHERE session_seq = s.seq AND ${IS_UNFINISHED})
  AND NOT EXISTS (SELECT 1 FROM runs WHERE session_seq = s.seq AND artifact_status = 'pending' AND finished_at IS NOT NULL)`;

function* leftBy(tx: Reader, column: 'id' | 'seq', keys: readonly (string | number)[], here: string): Step<LeftCopy[]> {
  const { marks, values } = listed(keys);
  const sql = `SELECT s.seq AS sessionSeq, s.id AS sessionId FROM sessions s WHERE s.${column} IN (${marks}) AND ${LEFT}`;
  return yield* tx.all<LeftCopy>(sql, ...values, here, here);
}

/** The verbs. What they leave out is of use, or of a session that nobody knows. */
export function makeLeftCopies({ read }: Database) {
  return {
    /** Of some sessions, up to `MOST_LISTED`. `here`: the node that has their files. */
    listLeftCopies: read(function* (tx: Reader, ids: readonly string[], here: string): Step<LeftCopy[]> {
      return yield* leftBy(tx, 'id', ids, here);
    }),
    /** The same by their numbers. */
    findLeftCopies: read(function* (tx: Reader, seqs: readonly number[], here: string): Step<LeftCopy[]> {
      return yield* leftBy(tx, 'seq', seqs, here);
    }),
    /** Those of some sessions whose workspaces are here, of which all is recorded, and that were used before a moment (epoch ms). */
    listIdleCopies: read(function* (
      tx: Reader,
      ids: readonly string[],
      here: string,
      before: number,
    ): Step<IdleCopy[]> {
      const { marks, values } = listed(ids);
      const sql = `SELECT s.seq AS sessionSeq, s.id AS sessionId, s.updated_at AS usedAt
        FROM sessions s CROSS JOIN workspaces w ON w.session_seq = s.seq WHERE s.id IN (${marks}) AND ${IDLE}`;
      return yield* tx.all<IdleCopy>(sql, ...values, here, here, before);
    }),
  };
}
