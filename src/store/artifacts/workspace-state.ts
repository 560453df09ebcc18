// What is known of the recorded files of a session's workspace: how many there are, which look found them, and how far they are written.
import type { Reader, Step, Transaction } from '../engine/statement.ts';

/**
 * `baseline`: the tree is being written before a run. `own`: the run's own files are. `tree`: its own files are all there, and the tree
 * is being written. A crash may leave each of them.
 */
export type RecordingStep = 'baseline' | 'own' | 'tree';

export interface WorkspaceState {
  /** Names the look whose files are recorded; null while no look's are known to be. */
  readonly token: string | null;
  readonly fileCount: number;
  readonly totalBytes: number;
  /** What is being written, of which run; null: nothing. */
  readonly step: RecordingStep | null;
  readonly runSeq: number | null;
  /** The run's own files so far. */
  readonly ownCount: number;
  readonly ownBytes: number;
  /** The moment that the files are of: of a run, its end; null: it isn't known. */
  readonly asOfRun: number | null;
  /** After which step of it; 0: before its first change. Null: after its end. */
  readonly asOfStep: number | null;
  /** From the end of which run on its files are known; 0: always, null: they aren't. */
  readonly keptFrom: number | null;
}

const AT_REST = { step: null, runSeq: null, ownCount: 0, ownBytes: 0 } as const;

/** The state of a session's workspace. What isn't known yet is counted. */
export function* stateOf(tx: Reader, sessionSeq: number): Step<WorkspaceState> {
  const totalBytes = (yield* tx.get<{ bytes: number }>(
    'SELECT workspace_bytes AS bytes FROM session_totals WHERE session_seq = ?',
    sessionSeq,
  ))?.bytes;
  const known = yield* tx.get<Omit<WorkspaceState, 'totalBytes'>>(
    `SELECT token, file_count, step, run_seq, own_count, own_bytes, as_of_run, as_of_step, kept_from
     FROM workspaces WHERE session_seq = ?`,
    sessionSeq,
  );
  if (known !== undefined) return { ...known, totalBytes: totalBytes ?? 0 };
  const { fileCount, isNew } = (yield* tx.get<{ fileCount: number; isNew: number }>(UNKNOWN, sessionSeq, sessionSeq))!;
  const keptFrom = fileCount === 0 && isNew === 1 ? 0 : null;
  return { ...AT_REST, token: null, fileCount, totalBytes: totalBytes ?? 0, asOfRun: null, asOfStep: null, keptFrom };
}

const UNKNOWN = `SELECT (SELECT count(*) FROM workspace_files WHERE session_seq = ?) AS fileCount, workspace_removed_at IS NULL AS isNew
  FROM sessions WHERE seq = ?`;

/** Its bytes are those that its files have been counted with. */
export function* saveState(tx: Transaction, sessionSeq: number, state: Omit<WorkspaceState, 'totalBytes'>): Step<void> {
  yield* tx.run(
    `INSERT INTO workspaces
       (session_seq, token, file_count, step, run_seq, own_count, own_bytes, as_of_run, as_of_step, kept_from)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (session_seq) DO UPDATE SET token = excluded.token, file_count = excluded.file_count, step = excluded.step,
       run_seq = excluded.run_seq, own_count = excluded.own_count, own_bytes = excluded.own_bytes,
       as_of_run = excluded.as_of_run, as_of_step = excluded.as_of_step, kept_from = excluded.kept_from`,
    sessionSeq,
    state.token,
    state.fileCount,
    state.step,
    state.runSeq,
    state.ownCount,
    state.ownBytes,
    state.asOfRun,
    state.asOfStep,
    state.keptFrom,
  );
}

/** What a workspace with a state has besides its files; undefined: it is as recorded. */
export function* keepExtras(tx: Transaction, sessionSeq: number, extras: string | null | undefined): Step<void> {
  if (extras !== undefined) yield* tx.run('UPDATE workspaces SET extras = ? WHERE session_seq = ?', extras, sessionSeq);
}

/** Nothing is being written any more; the files are those of a look. */
export const atRest = ({ fileCount, asOfRun, asOfStep, keptFrom }: WorkspaceState, token: string | null) => ({
  ...AT_REST,
  fileCount,
  token,
  asOfRun,
  asOfStep,
  keptFrom,
});

/** The same, where it isn't known what the run has left: what it was after a run isn't either. */
export const atRestUnknown = (state: WorkspaceState, token: string | null) => ({
  ...atRest(state, token),
  keptFrom: null,
});

/** All is written: the files are those of a look at a moment of a run. */
export const recordedAt = (state: WorkspaceState, token: string | null, run: number, step: number | null) => ({
  ...atRest(state, token),
  asOfRun: run,
  asOfStep: step,
  keptFrom: state.keptFrom ?? (step === null ? run : null),
});

/** The newest recorded step of a run; 0 while there is none. */
export function* newestStep(tx: Reader, runSeq: number): Step<number> {
  const sql = 'SELECT coalesce(max(step), 0) AS step FROM steps WHERE run_seq = ?';
  return (yield* tx.get<{ step: number }>(sql, runSeq))!.step;
}

/** Until when what a workspace had is recorded, before a run goes on there: until the end of a run, or after a step of it. */
export function knownUntil(
  { fileCount, asOfRun, asOfStep }: WorkspaceState,
  { runSeq }: { readonly runSeq: number },
): { readonly run: number; readonly step: number } {
  // Files that an earlier version has recorded are of an unknown moment before the run.
  if (asOfRun === null) return { run: fileCount > 0 ? runSeq : 0, step: 0 };
  return { run: asOfRun, step: asOfStep ?? Number.MAX_SAFE_INTEGER };
}
