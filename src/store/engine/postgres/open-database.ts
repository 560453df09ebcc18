// A database of PostgreSQL as an engine: one connection that writes, group by group, and several that read.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ClientConfig } from 'pg';
import type { Clock } from '../../../domain/clock.ts';
import type { JournalEvent } from '../../../domain/sessions/journal-event.ts';
import { type Database, NO_ALARMS, type Peers, type Sharing, type StoreAlarms } from '../database.ts';
import type { Step } from '../statement.ts';
import { clientConfig, nameOf, type PostgresAddress } from './connections/address.ts';
import { type Commits, makeCommits } from './commits/commits.ts';
import { connect } from './connections/connection.ts';
import { figuresOf } from './figures.ts';
import { explainOpening, titleOf } from './opening/opening-faults.ts';
import { type Listening, makeListening } from './listening/listening.ts';
import { eventsAfter } from './listening/merge.ts';
import { makeHealth } from './connections/health.ts';
import { migrate, requireUsable } from './opening/migrate.ts';
import { makePool } from './connections/pool.ts';
import { makeRead } from './statements/read.ts';
import { sayThatCodeRuns } from './opening/schema-locks.ts';
import { clockAheadMs, wordsOfClock } from './opening/server-clock.ts';
import { requireOwnSession } from './opening/server.ts';
import { makeTurns, type Turns } from './commits/turns.ts';
import { makeWriter, type Writer, type WriterHooks } from './commits/writer.ts';
import { makeWriteAll } from '../write-all.ts';

export interface PostgresOptions {
  readonly alarms?: StoreAlarms;
  /** Connections in all. */
  readonly connections?: number;
  /** False for tests, which look at a database beside its store. */
  readonly isLocked?: boolean;
  /** Other processes may write to the database as well: they share its lock, and each hears of the commits of all. Absent: this one is alone. */
  readonly sharing?: Sharing | undefined;
}

/** Connections unless another number is given. */
export const CONNECTIONS = 12;

/** Processes come and go: the fate of a transaction is asked for within a minute. */
const FORGET_WRITERS = `DELETE FROM last_transactions
  WHERE number < (SELECT number FROM last_transactions ORDER BY number DESC LIMIT 1 OFFSET 999)`;

/** A verb without a statement. */
// oxlint-disable-next-line require-yield
function* nothing(): Step<void> {
  // Its transaction is all that is of interest.
}

/**
 * Opens, and creates or migrates, the database: its first verb waits for that, and rejects with what the operator has to do when it
 * fails.
 */
export function openPostgres(
  address: PostgresAddress,
  clock: Clock,
  { alarms = NO_ALARMS, connections = CONNECTIONS, isLocked = true, sharing }: PostgresOptions = {},
): Database {
  const { config, open } = makeOpener(address);
  const health = makeHealth(nameOf(address), alarms);
  const listeners: ((events: readonly JournalEvent[]) => void)[] = [];
  const publish = (events: readonly JournalEvent[]) => listeners.forEach((listener) => listener(events));
  const turns = sharing === undefined ? null : makeTurns(sharing);
  const tellers: ((words: string | null) => void)[] = [];
  const writer = makeWriter({
    config,
    clock,
    health,
    name: titleOf(address),
    lock: isLocked ? (turns === null ? 'exclusive' : 'shared') : null,
    hooks: hooksOf(address, { config, clock, alarms }),
  });
  const commits = makeCommits({
    clock,
    writer,
    health,
    name: sharing?.process ?? randomUUID(),
    turns,
    committed: (events) => {
      writer.reached(events.at(-1)!.id);
      (listening?.committed ?? publish)(events);
    },
  });
  const pool = makePool(connections - (turns === null ? 1 : 2), open);
  const whenOpened = makeWhenOpened(writer, address, () => listening?.begin(writer.lastId()));
  const verbs = makeVerbs({ commits, read: makeRead({ pool, health, clock }), whenOpened });
  const hearing = { publish, told: (words: string | null) => tellers.forEach((teller) => teller(words)) };
  const listening = turns && makeListening({ open, clock, read: verbs.read(eventsAfter), ...hearing });
  let closed: Promise<void> | undefined;

  async function close(): Promise<void> {
    await commits.end();
    await listening?.close();
    await pool.close();
    await writer.close();
  }

  return {
    ...verbs,
    peers: turns && listening ? peersOf(turns, listening, tellers) : null,
    answered: async () => {
      await whenOpened();
      await commits.write(nothing);
    },
    // A commit is durable when the server answers it.
    durable: whenOpened,
    fault: health.fault,
    burden: () => null,
    figures: verbs.read((tx) => figuresOf(tx, pool.figures())),
    // The server gives space to new rows by itself.
    giveBack: async () => ({ rows: 0, more: false }),
    onCommitted: (listener) => void listeners.push(listener),
    watchCommits: commits.watch,
    close: () => (closed ??= close()),
  };
}

function peersOf(turns: Turns, { say, exclusively }: Listening, tellers: ((words: string | null) => void)[]): Peers {
  return { fence: turns.fence, tell: say, exclusively, onTold: (listener) => void tellers.push(listener) };
}

interface HookParts {
  config(): ClientConfig;
  readonly clock: Clock;
  readonly alarms: StoreAlarms;
}

/** What is done when the database was reached for the first time, and told when its connection was replaced. */
function hooksOf(address: PostgresAddress, { config, clock, alarms }: HookParts): WriterHooks {
  return {
    reachedFirst: (connection) => requireOwnSession(connection, config(), address),
    opened: async (connection) => {
      await migrate(connection, { address, clock, begins: alarms.migrating });
      await connection.say(FORGET_WRITERS);
      const words = wordsOfClock(await clockAheadMs(connection, clock));
      if (words !== null) alarms.burdened(`the clock of ${nameOf(address)} ${words}`);
    },
    reopened: async (connection) => {
      await sayThatCodeRuns(connection, clock);
      await requireUsable(connection, address);
    },
    replaced: ({ message }) =>
      alarms.burdened(`${titleOf(address)} ended the connection that writes (${message}); there is a new one.`),
  };
}

/** Opens connections that the server knows by this process. */
function makeOpener(address: PostgresAddress) {
  const ownName = `${address.applicationName} ${hostname()} ${process.pid}`.slice(0, 63);
  const config = () => ({ ...clientConfig(address), application_name: ownName });
  return { config, open: (lost: () => void = () => undefined) => connect(config(), lost) };
}

/** The database is there, examined and locked. When it can't be opened, the next verb tries again. */
function makeWhenOpened(writer: Writer, address: PostgresAddress, begin: () => void): () => Promise<void> {
  let opened: Promise<void> | undefined;
  const open = () =>
    writer.connection().then(begin, (error: unknown) => {
      opened = undefined;
      throw explainOpening(error, address);
    });
  return () => (opened ??= open());
}

interface Parts {
  readonly commits: Commits;
  readonly read: Database['read'];
  whenOpened(): Promise<void>;
}

function makeVerbs({ commits, read, whenOpened }: Parts): Pick<Database, 'write' | 'writeAll' | 'read'> {
  return {
    write:
      (verb, { scope } = {}) =>
      async (...args) => {
        await whenOpened();
        return commits.write((tx) => verb(tx, ...args), scope?.(args[0]));
      },
    writeAll: (verb, options = {}) => {
      const call = makeWriteAll(commits, verb, options);
      return async (item) => {
        await whenOpened();
        return call(item);
      };
    },
    read: (verb) => {
      const call = read(verb);
      return async (...args) => {
        await whenOpened();
        return call(...args);
      };
    },
  };
}
