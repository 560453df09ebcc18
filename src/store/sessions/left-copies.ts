// Which of the sessions whose files a node has on its disk have no use for them any more (L5, E9).
import type { Database } from '../engine/database.ts';
import { listed } from '../engine/listed.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { HOME_NODE } from './workspaces-here.ts';

/** A session whose files on a node are of no use. */
export interface LeftCopy {
  readonly sessionSeq: number;
  readonly sessionId: string;
}

/** Deleted, and no executor may still be at work there; or the workspace is known to be at another node. */
const LEFT = `(s.deleted_at IS NOT NULL AND (s.stop_requested_at IS NULL OR s.stop_confirmed_at IS NOT NULL)
  OR s.deleted_at IS NULL AND coalesce(s.workspace_node, (${HOME_NODE}), ?) <> ?)`;

/** The verbs. What they leave out is of use, or of a session that nobody knows. */
export function makeLeftCopies({ read }: Database) {
  const listBy = <Key extends string | number>(column: 'id' | 'seq') =>
    read(function* (tx: Reader, keys: readonly Key[], here: string): Step<LeftCopy[]> {
      const { marks, values } = listed(keys);
      const sql = `SELECT s.seq AS sessionSeq, s.id AS sessionId FROM sessions s WHERE s.${column} IN (${marks}) AND ${LEFT}`;
      return yield* tx.all<LeftCopy>(sql, ...values, here, here);
    });
  return {
    /** Of some sessions, up to `MOST_LISTED`. `here`: the node that has their files. */
    listLeftCopies: listBy<string>('id'),
    /** The same by their numbers. */
    findLeftCopies: listBy<number>('seq'),
  };
}
