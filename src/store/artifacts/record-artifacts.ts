// Records what ended runs have left in their workspaces (§3.2, E4, E5): in one commit, or in parts of a few milliseconds each.
//
// In parts, the run's own files are written first. Once all of them are there, so are the session's: from then on, what differs from
// these says nothing of the run any more. After a crash, the former begin anew, and the latter are continued.
import type { Contents } from '../../domain/sessions/contents.ts';
import { type Database, COMMITTED } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { type EndedRun, failIn, findEnded } from './artifact-ends.ts';
import { keepContents } from '../sessions/small-blobs.ts';
import { type Here, ofHere, type OfHere } from '../sessions/workspaces-here.ts';
import {
  forgetBefore,
  type KeptPart,
  keptChanges,
  NOTHING_KEPT,
  ownOf,
  pathsOf,
  sinceBaseline,
} from './baseline-files.ts';
import { concludeCollected, type FoundWorkspace, type Recorded } from './conclude-collected.ts';
import { insertOwn, isKept } from './own-files.ts';
import { failExportIn } from './workspace-exports.ts';
import { atRestUnknown, saveState, stateOf, type WorkspaceState } from './workspace-state.ts';
import {
  applyChange,
  compareIn,
  contentsOf,
  type Difference,
  FILES_AT_ONCE,
  isOnePart,
  keysOf,
  partsOf,
} from './workspace-tree.ts';

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
  const forget = write(forgetIn, { frees: true, waitsFor: 'committed' });
  const addOwn = write(addOwnIn, COMMITTED);
  const addKept = write(addKeptIn, COMMITTED);
  const endOwn = write(endOwnIn, COMMITTED);
  const addTree = write(addTreeIn, COMMITTED);
  const finish = write(finishIn);
  const fail = write(failCollectionIn);

  async function clearAll(which: Which): Promise<void> {
    while ((await clear(which, atOnce)) === atOnce);
  }

  async function forgetAll(which: Which): Promise<void> {
    if (which.here === null) return;
    while ((await forget(which, atOnce)) === atOnce);
  }

  async function addOwnFiles(which: Which, found: FoundWorkspace): Promise<boolean> {
    await clearAll(which);
    const { files, contents } = found;
    const own = { files, ...(contents && { contents }) };
    for (const part of partsOf(own, atOnce))
      if (!(await addOwn(which, part, await contentsOf(own, part)))) return false;
    return (await addKeptFiles(which, pathsOf(found))) && endOwn(which);
  }

  async function addKeptFiles(which: Which, besides: ReadonlySet<string>): Promise<boolean> {
    for (let after: string | null | undefined = which.here === null ? null : ''; after !== null; ) {
      after = await addKept(which, besides, { after, most: atOnce });
      if (after === undefined) return false;
    }
    return true;
  }

  async function recordInParts(which: Which, found: FoundWorkspace): Promise<Recorded | undefined> {
    const step = await begin(which);
    if (step === undefined || (step === 'own' && !(await addOwnFiles(which, found)))) return undefined;
    await forgetAll(which);
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
      await forgetAll(which);
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
  const kept = which.here === null ? NOTHING_KEPT : yield* keptChanges(tx, run, { after: '', most: FILES_AT_ONCE });
  if (kept.next !== null) return 'in parts';
  const change = yield* compareIn(tx, run.sessionSeq, found);
  const own = isAt(before, 'tree', run)
    ? before
    : yield* insertOwn(tx, run, { ...before, ...NONE }, yield* ownOf(tx, run.seq, { found, change, kept }));
  if (kept.isAny) yield* forgetBefore(tx, run.seq, FILES_AT_ONCE);
  const after = yield* applyChange(tx, own, { sessionSeq: run.sessionSeq, runSeq: run.seq, contents, ...change });
  return yield* concludeCollected(tx, run, { found, state: after, change });
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

/** Forgets what files were before the run: its own are all there. Returns how many it were. */
function* forgetIn(tx: Transaction, which: Which, most: number): Step<number> {
  if ((yield* findUncollected(tx, which)) === undefined) return 0;
  return yield* forgetBefore(tx, which.seq, most);
}

/** Adds what was recorded in the midst of the run and has not changed since. Returns where the next part begins; null: there is none. */
function* addKeptIn(
  tx: Transaction,
  which: Which,
  besides: ReadonlySet<string>,
  part: KeptPart,
): Step<string | null | undefined> {
  const run = yield* findUncollected(tx, which);
  if (run === undefined) return undefined;
  const { changed, next } = yield* keptChanges(tx, run, part);
  const own = changed.filter(({ path }) => !besides.has(path));
  yield* saveState(tx, run.sessionSeq, yield* insertOwn(tx, run, yield* stateOf(tx, run.sessionSeq), own));
  return next;
}

function* addOwnIn(tx: Transaction, which: Which, part: Difference, contents: Contents): Step<boolean> {
  const run = yield* findUncollected(tx, which);
  if (run === undefined) return false;
  const state = yield* stateOf(tx, run.sessionSeq);
  const change = yield* compareIn(tx, run.sessionSeq, part);
  yield* keepContents(tx, keysOf(change.changed), contents);
  const own = which.here === null ? change.changed : yield* sinceBaseline(tx, run.seq, change.changed);
  yield* saveState(tx, run.sessionSeq, yield* insertOwn(tx, run, state, own));
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
  const of = { sessionSeq, runSeq: run.seq, contents };
  const after = yield* applyChange(tx, yield* stateOf(tx, sessionSeq), { ...of, ...change });
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
  return yield* concludeCollected(tx, run, { found, state, change: { ...NOTHING, replacedKeys } });
}

const NOTHING = { changed: [], deletedPaths: [] } as const;

function* failCollectionIn(tx: Transaction, which: Which, message: string): Step<boolean> {
  const run = yield* findEnded(tx, which.seq, whereOf(which.here));
  if (run === undefined) return false;
  yield* saveState(tx, run.sessionSeq, atRestUnknown(yield* stateOf(tx, run.sessionSeq), null));
  yield* failIn(tx, run, { type: 'api_error', message });
  yield* failExportIn(tx, run, message);
  return true;
}
