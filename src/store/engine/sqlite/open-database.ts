// The SQLite file as an engine: one connection, one transaction per tick for all its writers.
import type Connection from 'better-sqlite3';
import { MB } from '../../../domain/byte-units.ts';
import type { Clock } from '../../../domain/clock.ts';
import type { JournalEvent } from '../../../domain/sessions/journal-event.ts';
import { type Database, NO_ALARMS, type StoreAlarms } from '../database.ts';
import { READER, type Reader, type Step, type Transaction } from '../statement.ts';
import { makeWriteAll } from '../write-all.ts';
import { makeCheckpoints } from './checkpoints.ts';
import { type GroupCommit, makeGroupCommit } from './commits/group-commit.ts';
import { type LogSync, openLogSync } from './commits/log-sync.ts';
import { cacheStatements, carryOut, type Statements } from './execute.ts';
import { openFile } from './file/connection.ts';
import { readersOf, wordsOfReaders } from './file/log-readers.ts';
import { NO_RESERVE, type Reserve } from './file/reserve.ts';
import { type Health, makeHealth } from './health.ts';
import { makeStreamSeqs } from './journal.ts';
import { figuresOf, giveBackIn } from './space.ts';
import { isLocked, refusalOf } from './storage-fault.ts';

/** With `NORMAL`, SQLite writes each commit to the log, and syncs the log itself only around checkpoints. */
function syncInBackground(writer: Connection.Database, file: string, clock: Clock): LogSync {
  const logSync = openLogSync(file, clock);
  writer.pragma('synchronous = NORMAL');
  return logSync;
}

/** A verb without a statement. */
// oxlint-disable-next-line require-yield
function* nothing(): Step<void> {
  // Its commit is all that is of interest.
}

export interface DatabaseOptions {
  readonly alarms?: StoreAlarms;
  readonly reserve?: Reserve;
  /** Whether the disk syncs a commit while the event loop turns, when verbs of it settle before. */
  readonly syncsInBackground?: boolean;
}

/**
 * Opens, and creates or migrates, the database file. Errors of SQLite are passed on unchanged: see `explainToOperator`.
 */
export function openDatabase(
  file: string,
  clock: Clock,
  { alarms = NO_ALARMS, reserve = NO_RESERVE, syncsInBackground = false }: DatabaseOptions = {},
): Database {
  const writer = openFile(file, alarms.migrating);
  // Its own clock is this machine's.
  writer.function('database_now', () => clock.now());
  const logSync = syncsInBackground ? syncInBackground(writer, file, clock) : null;
  const statements = cacheStatements(writer);
  const health = makeHealth(file, alarms);
  const checkpoints = makeCheckpoints({
    connection: writer,
    clock,
    // Pages that another process holds back now are moved later.
    failed: (error) => void (isLocked(error) || health.failed(error)),
    held: (bytes) => alarms.burdened(`the database works, but ${wordsOfHeld(file, bytes)}`),
  });
  const listeners: ((events: readonly JournalEvent[]) => void)[] = [];
  const commits = makeGroupCommit({
    writer,
    statements,
    clock,
    streamSeqs: makeStreamSeqs(statements),
    health,
    reserve,
    logSync,
    makeRoom: checkpoints.makeRoom,
    committed: (events) => {
      checkpoints.committed();
      if (events.length > 0) for (const listener of listeners) listener(events);
    },
  });
  const read = makeRead({ statements, health, commits, refusesLost: logSync !== null });
  let closed: Promise<void> | undefined;

  async function close(): Promise<void> {
    await commits.end();
    checkpoints.stop();
    writer.close();
    logSync?.close();
  }

  return {
    peers: null,
    write:
      (verb, { frees = false, waitsFor = 'durable' } = {}) =>
      (...args) =>
        commits.write((tx) => verb(tx, ...args), frees, waitsFor),
    writeAll: (verb, options = {}) => makeWriteAll(sharedBy(commits), verb, options),
    read,
    answered: () => commits.write(nothing, true, 'durable'),
    durable: read(nothing),
    fault: health.fault,
    burden: () => burdenOf(file, checkpoints.heldBytes()),
    figures: read((tx: Reader) => figuresOf(tx, file), 'committed'),
    giveBack: (batch) => commits.write((tx) => giveBackIn(tx, batch), true, 'durable'),
    onCommitted: (listener) => void listeners.push(listener),
    watchCommits: commits.watch,
    close: () => (closed ??= close()),
  };
}

/** What calls that share a commit need of it. */
const sharedBy = ({ write, join }: GroupCommit) => ({
  write: <Result>(verb: (tx: Transaction) => Step<Result>) => write(verb, false, 'durable'),
  join,
});

interface Reading {
  readonly statements: Statements;
  readonly health: Health;
  readonly commits: Pick<GroupCommit, 'syncing'>;
  /** After a failed sync, what can be read may not be on the disk. */
  readonly refusesLost: boolean;
}

function makeRead({ statements, health, commits, refusesLost }: Reading): Database['read'] {
  return (verb, waitsFor = 'durable') =>
    async (...args) => {
      if (waitsFor === 'durable')
        for (let sync = commits.syncing(); sync !== undefined; sync = commits.syncing()) await sync;
      try {
        if (refusesLost && health.lost() !== undefined) throw health.lost();
        return carryOut(statements, verb(READER, ...args));
      } catch (error) {
        health.failed(error);
        throw refusalOf(error);
      }
    };
}

/** The size of a log that can't restart, and the processes that keep it from that. */
const burdenOf = (file: string, heldBytes: number | null) => (heldBytes === null ? null : wordsOfHeld(file, heldBytes));

function wordsOfHeld(file: string, heldBytes: number): string {
  const readers = wordsOfReaders(readersOf(file), process.pid);
  return `its write-ahead log has grown to ${Math.round(heldBytes / MB)} MB: ${readers}`;
}
