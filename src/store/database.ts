// The SQLite file: one connection, one transaction per tick for all its writers.
import Connection from 'better-sqlite3';
import type { Clock } from '../domain/clock.ts';
import { ErrandError, messageOf } from '../domain/errors.ts';
import type { JournalEvent, NewEvent } from '../domain/journal-event.ts';
import { dropStatistics, withSteadyPlan } from './planner.ts';
import { makePrivateFile } from './private-file.ts';
import { migrate } from './schema.ts';

type Value = string | number | bigint | Buffer | null;

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
   * Runs a verb and resolves after its commit is on disk. Rejects alone when the verb throws, and with
   * `unavailable` when the disk refuses. The body is synchronous, so it can wait for nothing but the database.
   */
  write<Result>(body: (tx: Transaction) => Result): Promise<Result>;
  /** Sees committed rows only: a transaction begins and ends within one turn of the event loop. */
  readonly reader: Reader;
  /** Why the last commit failed; null once a commit has succeeded again. */
  fault(): string | null;
  /** Called after each commit with its events in order. */
  onCommitted(listener: (events: readonly JournalEvent[]) => void): void;
  close(): Promise<void>;
}

interface PendingVerb {
  body(tx: Transaction): unknown;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** A disk that stalls must not hold the next commit back for longer than this. */
const MAX_PAUSE_MS = 20;

/** Opens (and creates, and migrates) the database file. */
export function openDatabase(file: string, clock: Clock): Database {
  const writer = openFile(file);
  const listeners: ((events: readonly JournalEvent[]) => void)[] = [];
  const statements = cacheStatements(writer);
  let pending: PendingVerb[] = [];
  let scheduled: NodeJS.Immediate | NodeJS.Timeout | undefined;
  let closed = false;
  let fault: string | null = null;
  let last = { endedAt: 0, tookMs: 0 };

  function flush(): void {
    scheduled = undefined;
    const batch = pending;
    pending = [];
    const startedAt = clock.monotonic();
    const { events: committed, refusal } = commitBatch({ writer, statements, clock }, batch);
    fault = refusal;
    const endedAt = clock.monotonic();
    last = { endedAt, tookMs: endedAt - startedAt };
    if (committed.length > 0) for (const listener of listeners) listener(committed);
  }

  /** Under load, commits take at most half of the time: the longer the disk needs, the more verbs share a commit. */
  function schedule(): NodeJS.Immediate | NodeJS.Timeout {
    const pauseMs = last.endedAt + last.tookMs - clock.monotonic();
    return pauseMs > 0.5 ? setTimeout(flush, Math.min(pauseMs, MAX_PAUSE_MS)) : setImmediate(flush);
  }

  return {
    write: <Result>(body: (tx: Transaction) => Result) =>
      new Promise<Result>((resolve, reject) => {
        if (closed) {
          reject(new ErrandError('unavailable', 'The daemon is shutting down.'));
          return;
        }
        pending.push({ body, resolve, reject });
        scheduled ??= schedule();
      }),
    reader: makeReader(statements),
    fault: () => fault,
    onCommitted: (listener) => void listeners.push(listener),
    close: async () => {
      if (closed) return;
      closed = true;
      flush();
      writer.close();
    },
  };
}

function openFile(file: string): Connection.Database {
  const connection = connect(file);
  migrate(connection, file);
  if (!dropStatistics(connection)) return connection;
  connection.close();
  return connect(file);
}

function connect(file: string): Connection.Database {
  // Its log and its index take over the mode of the file.
  makePrivateFile(file);
  const connection = new Connection(file, { timeout: 250 });
  connection.pragma('journal_mode = WAL');
  // The default of a WAL database may lose acknowledged commits when the power fails.
  connection.pragma('synchronous = FULL');
  connection.pragma('foreign_keys = ON');
  connection.pragma('trusted_schema = OFF');
  return connection;
}

type Statements = (sql: string) => Connection.Statement;

function cacheStatements(connection: Connection.Database): Statements {
  const cache = new Map<string, Connection.Statement>();
  return (sql) => {
    let statement = cache.get(sql);
    if (statement === undefined) {
      statement = connection.prepare(withSteadyPlan(sql));
      cache.set(sql, statement);
    }
    return statement;
  };
}

function makeReader(statements: Statements): Reader {
  return {
    get: <Row>(sql: string, ...values: Value[]) => statements(sql).get(...values) as Row | undefined,
    all: <Row>(sql: string, ...values: Value[]) => statements(sql).all(...values) as Row[],
  };
}

const LAST_STREAM_SEQ = 'SELECT stream_seq FROM events WHERE run_seq = ? ORDER BY stream_seq DESC LIMIT 1';
const INSERT_EVENT = `INSERT INTO events (session_seq, run_seq, stream_seq, type, payload, created_at)
  VALUES (?, ?, ?, ?, ?, ?)`;

/** What the verbs of one commit have added to the journal so far. */
interface Journal {
  readonly events: JournalEvent[];
  /** The last `stream_seq` of each run with an event among them: saves asking the table again for the next. */
  readonly lastStreamSeqs: Map<number, number>;
}

function makeTransaction({ statements, clock }: Engine, { events, lastStreamSeqs }: Journal): Transaction {
  const now = clock.now();

  function nextStreamSeq(runSeq: number): number {
    const last =
      lastStreamSeqs.get(runSeq) ??
      (statements(LAST_STREAM_SEQ).get(runSeq) as { stream_seq: number } | undefined)?.stream_seq ??
      0;
    lastStreamSeqs.set(runSeq, last + 1);
    return last + 1;
  }

  return {
    ...makeReader(statements),
    now,
    steadyNow: clock.steady(),
    run: (sql, ...values) => statements(sql).run(...values).changes,
    insert: (sql, ...values) => Number(statements(sql).run(...values).lastInsertRowid),
    emit: (sessionSeq, runSeq, event) => {
      const payload = JSON.stringify(event.payload);
      const streamSeq = runSeq === null ? null : nextStreamSeq(runSeq);
      const { lastInsertRowid } = statements(INSERT_EVENT).run(sessionSeq, runSeq, streamSeq, event.type, payload, now);
      events.push({ ...event, id: Number(lastInsertRowid), sessionSeq, runSeq, streamSeq, createdAt: now });
    },
  };
}

interface Engine {
  readonly writer: Connection.Database;
  readonly statements: Statements;
  readonly clock: Clock;
}

/** Runs every verb in one transaction, each in its own savepoint. Answers the committed events, or why there are none. */
function commitBatch(
  engine: Engine,
  batch: readonly PendingVerb[],
): { readonly events: readonly JournalEvent[]; readonly refusal: string | null } {
  const { writer, statements } = engine;
  const journal: Journal = { events: [], lastStreamSeqs: new Map() };
  const settled: (() => void)[] = [];
  try {
    statements('BEGIN IMMEDIATE').run();
    for (const verb of batch) settled.push(runVerb(engine, verb, journal));
    statements('COMMIT').run();
  } catch (error) {
    // Nothing of the batch was kept, so every verb of it fails, also those that had succeeded.
    if (writer.inTransaction) statements('ROLLBACK').run();
    const refusal = explain(error);
    for (const verb of batch) verb.reject(refusal);
    return { events: [], refusal: messageOf(refusal) };
  }
  for (const settle of settled) settle();
  return { events: journal.events, refusal: null };
}

function runVerb(engine: Engine, verb: PendingVerb, journal: Journal): () => void {
  const { writer, statements } = engine;
  const before = journal.events.length;
  statements('SAVEPOINT verb').run();
  try {
    const result = verb.body(makeTransaction(engine, journal));
    statements('RELEASE verb').run();
    return () => verb.resolve(result);
  } catch (error) {
    // A disk that refuses one verb refuses the whole commit: what comes after may build on what was lost.
    if (!writer.inTransaction || isStorageFault(error)) throw error;
    statements('ROLLBACK TO verb').run();
    statements('RELEASE verb').run();
    journal.events.length = before;
    // Some of them may be of rows that are gone again; the table knows.
    journal.lastStreamSeqs.clear();
    return () => verb.reject(error);
  }
}

const STORAGE_FAULTS = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|BUSY|NOMEM|CORRUPT|NOTADB)/;

function isStorageFault(error: unknown): boolean {
  return error instanceof Connection.SqliteError && STORAGE_FAULTS.test(error.code);
}

function explain(error: unknown): unknown {
  if (!isStorageFault(error)) return error;
  const { code } = error as InstanceType<typeof Connection.SqliteError>;
  return new ErrandError('unavailable', `The daemon's storage refuses to write (${code}).`, { cause: error });
}
