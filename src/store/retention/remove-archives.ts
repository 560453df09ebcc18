// Removes archives, which can be packed again from the files that they were made of.
import { type Database, FREES } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import type { Batch, Removed } from './batch.ts';
import { type Amount, MAX_COUNTED } from './estimate.ts';

/** A row of each of these may have an archive; `isAtRest`: nobody packs it now. */
const TABLES = [
  {
    table: 'run_artifacts',
    key: 'run_seq',
    isAtRest: "EXISTS (SELECT 1 FROM runs r WHERE r.seq = run_seq AND r.artifact_status <> 'pending')",
  },
  { table: 'workspace_exports', key: 'session_seq', isAtRest: "status <> 'pending'" },
] as const;
/** A row that loses its archive changes two indexes and notes a blob. */
const WEIGHT = 4;

const oldOf = (table: string) =>
  `FROM ${table} WHERE archive_key IS NOT NULL AND archived_at < ? ORDER BY archived_at LIMIT ?`;

/** The verbs. */
export function makeRemoveArchives({ read, write }: Database) {
  return {
    /** Removes archives that were packed before a moment. Their blobs are removed by the list of `publish_removals`. */
    archives: write(function* (tx: Transaction, before: number, batch: Batch): Step<Removed> {
      let rows = 0;
      for (const { table, key, isAtRest } of TABLES) {
        for (;;) {
          const room = batch.room(WEIGHT);
          if (room === 0) return { rows, more: true };
          const old = yield* tx.all<{ id: number; blob: string; rests: number }>(
            `SELECT ${key} AS id, archive_key AS blob, ${isAtRest} AS rests ${oldOf(table)}`,
            before,
            room,
          );
          const resting = old.filter(({ rests }) => rests === 1);
          for (const { id, blob } of resting) {
            yield* tx.run(`UPDATE ${table} SET archive_key = NULL, archived_at = NULL WHERE ${key} = ?`, id);
            yield* tx.run('INSERT INTO publish_removals (sha256) VALUES (?) ON CONFLICT DO NOTHING', blob);
          }
          rows += resting.length;
          if (old.length < room || resting.length === 0) break;
        }
      }
      return { rows, more: false };
    }, FREES),

    countArchives: read(function* (tx: Reader, before: number): Step<Amount> {
      let [rows, bytes, isAtLeast] = [0, 0, false];
      for (const { table } of TABLES) {
        const found = (yield* tx.get<{ rows: number; bytes: number }>(
          `SELECT count(*) AS rows, coalesce(sum(archive_size), 0) AS bytes FROM (SELECT archive_size ${oldOf(table)})`,
          before,
          MAX_COUNTED,
        ))!;
        rows += found.rows;
        bytes += found.bytes;
        isAtLeast ||= found.rows === MAX_COUNTED;
      }
      return { rows, bytes, isAtLeast };
    }),
  };
}
