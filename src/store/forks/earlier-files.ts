// What the recorded files of a workspace were before a run replaced them: a fork may go back there (M2).
import { listed, MOST_LISTED } from '../engine/listed.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import type { FileVersion } from '../../domain/sessions/artifact.ts';
import type { Fence } from '../runs/fence.ts';

const keep = (marks: string) => `INSERT INTO earlier_files (session_seq, run_seq, path, size, sha256, since_run)
  SELECT session_seq, ?, path, size, sha256, since_run FROM workspace_files
  WHERE session_seq = ? AND path IN (${marks}) ON CONFLICT DO NOTHING`;

/** Keeps recorded files that are about to be replaced or removed: what a run replaces first, which was there before it. */
export function* keepEarlier(
  tx: Transaction,
  { sessionSeq, runSeq }: Omit<Fence, 'attempt'>,
  paths: readonly string[],
): Step<void> {
  for (let at = 0; at < paths.length; at += MOST_LISTED) {
    const { marks, values } = listed(paths.slice(at, at + MOST_LISTED));
    yield* tx.run(keep(marks), runSeq, sessionSeq, ...values);
  }
}

/** Files of a workspace as they were after a run. */
export interface EarlierPage {
  readonly files: readonly FileVersion[];
  /** Where the next page begins; null: there is none. */
  readonly next: EarlierPlace | null;
}

/** `afterRun` null: among the files of now, after a path; else among those that a run or later ones replaced, after a path of it. */
export interface EarlierPlace {
  readonly afterRun: number | null;
  readonly afterPath: string;
}

type NowRow = FileVersion & { readonly sinceRun: number | null };

const NOW = `SELECT path, size, sha256, since_run FROM workspace_files WHERE session_seq = ? AND path > ? ORDER BY path LIMIT ?`;
const NEXT_RUN = 'SELECT min(run_seq) AS run FROM earlier_files WHERE session_seq = ? AND run_seq >= ?';
const EARLIER = `SELECT path, size, sha256, since_run FROM earlier_files WHERE run_seq = ? AND path > ? ORDER BY path LIMIT ?`;

/**
 * Reads a page of at most so many: of the files of now, those that were there then, and then those that were replaced since. What is replaced
 * between two pages is found among the latter, so that all pages together are of one moment.
 */
export function* filesAfterRun(
  tx: Reader,
  { sessionSeq, atRun }: { readonly sessionSeq: number; readonly atRun: number },
  { afterRun, afterPath }: EarlierPlace,
  most: number,
): Step<EarlierPage> {
  const wasThere = ({ sinceRun }: NowRow) => (sinceRun ?? 0) <= atRun;
  if (afterRun === null) {
    const rows = yield* tx.all<NowRow>(NOW, sessionSeq, afterPath, most);
    const next =
      rows.length < most ? { afterRun: atRun + 1, afterPath: '' } : { afterRun, afterPath: rows.at(-1)!.path };
    return { files: rows.filter(wasThere), next };
  }
  const files: NowRow[] = [];
  let [run, path, left] = [afterRun, afterPath, most];
  for (;;) {
    const next: number | null = (yield* tx.get<{ run: number | null }>(NEXT_RUN, sessionSeq, run))!.run;
    if (next === null) return { files, next };
    const rows = yield* tx.all<NowRow>(EARLIER, next, next === run ? path : '', left);
    files.push(...rows.filter(wasThere));
    if (rows.length === left) return { files, next: { afterRun: next, afterPath: rows.at(-1)!.path } };
    [run, path, left] = [next + 1, '', left - rows.length];
  }
}
