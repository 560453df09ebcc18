// The connection that writes. It holds the lock of the database, so that no other daemon writes as long as it lives.
import type { ClientConfig } from 'pg';
import { type Clock, pause } from '../../../../domain/clock.ts';
import { ErrandError } from '../../../../domain/errors.ts';
import { connect, type Connection } from '../connections/connection.ts';
import { faultKindOf } from '../connections/faults.ts';
import type { Health } from '../connections/health.ts';
import { takeLock } from '../opening/lock.ts';

export interface Writer {
  /** The connection; a new one in place of one that is lost. Rejects when none can be made for some seconds. */
  connection(): Promise<Connection>;
  /** Of the last event that is known to be kept. */
  lastId(): number;
  reached(id: number): void;
  close(): Promise<void>;
}

interface Parts {
  /** Reads the files of TLS as they are then. */
  config(): ClientConfig;
  readonly clock: Clock;
  readonly health: Health;
  readonly isLocked: boolean;
  /** Examines a server that was reached for the first time, before the lock is taken. */
  reachedFirst(connection: Connection): Promise<void>;
  /** Examines a database that was reached for the first time. */
  opened(connection: Connection): Promise<void>;
}

/** How long a database may be away before verbs are refused; those that come after are refused at once, until it is back. */
const PATIENCE_MS = 5_000;
const RETRY_MS = 100;
const LAST_ID = 'SELECT coalesce(max(id), 0) FROM events';
export function makeWriter({ config, clock, health, isLocked, reachedFirst, opened }: Parts): Writer {
  let current: Promise<Connection> | undefined;
  let lastPid: number | null = null;
  /** Of the last event that is known to be kept; null before any connection. */
  let lastId: number | null = null;

  async function open(): Promise<Connection> {
    const connection = await connect(config(), health.failed);
    try {
      if (lastId === null) await reachedFirst(connection);
      if (isLocked) await takeLock(connection, { clock, lastPid });
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

  return {
    connection,
    lastId: () => lastId ?? 0,
    reached: (id) => {
      lastId = id;
    },
    close: async () => {
      const found = await current?.catch(() => undefined);
      await found?.close();
    },
  };
}
