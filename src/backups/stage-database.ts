// Copies the database to a file of its own, which the rest of a backup is made of.
import { statSync } from 'node:fs';
import { MB } from '../domain/byte-units.ts';
import { copySnapshot } from '../store/copies/copy-snapshot.ts';
import { leaveOutArchives } from '../store/copies/leave-out-archives.ts';
import { copyDatabase } from '../store/engine/sqlite/file/copy.ts';
import { locationOf } from '../store/location.ts';
import type { Pace } from './pace.ts';
import type { BackupTask } from './thread-messages.ts';

/** From this size of the write-ahead log on, the copy of the database isn't held up any more. */
const LARGE_LOG_BYTES = 64 * MB;

const logBytesOf = (file: string) => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;

/** Copies one moment of it: an SQLite file of either engine's rows, without archives. `step`: after each part of it. */
export async function stageDatabase(
  reference: BackupTask['database'],
  staged: string,
  pace: Pace,
  step: (done: number, total: number) => void,
): Promise<void> {
  const database = locationOf(reference);
  if (database.kind === 'postgres')
    await copySnapshot(database.address, staged, async (done, total) => {
      step(done, total);
      await pace.rest();
    });
  else
    await copyDatabase(database.file, staged, (done, total) => {
      step(done, total);
      // The log of the daemon grows for as long as this takes.
      pace.restHere(logBytesOf(database.file) < LARGE_LOG_BYTES ? undefined : 0);
    });
  leaveOutArchives(staged);
}
