// The SQLite file: one connection, one transaction per tick for all its writers.
import type { Clock } from '../../domain/clock.ts';
import type { JournalEvent, NewEvent } from '../../domain/journal-event.ts';
import { makeCheckpoints } from './checkpoints.ts';
import { cacheStatements, makeGuardedReader, openFile } from './connection.ts';
import { makeGroupCommit } from './group-commit.ts';
import { makeHealth, NO_ALARMS, type StoreAlarms } from './health.ts';
import { NO_RESERVE, type Reserve } from './reserve.ts';
import { isLocked } from './storage-fault.ts';

/**
 * `keep`: what a full disk refuses. `free`: it gives space back, or ends what takes more, and so has the reserve.
 */
export type VerbKind = 'keep' | 'free';

export type Value = string | number | bigint | Buffer | null;

/** Reads rows. `get` answers the first row or undefined. Statements are prepared once and cached by their text. */
export interface Reader {
  get<Row>(sql: string, ...values: Value[]): Row | undefined;
  all<Row>(sql: string, ...values: Value[]): Row[];
}

/** What a write verb may do inside the transaction it shares with the other verbs of the same tick. */
export interface Transaction extends Reader {
  /** The one wall time of this verb, epoch ms. */
  readonly now: number;
  /** The same moment on the clock that does not jump. */
  readonly steadyNow: number;
  /** Answers how many rows changed. */
  run(sql: string, ...values: Value[]): number;
  /** Answers the new row's integer key. */
  insert(sql: string, ...values: Value[]): number;
  /** Adds an event to the journal; it is told to nobody before the commit. */
  emit(sessionSeq: number, runSeq: number | null, event: NewEvent): void;
}

/** The seam to the engine (design: only `Database` and `BlobStore` have twins). */
export interface Database {
  /**
   * Runs a verb and resolves after its commit is on disk. Rejects alone when the verb throws, and with `unavailable` when
   * the disk refuses or another process holds the file for too long. The body is synchronous, so it can wait for nothing
   * but the database.
   */
  write<Result>(body: (tx: Transaction) => Result, kind?: VerbKind): Promise<Result>;
  /** Sees committed rows only: a transaction begins and ends within one turn of the event loop. */
  readonly reader: Reader;
  /** What is wrong with the storage, in words without paths; null once a commit has succeeded again. */
  fault(): string | null;
  /** Bytes of the database's log while another process keeps it from beginning anew; null while all is well. */
  heldLogBytes(): number | null;
  /** Called after each commit with its events in order. */
  onCommitted(listener: (events: readonly JournalEvent[]) => void): void;
  close(): Promise<void>;
}

/** Opens (and creates, and migrates) the database file. What SQLite throws is passed on as it is: see `explainToOperator`. */
export function openDatabase(
  file: string,
  clock: Clock,
  alarms: StoreAlarms = NO_ALARMS,
  reserve: Reserve = NO_RESERVE,
): Database {
  const writer = openFile(file);
  const statements = cacheStatements(writer);
  const health = makeHealth(file, alarms);
  const checkpoints = makeCheckpoints({
    connection: writer,
    clock,
    // What another process keeps from being moved now is moved later.
    failed: (error) => void (isLocked(error) || health.failed(error)),
    held: alarms.held,
  });
  const listeners: ((events: readonly JournalEvent[]) => void)[] = [];
  const commits = makeGroupCommit({
    writer,
    statements,
    clock,
    health,
    reserve,
    committed: (events) => {
      checkpoints.committed();
      if (events.length > 0) for (const listener of listeners) listener(events);
    },
  });
  let closed: Promise<void> | undefined;

  async function close(): Promise<void> {
    await commits.end();
    checkpoints.stop();
    writer.close();
  }

  return {
    write: commits.write,
    reader: makeGuardedReader(statements, health.failed),
    fault: health.fault,
    heldLogBytes: checkpoints.heldBytes,
    onCommitted: (listener) => void listeners.push(listener),
    close: () => (closed ??= close()),
  };
}
