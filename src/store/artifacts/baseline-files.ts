// What files were before a run, of those that were recorded in its midst: what a run has changed is told from these (E5).
import type { FileChange, FileVersion } from '../../domain/sessions/artifact.ts';
import { listed, MOST_LISTED } from '../engine/listed.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { filesAt } from './files-at.ts';
import type { Fence } from '../runs/fence.ts';

type Changed = FileVersion & { readonly change: FileChange };
type Named = Pick<FileVersion, 'path'>;

/** Against what is recorded. */
interface Change {
  readonly changed: readonly Changed[];
  readonly deletedPaths: readonly string[];
}

/** As a look has found it. */
interface Found {
  readonly files: readonly Named[];
  readonly gone?: readonly string[] | undefined;
}

const NOTE = `INSERT INTO baseline_files (run_seq, path, sha256)
  VALUES (?, ?, (SELECT sha256 FROM workspace_files WHERE session_seq = ? AND path = ?)) ON CONFLICT DO NOTHING`;

/** Notes what files were before a change of a run is recorded. What was noted first stays: it was before the run. */
export function* noteBefore(
  tx: Transaction,
  { sessionSeq, runSeq }: Pick<Fence, 'sessionSeq' | 'runSeq'>,
  { changed, deletedPaths }: Change,
): Step<void> {
  for (const path of [...changed.map((one) => one.path), ...deletedPaths])
    yield* tx.run(NOTE, runSeq, path, sessionSeq, path);
}

/** A change against what is recorded, as one against what was before the run. */
export function* sinceBaseline(tx: Reader, runSeq: number, changed: readonly Changed[]): Step<Changed[]> {
  const before = new Map<string, string | null>();
  for (let at = 0; at < changed.length; at += MOST_LISTED) {
    const { marks, values } = listed(changed.slice(at, at + MOST_LISTED).map(({ path }) => path));
    const sql = `SELECT path, sha256 FROM baseline_files WHERE run_seq = ? AND path IN (${marks})`;
    for (const { path, sha256 } of yield* tx.all<{ path: string; sha256: string | null }>(sql, runSeq, ...values))
      before.set(path, sha256);
  }
  return changed.flatMap((one) => {
    const sha256 = before.get(one.path);
    if (sha256 === undefined) return [one];
    if (sha256 === one.sha256) return [];
    return [{ ...one, change: sha256 === null ? 'added' : 'modified' }];
  });
}

/** A part of what a run had changed when its workspace was recorded, as that is recorded now. */
export interface KeptChanges {
  /** Whether anything was recorded. */
  readonly isAny: boolean;
  readonly changed: readonly Changed[];
  /** The path after which the next part begins; null: there is none. */
  readonly next: string | null;
}

/** Paths after one, up to so many. */
export interface KeptPart {
  readonly after: string;
  readonly most: number;
}

/** Reads a part. */
export function* keptChanges(
  tx: Reader,
  run: { readonly seq: number; readonly sessionSeq: number },
  { after, most }: KeptPart,
): Step<KeptChanges> {
  const rows = yield* tx.all<Named & { readonly sha256: string | null }>(
    'SELECT path, sha256 FROM baseline_files WHERE run_seq = ? AND path > ? ORDER BY path LIMIT ?',
    run.seq,
    after,
    most,
  );
  const files = yield* filesAt(
    tx,
    run.sessionSeq,
    rows.map(({ path }) => path),
  );
  const changed = rows.flatMap(({ path, sha256 }): Changed[] => {
    const file = files.get(path);
    if (file === undefined || file.sha256 === sha256) return [];
    return [{ ...file, change: sha256 === null ? 'added' : 'modified' }];
  });
  return { isAny: rows.length > 0, changed, next: rows.length < most ? null : rows.at(-1)!.path };
}

export const NOTHING_KEPT: KeptChanges = { isAny: false, changed: [], next: null };

/** All that a look has found to differ. */
export const pathsOf = ({ files, gone = [] }: Found): ReadonlySet<string> =>
  new Set([...files.map(({ path }) => path), ...gone]);

interface OwnParts {
  readonly found: Found;
  readonly change: Change;
  readonly kept: KeptChanges;
}

/** What a run has changed since its baseline: what its look has found, and what was recorded of it in its midst. */
export function* ownOf(tx: Reader, runSeq: number, { found, change, kept }: OwnParts): Step<readonly Changed[]> {
  if (!kept.isAny) return change.changed;
  const besides = pathsOf(found);
  const since = yield* sinceBaseline(tx, runSeq, change.changed);
  return [...since, ...kept.changed.filter(({ path }) => !besides.has(path))];
}

/** Forgets up to so many. Returns how many it were. */
export function forgetBefore(tx: Transaction, runSeq: number, most: number): Step<number> {
  return tx.count('DELETE FROM baseline_files WHERE run_seq = ? LIMIT ?', runSeq, most);
}
