// The recorded files of a session's workspace: what a run is compared with, and what the export contains.
import type { FileChange, FileVersion } from '../../domain/sessions/artifact.ts';
import { type Contents, type ContentSource, NO_CONTENTS } from '../../domain/sessions/contents.ts';
import { MB } from '../../domain/byte-units.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { keepEarlier } from '../forks/earlier-files.ts';
import { type Fence, holds } from '../runs/fence.ts';
import { addSpaceIn } from '../sessions/workspace-space.ts';
import { keepContents } from '../sessions/small-blobs.ts';
import { type Here, isWorkspaceHere } from '../sessions/workspaces-here.ts';
import { noteBefore } from './baseline-files.ts';
import { filesAt } from './files-at.ts';
import { keepExtras, newestStep, recordedAt, saveState, stateOf, type WorkspaceState } from './workspace-state.ts';

/** How a workspace differs from its recorded files. */
export interface Difference {
  /** Files that are new, or have other contents. */
  readonly files: readonly FileVersion[];
  /** Paths that have no file any more; absent: none. */
  readonly gone?: readonly string[] | undefined;
}

/** A difference, and the look that found it. */
export interface FoundDifference extends Difference {
  /** The bytes of its small files; absent: they are all stored. */
  readonly contents?: ContentSource;
  /** Names the look; absent when no later one can refer to it. */
  readonly token?: string | null;
  /** What the workspace has besides its files, as a text that the looks compare; absent: what is recorded. */
  readonly extras?: string | null;
}

/** A difference as the rows have it. */
export interface TreeChange {
  readonly changed: readonly (FileVersion & { readonly change: FileChange })[];
  readonly deletedPaths: readonly string[];
  /** Contents that the tree no longer has at that path; something else may still refer to them. */
  readonly replacedKeys: readonly string[];
  /** By how much the files have grown in all; negative when they have shrunk. */
  readonly grownBytes: number;
}

/** How much a workspace has. */
export interface WorkspaceSize {
  readonly fileCount: number;
  readonly totalBytes: number;
}

/** What a look at a workspace is compared with. */
export interface RecordedWorkspace {
  /** Of the look that found the recorded files; null: look at all of them. */
  readonly token: string | null;
  readonly hasFiles: boolean;
  /** What it has besides them; null: nothing. */
  readonly extras: string | null;
}

/** Files of one commit: they take a few milliseconds. */
export const FILES_AT_ONCE = 250;
/** Contents of one commit; a small blob is less. */
const BYTES_AT_ONCE = MB;

/** A difference in parts for one commit each; one that is empty has one. */
export function* partsOf({ files, gone = [], contents }: FoundDifference, most: number): Generator<Difference> {
  let at = 0;
  do {
    const end = endOfPart(files, at, { most, contents });
    yield { files: files.slice(at, end), gone: end === files.length ? gone.slice(0, most) : [] };
    at = end;
  } while (at < files.length);
  for (at = most; at < gone.length; at += most) yield { files: [], gone: gone.slice(at, at + most) };
}

interface PartLimits {
  readonly most: number;
  readonly contents: ContentSource | undefined;
}

function endOfPart(files: Difference['files'], from: number, { most, contents }: PartLimits): number {
  let [end, bytes] = [from, 0];
  for (; end < files.length && end - from < most; end += 1) {
    const { size, sha256 } = files[end]!;
    bytes += contents?.has(sha256) === true ? size : 0;
    if (bytes > BYTES_AT_ONCE && end > from) break;
  }
  return end;
}

/** Whether one commit can have all of a difference. */
export const isOnePart = ({ files, gone = [], contents }: FoundDifference, most: number): boolean =>
  files.length + gone.length <= most && endOfPart(files, 0, { most, contents }) === files.length;

/** The bytes of a part's small files that are still to be stored. */
export const contentsOf = async ({ contents }: FoundDifference, { files }: Difference): Promise<Contents> =>
  contents === undefined ? NO_CONTENTS : contents.read(keysOf(files));

/** The verbs on trees. `atOnce`: files of one commit. */
export function makeWorkspaceTree({ write, read }: Database, { atOnce = FILES_AT_ONCE } = {}) {
  const keepPart = write(keepIn);

  async function keep(fence: Fence, found: FoundDifference, of: Omit<KeptPart, 'end' | 'contents'>) {
    const parts = [...partsOf(found, atOnce)];
    const replaced: string[] = [];
    for (const part of parts) {
      const end = part === parts.at(-1) ? found : null;
      const keys = await keepPart(fence, part, { ...of, end, contents: await contentsOf(found, part) });
      if (keys === undefined) return undefined;
      for (const key of keys) replaced.push(key);
    }
    return replaced;
  }

  return {
    /** What a look at a session's workspace is compared with. */
    findWorkspace: read(function* (tx: Reader, sessionSeq: number): Step<RecordedWorkspace> {
      type Row = Omit<RecordedWorkspace, 'hasFiles'> & { readonly hasFiles: number };
      const { hasFiles, ...known } = (yield* tx.get<Row>(
        `SELECT w.token, w.extras, EXISTS (SELECT 1 FROM workspace_files WHERE session_seq = s.seq) AS hasFiles
         FROM sessions s LEFT JOIN workspaces w ON w.session_seq = s.seq WHERE s.seq = ?`,
        sessionSeq,
      ))!;
      return { ...known, hasFiles: hasFiles === 1 };
    }, 'committed'),

    /**
     * Records how the workspace differs before a run's agent changes anything: the baseline of the run. Many files are recorded in
     * parts. Returns the contents that it no longer has, or undefined when the attempt no longer holds the run, or has its workspace
     * elsewhere.
     */
    keepBaseline: async (
      fence: Fence,
      found: FoundDifference,
      here: Here = null,
    ): Promise<readonly string[] | undefined> => keep(fence, found, { moment: 'before', here }),

    /**
     * Records the workspace of a run in its midst, after a step of it or its newest one. What it has changed stays its own: its artifacts are
     * the same as without. Otherwise as `keepBaseline`.
     */
    keepCheckpoint: async (
      fence: Fence,
      found: FoundDifference,
      { here = null, step }: { readonly here?: Here; readonly step?: number | undefined } = {},
    ): Promise<readonly string[] | undefined> => keep(fence, found, { moment: { after: step }, here }),
  };
}

interface KeptPart {
  /** Of the run: before its first change, or in its midst, after a step; undefined: after its newest one. */
  readonly moment: 'before' | { readonly after: number | undefined };
  /** It is the last part. */
  readonly end: Pick<FoundDifference, 'token' | 'extras'> | null;
  readonly here: Here;
  readonly contents: Contents;
}

function* keepIn(
  tx: Transaction,
  fence: Fence,
  part: Difference,
  { moment, end, here, contents }: KeptPart,
): Step<readonly string[] | undefined> {
  if (!(yield* holds(tx, fence)) || !(yield* isWorkspaceHere(tx, fence.sessionSeq, here))) return undefined;
  const { sessionSeq, runSeq } = fence;
  const change = yield* compareIn(tx, sessionSeq, part);
  if (moment !== 'before') yield* noteBefore(tx, fence, change);
  const after = yield* applyChange(tx, yield* stateOf(tx, sessionSeq), { sessionSeq, runSeq, contents, ...change });
  const unfinished = { ...after, token: null, step: 'baseline', runSeq } as const;
  const step = moment === 'before' ? 0 : (moment.after ?? (yield* newestStep(tx, runSeq)));
  yield* saveState(tx, sessionSeq, end === null ? unfinished : recordedAt(after, end.token ?? null, runSeq, step));
  yield* keepExtras(tx, sessionSeq, end?.extras);
  const hasChanged = change.changed.length + change.deletedPaths.length > 0;
  if (hasChanged) yield* tx.run('UPDATE workspace_exports SET stale = 1 WHERE session_seq = ?', sessionSeq);
  return change.replacedKeys;
}

/** Compares with the recorded files, by content (E5). */
export function* compareIn(tx: Reader, sessionSeq: number, { files, gone = [] }: Difference): Step<TreeChange> {
  const changed: (FileVersion & { change: FileChange })[] = [];
  const [deletedPaths, replacedKeys]: [string[], string[]] = [[], []];
  let grownBytes = 0;
  const recorded = yield* filesAt(tx, sessionSeq, [...files.map(({ path }) => path), ...gone]);
  for (const { path, size, sha256 } of files) {
    const old = recorded.get(path);
    if (old?.sha256 === sha256) continue;
    if (old !== undefined) replacedKeys.push(old.sha256);
    grownBytes += size - (old?.size ?? 0);
    changed.push({ path, size, sha256, change: old === undefined ? 'added' : 'modified' });
  }
  for (const path of gone) {
    const old = recorded.get(path);
    if (old === undefined) continue;
    deletedPaths.push(path);
    replacedKeys.push(old.sha256);
    grownBytes -= old.size;
  }
  return { changed, deletedPaths, replacedKeys, grownBytes };
}

export const keysOf = (files: readonly FileVersion[]): string[] => files.map(({ sha256 }) => sha256);

interface AppliedChange extends TreeChange {
  readonly sessionSeq: number;
  /** The run with which it is recorded. */
  readonly runSeq: number;
  readonly contents: Contents;
}

/** Writes a change of a session's recorded files. Returns the state after it, which is still to be saved. */
export function* applyChange(
  tx: Transaction,
  before: WorkspaceState,
  { sessionSeq, runSeq, changed, deletedPaths, grownBytes, contents }: AppliedChange,
): Step<WorkspaceState> {
  yield* keepContents(tx, keysOf(changed), contents);
  yield* addSpaceIn(tx, sessionSeq, grownBytes);
  const replaced = changed.flatMap(({ path, change }) => (change === 'added' ? [] : [path]));
  yield* keepEarlier(tx, { sessionSeq, runSeq }, [...deletedPaths, ...replaced]);
  for (const path of deletedPaths)
    yield* tx.run('DELETE FROM workspace_files WHERE session_seq = ? AND path = ?', sessionSeq, path);
  let added = 0;
  for (const { path, size, sha256, change } of changed) {
    if (change === 'added') added += 1;
    yield* tx.run(
      `INSERT INTO workspace_files (session_seq, path, size, sha256, since_run) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (session_seq, path) DO UPDATE SET size = excluded.size, sha256 = excluded.sha256, since_run = excluded.since_run`,
      sessionSeq,
      path,
      size,
      sha256,
      runSeq,
    );
  }
  return {
    ...before,
    fileCount: before.fileCount + added - deletedPaths.length,
    totalBytes: before.totalBytes + grownBytes,
  };
}

/** Whether a size is within a limit. */
export const isWithin = (size: WorkspaceSize, limit: WorkspaceSize): boolean =>
  size.fileCount <= limit.fileCount && size.totalBytes <= limit.totalBytes;
