// Checks of a SQLite database: its log, its free space, and its copies from before upgrades.
import { statSync } from 'node:fs';
import path from 'node:path';
import { MB } from '../../domain/byte-units.ts';
import { isoTime } from '../../domain/clock.ts';
import { readersOf, wordsOfReaders } from '../../store/engine/sqlite/file/log-readers.ts';
import { listUpgradeCopies } from '../../store/engine/sqlite/file/upgrade-copies.ts';
import { inMegabytes } from '../../terminal/sizes.ts';
import { type Check, ok, skipped, warning } from '../check.ts';
import { byHand } from '../remedies.ts';

const DAY_MS = 86_400_000;
const LARGE_LOG_BYTES = 64 * MB;
/** So much of a file being free is worth giving back. */
const MANY_FREE = 0.25;
const MANY_FREE_BYTES = 64 * MB;

const writeAheadLog: Check = {
  id: 'wal',
  engine: 'sqlite',
  title: 'The write-ahead log',
  examine: ({ locations: { dataDir } }) => {
    const file = path.join(dataDir, 'errand.db');
    const size = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (size < LARGE_LOG_BYTES) return ok(inMegabytes(size));
    const readers = readersOf(file);
    const evidence = `${inMegabytes(size)}: ${wordsOfReaders(readers, process.pid)}`;
    const others = readers.filter(({ pid }) => pid !== process.pid);
    const look = others.length === 0 ? `fuser -v ${file}` : `ps -f ${others.map(({ pid }) => pid).join(' ')}`;
    return warning(evidence, byHand(`${look} names the processes that read it; end the one that is not the daemon`));
  },
};

const freePages: Check = {
  id: 'free_pages',
  engine: 'sqlite',
  title: 'Space that the database could give back',
  examine: async ({ scan }) => {
    const seen = await scan();
    if (!seen.ok) return skipped('the database could not be read');
    const { bytes, freeBytes } = seen.database.figures;
    const words = `${inMegabytes(freeBytes)} of ${inMegabytes(bytes)}`;
    if (freeBytes < MANY_FREE_BYTES || freeBytes / bytes < MANY_FREE) return ok(words);
    return warning(words, 'errand gc');
  },
};

const upgradeCopies: Check = {
  id: 'upgrade_copies',
  engine: 'sqlite',
  title: 'Copies of the database from before upgrades',
  examine: ({ locations: { dataDir }, settings }) => {
    const copies = listUpgradeCopies(dataDir);
    if (copies.length === 0) return ok('there are none');
    const { upgradeCopiesDays: days } = settings().retention;
    const words = copies.map(({ file, bytes, madeAt }) => {
      const until = days === 0 ? 'kept' : `kept until ${isoTime(madeAt + days * DAY_MS)}`;
      return `${path.basename(file)}, ${inMegabytes(bytes)}, ${until}`;
    });
    return ok(words.join('; '));
  },
};

export const SQLITE_CHECKS: readonly Check[] = [writeAheadLog, freePages, upgradeCopies];
