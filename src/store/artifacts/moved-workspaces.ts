// Which node has the workspace of a session: that moves with a run which has laid it out there (L5).
import { COMMITTED, type Database } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { type Fence, holds, OF_RUN } from '../runs/fence.ts';

/** The verb. */
export function makeMovedWorkspaces({ write }: Database) {
  return {
    /** From now on the node of the attempt has the workspace of its session. Returns whether the attempt still holds the run. */
    moveWorkspace: write(
      function* (tx: Transaction, fence: Fence, node: string): Step<boolean> {
        if (!(yield* holds(tx, fence))) return false;
        yield* tx.run('UPDATE sessions SET workspace_node = ? WHERE seq = ?', node, fence.sessionSeq);
        return true;
      },
      { ...COMMITTED, ...OF_RUN },
    ),
  };
}
