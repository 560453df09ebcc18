// What runs have left in workspaces of nodes that were lost: their artifacts fail, so that nobody waits for them any longer (L5).
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction, Value } from '../engine/statement.ts';
import { HOME_NODE } from '../sessions/workspaces-here.ts';
import { type EndedRun, errorOfRun, failIn, findEnded } from './artifact-ends.ts';
import { IS_COLLECTED } from './artifact-queue.ts';
import { forgetBefore } from './baseline-files.ts';
import { isKept } from './own-files.ts';
import { exportIn } from './workspace-exports.ts';
import { atRestUnknown, saveState, stateOf, type WorkspaceState } from './workspace-state.ts';
import { FILES_AT_ONCE } from './workspace-tree.ts';

/** What came of the runs of a session. */
export interface Concluded {
  /** How many artifacts have failed. */
  readonly runs: number;
  /** Archives that nothing refers to any more. */
  readonly replacedKeys: readonly string[];
}

const MESSAGE = 'The node that executed the run was lost before its files were collected.';

const NODE = `coalesce(s.workspace_node, (${HOME_NODE}))`;
/** No process of the node is left, and none was there lately; one that was removed is forgotten. */
const IS_LOST = `${NODE} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM worker_nodes n WHERE n.id = ${NODE}
  AND (n.process IS NOT NULL OR n.last_beat_at > database_now() - ?))`;
const UNCOLLECTED = `FROM runs r JOIN sessions s ON s.seq = r.session_seq
  WHERE r.artifact_status = 'pending' AND r.finished_at IS NOT NULL AND NOT ${IS_COLLECTED} AND ${IS_LOST}`;
const MOST = 100;

/**
 * The verbs. `silentMs`: for how long the node may come back and collect by itself. `atOnce`: files of one commit.
 */
export function makeLostWorkspaces({ read, write }: Database, { atOnce = FILES_AT_ONCE } = {}) {
  const find = read(function* (tx: Reader, sessionSeq: number, silentMs: number): Step<{ seq: number }[]> {
    return yield* tx.all<{ seq: number }>(
      `SELECT r.seq ${UNCOLLECTED} AND r.session_seq = ? ORDER BY r.seq LIMIT ${MOST}`,
      silentMs,
      sessionSeq,
    );
  });
  const clear = write(clearIn, { frees: true });
  const endLost = write(concludeIn);

  return {
    /** Sessions with runs whose files a lost node has not collected, some of them. */
    listLost: read(function* (tx: Reader, silentMs: number): Step<number[]> {
      const sql = `SELECT DISTINCT r.session_seq ${UNCOLLECTED} AND r.session_seq > 0 LIMIT ${MOST}`;
      return (yield* tx.all<{ sessionSeq: number }>(sql, silentMs)).map(({ sessionSeq }) => sessionSeq);
    }),

    /** Has the artifacts of such runs fail. What the session's files are from now on is what is recorded of them. */
    concludeLost: async (sessionSeq: number, silentMs: number): Promise<Concluded> => {
      const replacedKeys: string[] = [];
      let runs = 0;
      for (const { seq } of await find(sessionSeq, silentMs)) {
        while ((await clear(seq, silentMs, atOnce)) === atOnce);
        const concluded = await endLost(seq, silentMs);
        if (concluded === undefined) continue;
        runs += 1;
        if (concluded.replacedKey !== null) replacedKeys.push(concluded.replacedKey);
      }
      return { runs, replacedKeys };
    },
  };
}

const LOST_RUN = `AND NOT EXISTS (SELECT 1 FROM run_artifacts WHERE run_seq = runs.seq)
  AND EXISTS (SELECT 1 FROM sessions s WHERE s.seq = runs.session_seq AND ${IS_LOST})`;

/** An ended run whose files nobody collects. */
function findLost(tx: Transaction, runSeq: number, silentMs: Value): Step<EndedRun | undefined> {
  return findEnded(tx, runSeq, { sql: LOST_RUN, values: [silentMs] });
}

/** Removes a part of the run's own files, and of what they were before it. Returns how many. */
function* clearIn(tx: Transaction, runSeq: number, silentMs: number, most: number): Step<number> {
  if ((yield* findLost(tx, runSeq, silentMs)) === undefined) return 0;
  const removed = yield* tx.count('DELETE FROM run_artifact_files WHERE run_seq = ? LIMIT ?', runSeq, most);
  return removed === most ? most : removed + (yield* forgetBefore(tx, runSeq, most - removed));
}

function* concludeIn(tx: Transaction, runSeq: number, silentMs: number) {
  const run = yield* findLost(tx, runSeq, silentMs);
  if (run === undefined) return undefined;
  const { sessionSeq } = run;
  const state = yield* stateOf(tx, sessionSeq);
  yield* saveState(tx, sessionSeq, atRestUnknown(state, tokenOf(state)));
  yield* failIn(tx, run, isKept(run) ? { type: 'api_error', message: MESSAGE } : errorOfRun(run.status, run.error));
  const { fileCount, totalBytes } = state;
  const { replacedKey } = yield* exportIn(tx, run, { fileCount, totalBytes, isSmall: true, hasChanged: true });
  return { replacedKey };
}

/** While the run's own files were written, those of the session were still what the look before had found. */
const tokenOf = ({ token, step }: WorkspaceState): string | null => (step === null || step === 'own' ? token : null);
