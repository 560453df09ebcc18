// Records what ended runs have left in their workspaces (§3.2, E4, E5): in one commit, or in parts of a few milliseconds each.
//
// In parts, the run's own files are written first. Once all of them are there, so are the session's: from then on, what differs from
// these says nothing of the run any more. After a crash, the former begin anew, and the latter are continued.
import type { FileVersion } from '../../domain/sessions/artifact.ts';
import type { Contents } from '../../domain/sessions/contents.ts';
import { type Database, COMMITTED } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { addToTotals } from '../sessions/session-totals.ts';
import { type EndedRun, errorOfRun, failIn, findEnded, readyIn } from './artifact-ends.ts';
import { keepContents } from '../sessions/small-blobs.ts';
import { type Here, ofHere, type OfHere } from '../sessions/workspaces-here.ts';
import { exportIn, failExportIn } from './workspace-exports.ts';
import { atRest, keepExtras, recordedAt, saveState, stateOf, type WorkspaceState } from './workspace-state.ts';
import {
  applyChange,
  compareIn,
  contentsOf,
  type Difference,
  FILES_AT_ONCE,
  type FoundDifference,
  isOnePart,
  isWithin,
  keysOf,
  partsOf,
  type TreeChange,
  type WorkspaceSize,
} from './workspace-tree.ts';

/** A workspace as it was found after a run. */
export interface FoundWorkspace extends FoundDifference {
  /** How many names were left out, by reason. */
  readonly skipped: object;
  /** Archives of so much are packed when they are asked for; absent: all are packed after the run. */
  readonly packedOnRequest?: WorkspaceSize;
}

/** What came of it. */
export interface Recorded {
  /** Contents that the workspace no longer has; something else may still refer to them. */
  readonly replacedKeys: readonly string[];
  /** Nothing is left to pack of the run, or of the workspace after it. */
  readonly isPacked: boolean;
}

/** A run, and the workspaces that are here: only there may its files be looked at. */
interface Which {
  readonly seq: number;
  readonly here: Here;
}

/**
 * The verbs. They change nothing when the run no longer needs to be collected, or when the workspace is at another node. `atOnce`: files
 * of one commit.
 */
export function makeRecordArtifacts({ write }: Database, { atOnce = FILES_AT_ONCE } = {}) {
  const recordAtOnce = write(recordIn);
  const begin = write(beginIn);
  // Worth nothing before the last part.
  const clear = write(clearIn, { frees: true, waitsFor: 'committed' });
  const addOwn = write(addOwnIn, COMMITTED);
  const endOwn = write(endOwnIn, COMMITTED);
  const addTree = write(addTreeIn, COMMITTED);
  const finish = write(finishIn);
  const fail = write(failCollectionIn);

  async function clearAll(which: Which): Promise<void> {
    while ((await clear(which, atOnce)) === atOnce);
  }

  async function addOwnFiles(which: Which, { files, contents }: FoundWorkspace): Promise<boolean> {
    await clearAll(which);
    const own = { files, ...(contents && { contents }) };
    for (const part of partsOf(own, atOnce))
      if (!(await addOwn(which, part, await contentsOf(own, part)))) return false;
    return endOwn(which);
  }

  async function recordInParts(which: Which, found: FoundWorkspace): Promise<Recorded | undefined> {
    const step = await begin(which);
    if (step === undefined || (step === 'own' && !(await addOwnFiles(which, found)))) return undefined;
    const replaced: string[] = [];
    for (const part of partsOf(found, atOnce)) {
      const keys = await addTree(which, part, await contentsOf(found, part));
      if (keys === undefined) return undefined;
      for (const key of keys) replaced.push(key);
    }
    return finish(which, found, replaced);
  }

  return {
    /** Records what a run has changed. Returns undefined when it no longer needs to be collected. */
    recordArtifacts: async (seq: number, found: FoundWorkspace, here: Here = null): Promise<Recorded | undefined> => {
      const which = { seq, here };
      const isSmall = isOnePart(found, atOnce);
      const recorded = isSmall ? await recordAtOnce(which, found, await contentsOf(found, found)) : 'in parts';
      return recorded === 'in parts' ? recordInParts(which, found) : recorded;
    },

    /** The workspace could not be examined: neither the run's changes nor the session's files are known. */
    failCollection: async (seq: number, message: string, here: Here = null): Promise<boolean> => {
      const which = { seq, here };
      await clearAll(which);
      return fail(which, message);
    },
  };
}

/** An ended run whose changes are not recorded. */
function findUncollected(tx: Transaction, { seq, here }: Which): Step<EndedRun | undefined> {
  const { sql, values } = whereOf(here);
  return findEnded(tx, seq, { sql: `${UNCOLLECTED}${sql}`, values });
}

const UNCOLLECTED = 'AND NOT EXISTS (SELECT 1 FROM run_artifacts WHERE run_seq = runs.seq)';

/** That the workspace of a run is here. */
function whereOf(here: Here): OfHere {
  const { sql, values } = ofHere(here);
  return here === null
    ? { sql, values }
    : { sql: ` AND EXISTS (SELECT 1 FROM sessions s WHERE s.seq = runs.session_seq${sql})`, values };
}

const isAt = (state: WorkspaceState, step: WorkspaceState['step'], { seq }: EndedRun) =>
  state.step === step && state.runSeq === seq;

/** All in one commit, unless a crash has left parts of the run's own files. */
function* recordIn(
  tx: Transaction,
  which: Which,
  found: FoundWorkspace,
  contents: Contents,
): Step<Recorded | 'in parts' | undefined> {
  const run = yield* findUncollected(tx, which);
  if (run === undefined) return undefined;
  const before = yield* stateOf(tx, run.sessionSeq);
  if (isAt(before, 'own', run)) return 'in parts';
  const change = yield* compareIn(tx, run.sessionSeq, found);
  const own = isAt(before, 'tree', run) ? before : yield* insertOwn(tx, run, { ...before, ...NONE }, change);
  const after = yield* applyChange(tx, own, { sessionSeq: run.sessionSeq, contents, ...change });
  return yield* conclude(tx, run, { found, state: after, change });
}

/** Returns with what the recording begins, or goes on. */
function* beginIn(tx: Transaction, which: Which): Step<'own' | 'tree' | undefined> {
  const run = yield* findUncollected(tx, which);
  if (run === undefined) return undefined;
  const state = yield* stateOf(tx, run.sessionSeq);
  const step = isAt(state, 'tree', run) || !isKept(run) ? 'tree' : 'own';
  if (!isAt(state, 'tree', run)) yield* saveState(tx, run.sessionSeq, { ...state, ...NONE, step, runSeq: run.seq });
  return step;
}

const NONE = { ownCount: 0, ownBytes: 0 } as const;

/** Removes own files that a crash has left. Returns how many. */
function* clearIn(tx: Transaction, which: Which, most: number): Step<number> {
  if ((yield* findUncollected(tx, which)) === undefined) return 0;
  return yield* tx.count('DELETE FROM run_artifact_files WHERE run_seq = ? LIMIT ?', which.seq, most);
}

function* addOwnIn(tx: Transaction, which: Which, part: Difference, contents: Contents): Step<boolean> {
  const run = yield* findUncollected(tx, which);
  if (run === undefined) return false;
  const state = yield* stateOf(tx, run.sessionSeq);
  const change = yield* compareIn(tx, run.sessionSeq, part);
  yield* keepContents(tx, keysOf(change.changed), contents);
  yield* saveState(tx, run.sessionSeq, yield* insertOwn(tx, run, state, change));
  return true;
}

function* endOwnIn(tx: Transaction, which: Which): Step<boolean> {
  const run = yield* findUncollected(tx, which);
  if (run === undefined) return false;
  yield* saveState(tx, run.sessionSeq, { ...(yield* stateOf(tx, run.sessionSeq)), step: 'tree' });
  return true;
}

/** Returns the contents that the workspace no longer has. */
function* addTreeIn(
  tx: Transaction,
  which: Which,
  part: Difference,
  contents: Contents,
): Step<readonly string[] | undefined> {
  const run = yield* findUncollected(tx, which);
  if (run === undefined) return undefined;
  const { sessionSeq } = run;
  const change = yield* compareIn(tx, sessionSeq, part);
  const after = yield* applyChange(tx, yield* stateOf(tx, sessionSeq), { sessionSeq, contents, ...change });
  // From now on, the files are those of no look.
  yield* saveState(tx, sessionSeq, { ...after, token: null });
  yield* tx.run('UPDATE workspace_exports SET stale = 1 WHERE session_seq = ? AND stale = 0', sessionSeq);
  return change.replacedKeys;
}

function* finishIn(
  tx: Transaction,
  which: Which,
  found: FoundWorkspace,
  replacedKeys: readonly string[],
): Step<Recorded | undefined> {
  const run = yield* findUncollected(tx, which);
  if (run === undefined) return undefined;
  const state = yield* stateOf(tx, run.sessionSeq);
  return yield* conclude(tx, run, { found, state, change: { ...NOTHING, replacedKeys } });
}

const NOTHING = { changed: [], deletedPaths: [] } as const;

interface Conclusion {
  readonly found: FoundWorkspace;
  /** With all files. */
  readonly state: WorkspaceState;
  /** That of this commit. */
  readonly change: Pick<TreeChange, 'changed' | 'deletedPaths' | 'replacedKeys'>;
}

/** Reports the run's files and the session's, which are all there. */
function* conclude(tx: Transaction, run: EndedRun, { found, state, change }: Conclusion): Step<Recorded> {
  const { sessionSeq, seq: runSeq } = run;
  yield* saveState(tx, sessionSeq, recordedAt(state, found.token ?? null, runSeq, null));
  yield* keepExtras(tx, sessionSeq, found.extras);
  const own = { fileCount: state.ownCount, totalBytes: state.ownBytes };
  const count = { fileCount: own.fileCount, totalSize: own.totalBytes };
  yield* tx.run(
    'INSERT INTO run_artifacts (run_seq, file_count, total_size, skipped, created_at) VALUES (?, ?, ?, ?, ?)',
    runSeq,
    count.fileCount,
    count.totalSize,
    JSON.stringify(found.skipped),
    tx.now,
  );
  if (count.fileCount > 0) yield* addToTotals(tx, sessionSeq, { artifacts: count.fileCount });
  const isReady = count.fileCount === 0 || isSmall(own, found);
  if (!isKept(run)) yield* failIn(tx, run, errorOfRun(run.status, run.error));
  else if (isReady) yield* readyIn(tx, run, count);
  const { fileCount, totalBytes } = state;
  const size = { fileCount, totalBytes, isSmall: isSmall(state, found) };
  const hasChanged = change.changed.length + change.deletedPaths.length > 0;
  const { isPending, replacedKey } = yield* exportIn(tx, run, { ...size, hasChanged });
  const replacedKeys = replacedKey === null ? change.replacedKeys : [...change.replacedKeys, replacedKey];
  return { replacedKeys, isPacked: isReady && !isPending };
}

const isSmall = (size: WorkspaceSize, { packedOnRequest }: FoundWorkspace) =>
  packedOnRequest !== undefined && isWithin(size, packedOnRequest);

/** Files of a run that failed or was stopped are in the session's export only (E4). */
export function isKept({ status }: EndedRun): boolean {
  return status === 'completed' || status === 'incomplete';
}

/** Inserts what the run itself has changed, and counts it. */
function* insertOwn(
  tx: Transaction,
  run: EndedRun,
  state: WorkspaceState,
  { changed }: TreeChange,
): Step<WorkspaceState> {
  if (!isKept(run) || changed.length === 0) return state;
  const uploads = yield* uploadsOf(tx, run.seq);
  let { ownCount, ownBytes } = state;
  for (const { path, size, sha256, change } of changed) {
    // Put there before the agent began, if the baseline does not have it.
    const upload = change === 'added' ? uploads.get(path) : undefined;
    if (upload === sha256) continue;
    ownCount += 1;
    ownBytes += size;
    yield* tx.run(
      'INSERT INTO run_artifact_files (run_seq, path, state, size, sha256) VALUES (?, ?, ?, ?, ?)',
      run.seq,
      path,
      upload === undefined ? change : 'modified',
      size,
      sha256,
    );
  }
  return { ...state, ownCount, ownBytes };
}

/** The contents of a run's uploads by their paths. */
function* uploadsOf(tx: Reader, runSeq: number): Step<ReadonlyMap<string, string>> {
  const uploads = yield* tx.all<Pick<FileVersion, 'path' | 'sha256'>>(
    `SELECT a.workspace_path AS path, a.sha256 FROM attachments a JOIN messages m ON m.id = a.message_id
     WHERE m.run_seq = ? AND m.role = 'user'`,
    runSeq,
  );
  return new Map(uploads.map(({ path, sha256 }) => [path, sha256]));
}

function* failCollectionIn(tx: Transaction, which: Which, message: string): Step<boolean> {
  const run = yield* findEnded(tx, which.seq, whereOf(which.here));
  if (run === undefined) return false;
  yield* saveState(tx, run.sessionSeq, atRest(yield* stateOf(tx, run.sessionSeq), null));
  yield* failIn(tx, run, { type: 'api_error', message });
  yield* failExportIn(tx, run, message);
  return true;
}
