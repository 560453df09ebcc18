// The connection that writes. It holds the lock of the database, so that no other daemon writes as long as it lives.
import type { ClientConfig } from 'pg';
import { type Clock, pause } from '../../../domain/clock.ts';
import { ErrandError } from '../../../domain/errors.ts';
import type { JournalEvent } from '../../../domain/sessions/journal-event.ts';
import type { EventRow } from '../journal/rows.ts';
import { makeRowMapper } from '../row.ts';
import { connect, type Connection } from './connection.ts';
import { faultKindOf } from './faults.ts';
import type { Health } from './health.ts';
import { takeLock } from './lock.ts';

export interface Writer {
  /** The connection; a new one in place of one that is lost. Rejects when none can be made for some seconds. */
  connection(): Promise<Connection>;
  /**
   * The events of the last transaction, by its number; null when it wasn't kept. Rejects when that can't be found out.
   */
  eventsOf(transaction: string): Promise<readonly JournalEvent[] | null>;
  /** The events up to this one are known to be kept. */
  reached(id: number): void;
  close(): Promise<void>;
}

interface Parts {
  readonly config: ClientConfig;
  readonly clock: Clock;
  readonly health: Health;
  /** Examines a database that was reached for the first time. */
  opened(connection: Connection): Promise<void>;
}

/** How long a database may be away before verbs are refused; those that come after are refused at once, until it is back. */
const PATIENCE_MS = 5_000;
const RETRY_MS = 100;
/** How long a server may take to say what became of a transaction: its process may still work on it. */
const FATE_MS = 60_000;

const LAST_ID = 'SELECT coalesce(max(id), 0) FROM events';
const FATE = { name: 'fate', text: 'SELECT pg_xact_status($1::xid8)' };
const EVENTS_AFTER = {
  name: 'events_after',
  text: `SELECT id, session_seq, run_seq, stream_seq, type, payload, created_at FROM events WHERE id > $1 ORDER BY id`,
};

export function makeWriter({ config, clock, health, opened }: Parts): Writer {
  let current: Promise<Connection> | undefined;
  let lastPid: number | null = null;
  /** Of the last event that is known to be kept; null before any connection. */
  let lastId: number | null = null;

  async function open(): Promise<Connection> {
    const connection = await connect(config, health.failed);
    try {
      await takeLock(connection, { clock, lastPid });
      lastPid = connection.serverPid;
      if (lastId === null) {
        await opened(connection);
        lastId = (await connection.say(LAST_ID)).rows[0]![0] as number;
      }
      return connection;
    } catch (error) {
      await connection.close().catch(() => undefined);
      throw error;
    }
  }

  async function openPatiently(): Promise<Connection> {
    const until = clock.monotonic() + (health.fault() === null && lastId !== null ? PATIENCE_MS : 0);
    for (;;) {
      try {
        return await open();
      } catch (error) {
        if (error instanceof ErrandError && lastId !== null) health.lose(error);
        if (faultKindOf(error) !== 'away' || clock.monotonic() >= until) throw error;
      }
      await pause(clock, RETRY_MS);
    }
  }

  async function connection(): Promise<Connection> {
    const found = await current?.catch(() => undefined);
    if (found !== undefined && !found.isLost()) return found;
    current = openPatiently();
    return current;
  }

  async function fateOf(transaction: string): Promise<Connection | null> {
    const until = clock.monotonic() + FATE_MS;
    for (;;) {
      const reached = await connection().catch((error: unknown) => {
        if (clock.monotonic() >= until) throw error;
        return null;
      });
      const status = await reached?.ask(FATE, [transaction]).then(
        ({ rows }) => rows[0]![0],
        () => 'away',
      );
      if (status === 'committed') return reached;
      if (status === 'aborted' || status === null) return null;
      if (clock.monotonic() >= until) throw new Error(`Connection terminated; its transaction is ${String(status)}`);
      await pause(clock, RETRY_MS);
    }
  }

  return {
    connection,
    eventsOf: async (transaction) => {
      const reached = await fateOf(transaction);
      if (reached === null) return null;
      // No other connection writes: what is behind the last one is of this transaction.
      const { columns, rows } = await reached.ask(EVENTS_AFTER, [lastId!]);
      const toRow = makeRowMapper(columns, undefined);
      return rows.map((values) => {
        const { payload, ...row } = toRow(values) as EventRow;
        return { ...row, payload: JSON.parse(payload) as unknown } as JournalEvent;
      });
    },
    reached: (id) => {
      lastId = id;
    },
    close: async () => {
      const found = await current?.catch(() => undefined);
      await found?.close();
    },
  };
}
