// Archives that are packed when they are asked for: small ones for the first time, and those that were removed by age.
import type { Archive, PackedArchive, ArchiveRequest } from '../../domain/sessions/artifact.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import type { Packing } from './artifact-queue.ts';
import { keepContents } from '../sessions/small-blobs.ts';
import { isWithin, type WorkspaceSize } from './workspace-tree.ts';

/** An archive that someone asks for: there, or to be packed. `large`: it takes too long to wait for. */
export type Requested =
  | { readonly archive: Archive }
  | { readonly packing: Packing }
  | { readonly large: Required<ArchiveRequest> };

interface Row extends Omit<Packing, 'kind'>, WorkspaceSize {
  readonly key: string | null;
  readonly size: number | null;
}

const COLUMNS = `r.seq AS runSeq, r.id AS runId, s.id AS sessionId, a.file_count, a.total_size AS totalBytes,
  a.archive_key AS key, a.archive_size AS size`;
/** Of what is ready, is not being written, and is of no deleted session. */
const READY: Readonly<Record<ArchiveRequest['kind'], string>> = {
  run: `SELECT ${COLUMNS}, NULL AS token FROM run_artifacts a JOIN runs r ON r.seq = a.run_seq JOIN sessions s ON s.seq = r.session_seq
    WHERE a.run_seq = ? AND r.artifact_status = 'ready' AND s.deleted_at IS NULL`,
  workspace: `SELECT ${COLUMNS}, w.token FROM workspace_exports a JOIN runs r ON r.seq = a.run_seq
      JOIN sessions s ON s.seq = a.session_seq LEFT JOIN workspaces w ON w.session_seq = a.session_seq
    WHERE a.session_seq = ? AND a.status = 'ready' AND s.deleted_at IS NULL AND w.step IS NULL`,
};
const KEEP: Readonly<Record<ArchiveRequest['kind'], string>> = {
  run: 'UPDATE run_artifacts SET archive_key = ?, archive_size = ?, archived_at = ? WHERE run_seq = ?',
  workspace: 'UPDATE workspace_exports SET archive_key = ?, archive_size = ?, archived_at = ? WHERE session_seq = ?',
};

/** The verbs. */
export function makeRequestedArchives({ read, write }: Database) {
  return {
    /** An archive, or what it is made of. Undefined while it isn't ready, and when the workspace is of another run. */
    findRequested: read(function* (
      tx: Reader,
      { kind, seq, runSeq: wanted }: ArchiveRequest,
      limit: WorkspaceSize,
    ): Step<Requested | undefined> {
      const row = yield* tx.get<Row>(READY[kind], seq);
      if (row === undefined) return undefined;
      const { key, size, runSeq, runId, sessionId, token } = row;
      if (wanted !== undefined && wanted !== runSeq) return undefined;
      if (key !== null && size !== null) return { archive: { key, size } };
      if (!isWithin(row, limit)) return { large: { kind, seq, runSeq } };
      return { packing: { kind, runSeq, runId, sessionId, token } };
    }),

    /** Records an archive that was packed on request, unless the files have changed meanwhile. */
    keepRequested: write(function* (
      tx: Transaction,
      { kind, seq }: ArchiveRequest,
      runSeq: number,
      archive: PackedArchive,
    ): Step<boolean> {
      const row = yield* tx.get<Row>(READY[kind], seq);
      if (row === undefined || row.key !== null || row.runSeq !== runSeq) return false;
      yield* keepContents(tx, [archive.key], archive.contents);
      yield* tx.run(KEEP[kind], archive.key, archive.size, tx.now, seq);
      return true;
    }),

    /** ready → pending: the collector packs it. Changes nothing when the archive is there, or is being packed. */
    packWorkspaceAgain: write(function* (tx: Transaction, sessionSeq: number): Step<void> {
      yield* tx.run(
        `UPDATE workspace_exports SET status = 'pending'
         WHERE session_seq = ? AND status = 'ready' AND archive_key IS NULL AND file_count > 0`,
        sessionSeq,
      );
    }),

    /** As `packWorkspaceAgain`. */
    packRunAgain: write(function* (tx: Transaction, runSeq: number): Step<void> {
      yield* tx.run(
        `UPDATE runs SET artifact_status = 'pending' WHERE seq = ? AND artifact_status = 'ready'
           AND EXISTS (SELECT 1 FROM run_artifacts WHERE run_seq = runs.seq AND archive_key IS NULL AND file_count > 0)`,
        runSeq,
      );
    }),
  };
}
