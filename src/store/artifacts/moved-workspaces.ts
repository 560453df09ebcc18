// Which node has the workspace of a session: that moves with a run which has laid it out there (L5).
import { COMMITTED, type Database } from '../engine/database.ts';
import type { FileVersion } from '../../domain/sessions/artifact.ts';
import { NO_CONTENTS } from '../../domain/sessions/contents.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { type Fence, holds, OF_RUN } from '../runs/fence.ts';
import { noteLostCalls } from './workspace-notes.ts';
import type { Here } from '../sessions/workspaces-here.ts';
import { knownUntil, saveState, stateOf } from './workspace-state.ts';
import { applyChange, compareIn, FILES_AT_ONCE } from './workspace-tree.ts';

export interface Move {
  /** The node that has it from now on; null where all workspaces are beside the rows. */
  readonly here: Here;
  /** Names of tools that leave nothing in a workspace. */
  readonly reading: readonly string[];
}

/** The verbs. */
export function makeMovedWorkspaces({ write }: Database) {
  return {
    /**
     * Records the attachments of earlier turns whose runs were lost before their files were, so that they are laid out as well. Returns false
     * when the attempt no longer holds the run.
     */
    recordLostUploads: write(recordLostUploads, { ...COMMITTED, ...OF_RUN }),

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

function* recordLostUploads(tx: Transaction, fence: Fence): Step<boolean> {
  if (!(yield* holds(tx, fence))) return false;
  const { sessionSeq } = fence;
  const state = yield* stateOf(tx, sessionSeq);
  const uploads = yield* uploadsSince(tx, fence, knownUntil(state, fence).run);
  if (uploads.length === 0) return true;
  const change = yield* compareIn(tx, sessionSeq, { files: uploads });
  // What is recorded is what agents have made of one.
  const changed = change.changed.filter((file) => file.change === 'added');
  if (changed.length === 0) return true;
  const grownBytes = changed.reduce((sum, { size }) => sum + size, 0);
  const missing = {
    sessionSeq,
    runSeq: fence.runSeq,
    changed,
    deletedPaths: [],
    replacedKeys: [],
    grownBytes,
    contents: NO_CONTENTS,
  };
  yield* saveState(tx, sessionSeq, { ...(yield* applyChange(tx, state, missing)), token: null });
  yield* tx.run('UPDATE workspace_exports SET stale = 1 WHERE session_seq = ?', sessionSeq);
  return true;
}

/** Those of the turns after a run and before another one, the newest; that run's own are laid out with its turn. */
function* uploadsSince(tx: Reader, { sessionSeq, runSeq }: Fence, since: number): Step<FileVersion[]> {
  return yield* tx.all<FileVersion>(
    `SELECT a.workspace_path AS path, a.size, a.sha256
     FROM (SELECT seq FROM runs WHERE session_seq = ? AND seq > ? AND seq < ? ORDER BY seq DESC LIMIT ${MOST_RUNS}) AS latest
     JOIN messages m ON m.run_seq = latest.seq AND m.role = 'user' JOIN attachments a ON a.message_id = m.id
     ORDER BY a.seq DESC LIMIT ${FILES_AT_ONCE}`,
    sessionSeq,
    since,
    runSeq,
  );
}

const MOST_RUNS = 20;
