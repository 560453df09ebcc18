// The SQLite file: one connection, one transaction per tick for all its writers.
import type Connection from 'better-sqlite3';
import type { Clock } from '../../domain/clock.ts';
import type { JournalEvent } from '../../domain/journal-event.ts';
import { makeCheckpoints } from './checkpoints.ts';
import { openFile } from './connection.ts';
import type { SettleMoment, VerbKind } from './commits/commit.ts';
import { type GroupCommit, makeGroupCommit } from './commits/group-commit.ts';
import { makeStreamSeqs } from './journal.ts';
import { type Health, makeHealth, NO_ALARMS, type StoreAlarms } from './health.ts';
import type { CommitWatch } from './commits/keep-batch.ts';
import { type LogSync, openLogSync } from './commits/log-sync.ts';
import { NO_RESERVE, type Reserve } from './reserve.ts';
import { cacheStatements, carryOut, type Statements } from './sqlite.ts';
import { READER, type Reader, type Step, type Transaction } from './statement.ts';
import { isLocked, refusalOf } from './storage-fault.ts';

/**
 * A verb as callers of the store call it. Made once, with the store: creating a generator function costs as much as a query,
 * and its garbage survives the next collection.
 */
export type Verb<Args extends readonly unknown[], Result> = (...args: Args) => Promise<Result>;

/** The interface to the engine (design: only `Database` and `BlobStore` may have a second implementation). */
export interface Database {
  /**
   * Makes a verb from a generator. A call resolves after its commit is on disk. It rejects, without affecting other verbs,
   * when the generator throws, and with `unavailable` when the disk refuses or another process locks the file for too long.
   * The generator may be run twice, when another verb of its commit throws: only its transaction may have effects.
   */
  write<Args extends readonly unknown[], Result>(
    verb: (tx: Transaction, ...args: Args) => Step<Result>,
    kind?: VerbKind,
    moment?: SettleMoment,
  ): Verb<Args, Result>;
  /**
   * Makes a verb whose calls share what they cost: the generator gets those that come one after another, with no other verb between
   * them, and returns their results in order. When it throws, all of them reject. `sizeOf` tells how much work an item is, in characters:
   * so many share their costs as have `MOST_SHARED` together.
   */
  writeAll<Item, Result>(
    verb: (tx: Transaction, items: readonly Item[]) => Step<readonly Result[]>,
    sizeOf?: (item: Item) => number,
  ): Verb<[item: Item], Result>;
  /**
   * Makes a verb that only reads. It sees a snapshot of rows that are on the disk, for which it waits if need be. With `written`,
   * it doesn't wait. Rejects with `unavailable` when the disk refuses.
   */
  read<Args extends readonly unknown[], Result>(
    verb: (tx: Reader, ...args: Args) => Step<Result>,
    moment?: SettleMoment,
  ): Verb<Args, Result>;
  /** Resolves when the writer has come to a request that changes nothing; rejects when it refuses it. */
  answered(): Promise<void>;
  /** Resolves when all that was committed is on the disk. Rejects with `unavailable` when the disk refuses. */
  kept(): Promise<void>;
  /** What is wrong with the storage, in a message without paths; null once a commit has succeeded again. */
  fault(): string | null;
  /** Bytes of the write-ahead log while another process keeps it from restarting; null otherwise. */
  heldLogBytes(): number | null;
  /** Called after each commit with its events, in order. */
  onCommitted(listener: (events: readonly JournalEvent[]) => void): void;
  /** Has every commit from now on reported to the watch. */
  watchCommits(watch: CommitWatch): void;
  close(): Promise<void>;
}

/** With `NORMAL`, SQLite writes each commit to the log, and syncs the log itself only around checkpoints. */
function syncBeside(writer: Connection.Database, file: string, clock: Clock): LogSync {
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
  readonly syncsBeside?: boolean;
}

/**
 * Opens (and creates, and migrates) the database file. Errors of SQLite are passed on unchanged: see `explainToOperator`.
 */
export function openDatabase(
  file: string,
  clock: Clock,
  { alarms = NO_ALARMS, reserve = NO_RESERVE, syncsBeside = false }: DatabaseOptions = {},
): Database {
  const writer = openFile(file, alarms.migrating);
  const logSync = syncsBeside ? syncBeside(writer, file, clock) : null;
  const statements = cacheStatements(writer);
  const health = makeHealth(file, alarms);
  const checkpoints = makeCheckpoints({
    connection: writer,
    clock,
    // Pages that another process holds back now are moved later.
    failed: (error) => void (isLocked(error) || health.failed(error)),
    held: alarms.held,
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
    write:
      (verb, kind = 'keep', moment = 'kept') =>
      (...args) =>
        commits.write((tx) => verb(tx, ...args), kind, moment),
    writeAll: (verb, sizeOf = () => 0) => makeWriteAll(commits, verb, sizeOf),
    read,
    answered: () => commits.write(nothing, 'free', 'kept'),
    kept: read(nothing),
    fault: health.fault,
    heldLogBytes: checkpoints.heldBytes,
    onCommitted: (listener) => void listeners.push(listener),
    watchCommits: commits.watch,
    close: () => (closed ??= close()),
  };
}

interface Reading {
  readonly statements: Statements;
  readonly health: Health;
  readonly commits: Pick<GroupCommit, 'syncing'>;
  /** After a failed sync, what can be read may not be on the disk. */
  readonly refusesLost: boolean;
}

function makeRead({ statements, health, commits, refusesLost }: Reading): Database['read'] {
  return (verb, moment = 'kept') =>
    async (...args) => {
      if (moment === 'kept')
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

/** Characters that calls of one verb share: the loop turns between more of them. */
const MOST_SHARED = 262_144;

function makeWriteAll<Item, Result>(
  commits: Pick<GroupCommit, 'write' | 'join'>,
  verb: (tx: Transaction, items: readonly Item[]) => Step<readonly Result[]>,
  sizeOf: (item: Item) => number,
): Verb<[item: Item], Result> {
  let items: Item[] = [];
  let size = 0;
  let all = (tx: Transaction) => verb(tx, items);
  let results: Promise<readonly Result[]>;
  return async (item) => {
    size += sizeOf(item);
    if (size <= MOST_SHARED && commits.join(all)) items.push(item);
    else {
      size = sizeOf(item);
      const own = (items = [item]);
      all = (tx) => verb(tx, own);
      results = commits.write(all, 'keep', 'kept');
    }
    const at = items.length - 1;
    return (await results)[at]!;
  };
}
