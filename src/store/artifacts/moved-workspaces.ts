// Which node has the workspace of a session: that moves with a run which has laid it out there (L5).
import { COMMITTED, type Database } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { type Fence, holds, OF_RUN } from '../runs/fence.ts';
import { noteLostCalls } from './workspace-notes.ts';
import type { Here } from '../sessions/workspaces-here.ts';

export interface Move {
  /** The node that has it from now on; null where all workspaces are beside the rows. */
  readonly here: Here;
  /** Names of tools that leave nothing in a workspace. */
  readonly reading: readonly string[];
}

/** The verb. */
export function makeMovedWorkspaces({ write }: Database) {
  return {
    /**
     * The workspace of a session was laid out for an attempt. Returns whether its agent has to be told what is gone; undefined when the
     * attempt no longer holds the run.
     */
    moveWorkspace: write(
      function* (tx: Transaction, fence: Fence, { here, reading }: Move): Step<boolean | undefined> {
        if (!(yield* holds(tx, fence))) return undefined;
        if (here !== null)
          yield* tx.run('UPDATE sessions SET workspace_node = ? WHERE seq = ?', here, fence.sessionSeq);
        return yield* noteLostCalls(tx, fence, reading);
      },
      { ...COMMITTED, ...OF_RUN },
    ),
  };
}
