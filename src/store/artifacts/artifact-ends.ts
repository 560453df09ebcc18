// How the artifacts of an ended run come to their end: ready with an archive, or failed (§3.2, E4).
import type { PackedArchive, ArtifactError, ArtifactStatus } from '../../domain/sessions/artifact.ts';
import type { EventPayloads } from '../../domain/sessions/journal-event.ts';
import type { RunError, RunStatus } from '../../domain/sessions/run.ts';
import { ENDED } from './artifact-queue.ts';
import type { Database } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { keepContents } from '../sessions/small-blobs.ts';
import type { OfHere } from '../sessions/workspaces-here.ts';

/** The verbs. Every move starts from `pending`, so each is made once; those that come too late change nothing. */
export function makeArtifactEnds({ write }: Database) {
  return {
    /** pending → ready, with the archive of the run's files. */
    finishArtifacts: write(function* (tx: Transaction, runSeq: number, archive: PackedArchive): Step<boolean> {
      const run = yield* findEnded(tx, runSeq);
      if (run === undefined) return false;
      yield* keepContents(tx, [archive.key], archive.contents);
      yield* tx.run(
        'UPDATE run_artifacts SET archive_key = ?, archive_size = ?, archived_at = ? WHERE run_seq = ?',
        archive.key,
        archive.size,
        tx.now,
        runSeq,
      );
      const count = (yield* tx.get<FileCount>(
        'SELECT file_count, total_size FROM run_artifacts WHERE run_seq = ?',
        runSeq,
      ))!;
      yield* readyIn(tx, run, count);
      return true;
    }),

    /** pending → failed: the run's files are known, but could not be packed. */
    failArtifacts: write(function* (tx: Transaction, runSeq: number, message: string): Step<boolean> {
      const run = yield* findEnded(tx, runSeq);
      if (run !== undefined) yield* failIn(tx, run, { type: 'api_error', message });
      return run !== undefined;
    }),
  };
}

type FileCount = Pick<EventPayloads['artifacts.ready'], 'fileCount' | 'totalSize'>;

/** An ended run whose artifacts are pending. */
export interface EndedRun {
  seq: number;
  id: string;
  sessionSeq: number;
  status: RunStatus;
  error: string | null;
}

/** The run, if its artifacts are pending. */
export function* findEnded(
  tx: Transaction,
  runSeq: number,
  { sql, values }: OfHere = { sql: '', values: [] },
): Step<EndedRun | undefined> {
  return yield* tx.get<EndedRun>(
    `SELECT seq, id, session_seq, status, error FROM runs WHERE seq = ? AND ${ENDED} ${sql}`,
    runSeq,
    ...values,
  );
}

/** Why a run that did not complete has no artifacts, given its error as stored in its row. */
export function errorOfRun(status: RunStatus, error: string | null): ArtifactError {
  if (status === 'canceled') return { type: 'canceled_error', message: 'The run was stopped.' };
  if (error === null) return { type: 'api_error', message: 'The run failed.' };
  const { type, message } = JSON.parse(error) as RunError;
  return { type, message: `The run failed: ${message}` };
}

function* moveIn(tx: Transaction, runSeq: number, status: ArtifactStatus): Step<void> {
  yield* tx.run("UPDATE runs SET artifact_status = ? WHERE seq = ? AND artifact_status = 'pending'", status, runSeq);
}

/** pending → ready. */
export function* readyIn(tx: Transaction, run: EndedRun, count: FileCount): Step<void> {
  yield* moveIn(tx, run.seq, 'ready');
  tx.emit(run.sessionSeq, null, { type: 'artifacts.ready', payload: { runId: run.id, ...count } });
}

/** pending → failed. */
export function* failIn(tx: Transaction, run: EndedRun, error: ArtifactError): Step<void> {
  yield* moveIn(tx, run.seq, 'failed');
  yield* tx.run(
    `INSERT INTO run_artifacts (run_seq, file_count, total_size, skipped, error, created_at) VALUES (?, 0, 0, '{}', ?, ?)
     ON CONFLICT (run_seq) DO UPDATE SET error = excluded.error`,
    run.seq,
    JSON.stringify(error),
    tx.now,
  );
  tx.emit(run.sessionSeq, null, { type: 'artifacts.failed', payload: { runId: run.id, message: error.message } });
}
