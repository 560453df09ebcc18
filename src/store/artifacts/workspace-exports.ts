// The export of a session's workspace, which is packed again after a run that changed it, unless it is small (E3).
import type { EventPayloads } from '../../domain/sessions/journal-event.ts';
import type { PackedArchive } from '../../domain/sessions/artifact.ts';
import type { Database } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { keepContents } from '../sessions/small-blobs.ts';
import type { WorkspaceSize } from './workspace-tree.ts';

/** The run after which a workspace is exported. */
interface ExportingRun {
  readonly seq: number;
  readonly id: string;
  readonly sessionSeq: number;
}

/**
 * The verbs that end a packing. Each names the run after which the packing began, and changes nothing once a later run has
 * changed the workspace.
 */
export function makeWorkspaceExports({ write }: Database) {
  return {
    /** pending → ready, unless a later run has changed the workspace meanwhile. Returns the archive it replaces. */
    finishExport: write(function* (
      tx: Transaction,
      sessionSeq: number,
      runSeq: number,
      archive: PackedArchive,
    ): Step<{ replacedKey: string | null } | undefined> {
      const old = yield* findPendingExport(tx, sessionSeq, runSeq);
      if (old === undefined) return undefined;
      yield* keepContents(tx, [archive.key], archive.contents);
      yield* tx.run(
        `UPDATE workspace_exports SET status = 'ready', archive_key = ?, archive_size = ?, archived_at = ?, error = NULL,
             updated_at = ? WHERE session_seq = ?`,
        archive.key,
        archive.size,
        tx.now,
        tx.now,
        sessionSeq,
      );
      const payload = { runId: old.id, fileCount: old.fileCount, archiveSize: archive.size };
      tx.emit(sessionSeq, null, { type: 'workspace_export.completed', payload });
      return { replacedKey: old.archiveKey === archive.key ? null : old.archiveKey };
    }),

    /** pending → failed, unless a later run has changed the workspace meanwhile. */
    failExport: write(function* (tx: Transaction, sessionSeq: number, runSeq: number, message: string): Step<boolean> {
      const old = yield* findPendingExport(tx, sessionSeq, runSeq);
      if (old === undefined) return false;
      yield* tx.run(
        "UPDATE workspace_exports SET status = 'failed', error = ?, updated_at = ? WHERE session_seq = ?",
        message,
        tx.now,
        sessionSeq,
      );
      tx.emit(sessionSeq, null, { type: 'workspace_export.failed', payload: { runId: old.id, message } });
      return true;
    }),
  };
}

interface ExportRow {
  id: string;
  fileCount: number;
  archiveKey: string | null;
}

function* findPendingExport(tx: Transaction, sessionSeq: number, runSeq: number): Step<ExportRow | undefined> {
  return yield* tx.get<ExportRow>(
    `SELECT r.id, e.file_count, e.archive_key FROM workspace_exports e JOIN runs r ON r.seq = e.run_seq
     WHERE e.session_seq = ? AND e.run_seq = ? AND e.status = 'pending'`,
    sessionSeq,
    runSeq,
  );
}

interface Exported extends WorkspaceSize {
  readonly hasChanged: boolean;
  readonly isSmall: boolean;
}

interface OldExport {
  readonly status: string;
  readonly stale: number;
  readonly fileCount: number;
  readonly archiveKey: string | null;
  readonly archiveSize: number | null;
}

/** `replacedKey`: an archive that is no longer of the workspace, when nothing replaces it yet. */
interface ExportMove {
  readonly isPending: boolean;
  readonly replacedKey: string | null;
}

/** Schedules another packing of the workspace, unless it is unchanged since the last one, or so small that it is packed on request. */
export function* exportIn(tx: Transaction, run: ExportingRun, exported: Exported): Step<ExportMove> {
  const old = yield* tx.get<OldExport>(
    'SELECT status, stale, file_count, archive_key, archive_size FROM workspace_exports WHERE session_seq = ?',
    run.sessionSeq,
  );
  const isSame = old?.status === 'ready' && old.stale === 0 && !exported.hasChanged;
  if (isSame) completeIn(tx, run, { fileCount: old.fileCount, archiveSize: old.archiveSize });
  if (isSame) return { isPending: false, replacedKey: null };
  const { fileCount, totalBytes, isSmall } = exported;
  yield* tx.run(
    `INSERT INTO workspace_exports (session_seq, run_seq, status, file_count, total_size, updated_at)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (session_seq) DO UPDATE SET run_seq = excluded.run_seq, status = excluded.status, stale = 0,
       error = NULL, file_count = excluded.file_count, total_size = excluded.total_size, updated_at = excluded.updated_at`,
    run.sessionSeq,
    run.seq,
    isSmall ? 'ready' : 'pending',
    fileCount,
    totalBytes,
    tx.now,
  );
  if (!isSmall) return { isPending: true, replacedKey: null };
  const removed = 'UPDATE workspace_exports SET archive_key = NULL, archive_size = NULL, archived_at = NULL';
  if (old !== undefined) yield* tx.run(`${removed} WHERE session_seq = ?`, run.sessionSeq);
  completeIn(tx, run, { fileCount, archiveSize: null });
  return { isPending: false, replacedKey: old?.archiveKey ?? null };
}

function completeIn(
  tx: Transaction,
  { id: runId, sessionSeq }: ExportingRun,
  archive: Omit<EventPayloads['workspace_export.completed'], 'runId'>,
): void {
  tx.emit(sessionSeq, null, { type: 'workspace_export.completed', payload: { runId, ...archive } });
}

/** The workspace could not be examined: its content is unknown. */
export function* failExportIn(tx: Transaction, run: ExportingRun, message: string): Step<void> {
  yield* tx.run(
    `INSERT INTO workspace_exports (session_seq, run_seq, status, file_count, total_size, error, updated_at)
     VALUES (?, ?, 'failed', 0, 0, ?, ?)
     ON CONFLICT (session_seq) DO UPDATE SET run_seq = excluded.run_seq, status = excluded.status,
       error = excluded.error, updated_at = excluded.updated_at`,
    run.sessionSeq,
    run.seq,
    message,
    tx.now,
  );
  tx.emit(run.sessionSeq, null, { type: 'workspace_export.failed', payload: { runId: run.id, message } });
}
