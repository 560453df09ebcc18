// The files of a session's workspace as last seen: what a run is compared with, and what the export contains.
import type { FileChange, FileVersion } from '../../domain/sessions/artifact.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { type Fence, holds } from '../runs/progress/record-progress.ts';
import { addSpaceIn } from '../sessions/workspace-space.ts';

/** The difference between two trees. */
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

/** A part of a workspace, and what the rest was before. */
export interface TreePart extends WorkspaceSize {
  /** All files outside of these paths are as recorded. The size is that of the recorded files, of all paths. */
  readonly paths: readonly string[];
}

/** The files before a run's agent begins. */
export interface FoundBaseline {
  readonly files: readonly FileVersion[];
  /** Paths that the run itself has changed already: they stay as recorded. */
  readonly changed?: readonly string[];
  /** Set if only these may differ from what is recorded. */
  readonly part?: TreePart;
}

/** A change, and the size of all files after it. */
export type SizedChange = TreeChange & { readonly size: WorkspaceSize };

const SELECT = 'SELECT path, size, sha256 FROM workspace_files WHERE session_seq = ?';

/** The verbs on trees. */
export function makeWorkspaceTree({ write, read }: Database) {
  return {
    /** Those of the files that have some paths. */
    listFilesAt: read(function* (tx: Reader, sessionSeq: number, paths: readonly string[]): Step<FileVersion[]> {
      return [...(yield* readFilesAt(tx, sessionSeq, paths)).values()];
    }),

    /** Whether the session's workspace had any file when it was last seen. */
    hasWorkspaceFiles: read(function* (tx: Reader, sessionSeq: number): Step<boolean> {
      return (yield* tx.get('SELECT 1 FROM workspace_files WHERE session_seq = ? LIMIT 1', sessionSeq)) !== undefined;
    }),

    /**
     * Records the workspace before a run's agent begins, as the baseline of the run. Returns what changed since the tree was
     * last seen, or undefined when the attempt no longer holds the run.
     */
    keepBaseline: write(function* (
      tx: Transaction,
      fence: Fence,
      { files, changed = [], part }: FoundBaseline,
    ): Step<SizedChange | undefined> {
      if (!(yield* holds(tx, fence))) return undefined;
      const tree = yield* readTree(tx, fence.sessionSeq, part);
      const before = part ?? sizeOf(tree.values());
      for (const path of changed) tree.delete(path);
      const own = new Set(changed);
      const change = compare(tree, own.size === 0 ? files : files.filter(({ path }) => !own.has(path)));
      const found = { ...change, size: sizeAfter(before, change) };
      if (change.changed.length + change.deletedPaths.length === 0) return found;
      yield* applyChange(tx, fence.sessionSeq, change);
      yield* tx.run('UPDATE workspace_exports SET stale = 1 WHERE session_seq = ?', fence.sessionSeq);
      return found;
    }),
  };
}

/** The files of a session, ordered by path. */
export const listTree = (tx: Reader, sessionSeq: number): Step<FileVersion[]> =>
  tx.all<FileVersion>(`${SELECT} ORDER BY path`, sessionSeq);

/** From this number of paths, one statement for all files costs less than one for each path. */
const MANY_PATHS = 1_000;

/** The tree of a session by path, or what it has of some paths. */
export function* readTree(
  tx: Reader,
  sessionSeq: number,
  part?: Pick<TreePart, 'paths' | 'fileCount'>,
): Step<Map<string, FileVersion>> {
  if (part?.fileCount === 0) return new Map();
  if (part !== undefined && part.paths.length < MANY_PATHS) return yield* readFilesAt(tx, sessionSeq, part.paths);
  const files = yield* tx.all<FileVersion>(SELECT, sessionSeq);
  const paths = part === undefined ? null : new Set(part.paths);
  return new Map(files.filter(({ path }) => paths?.has(path) !== false).map((file) => [file.path, file]));
}

/** Those of its files that have some paths. */
export function* readFilesAt(tx: Reader, sessionSeq: number, paths: readonly string[]): Step<Map<string, FileVersion>> {
  const found = new Map<string, FileVersion>();
  for (const path of paths) {
    const file = yield* tx.get<FileVersion>(`${SELECT} AND path = ?`, sessionSeq, path);
    if (file !== undefined) found.set(path, file);
  }
  return found;
}

/** Compares by content (E5). */
export function compare(before: ReadonlyMap<string, FileVersion>, after: readonly FileVersion[]): TreeChange {
  const changed: (FileVersion & { change: FileChange })[] = [];
  const replacedKeys: string[] = [];
  const gone = new Map(before);
  let grownBytes = 0;
  for (const { path, size, sha256 } of after) {
    gone.delete(path);
    const old = before.get(path);
    if (old?.sha256 === sha256) continue;
    if (old !== undefined) replacedKeys.push(old.sha256);
    grownBytes += size - (old?.size ?? 0);
    changed.push({ path, size, sha256, change: old === undefined ? 'added' : 'modified' });
  }
  for (const { size, sha256 } of gone.values()) {
    replacedKeys.push(sha256);
    grownBytes -= size;
  }
  return { changed, deletedPaths: [...gone.keys()], replacedKeys, grownBytes };
}

/** The size of some files. */
export function sizeOf(files: Iterable<FileVersion>): WorkspaceSize {
  let [fileCount, totalBytes] = [0, 0];
  for (const { size } of files) {
    fileCount += 1;
    totalBytes += size;
  }
  return { fileCount, totalBytes };
}

/** Whether a size is within a limit. */
export const isWithin = (size: WorkspaceSize, limit: WorkspaceSize): boolean =>
  size.fileCount <= limit.fileCount && size.totalBytes <= limit.totalBytes;

/** The size of a tree after a change. */
export function sizeAfter({ fileCount, totalBytes }: WorkspaceSize, change: TreeChange): WorkspaceSize {
  const added = change.changed.filter(({ change: kind }) => kind === 'added').length;
  return {
    fileCount: fileCount + added - change.deletedPaths.length,
    totalBytes: totalBytes + change.grownBytes,
  };
}

/** Writes a change of a session's tree. */
export function* applyChange(tx: Transaction, sessionSeq: number, change: TreeChange): Step<void> {
  const { changed, deletedPaths, grownBytes } = change;
  yield* addSpaceIn(tx, sessionSeq, grownBytes);
  for (const path of deletedPaths) {
    yield* tx.run('DELETE FROM workspace_files WHERE session_seq = ? AND path = ?', sessionSeq, path);
  }
  for (const { path, size, sha256 } of changed) {
    yield* tx.run(
      `INSERT INTO workspace_files (session_seq, path, size, sha256) VALUES (?, ?, ?, ?)
       ON CONFLICT (session_seq, path) DO UPDATE SET size = excluded.size, sha256 = excluded.sha256`,
      sessionSeq,
      path,
      size,
      sha256,
    );
  }
}
