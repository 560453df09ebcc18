// The connection that writes. It holds the lock of the database, so that no other daemon writes as long as it lives.
import type { ClientConfig } from 'pg';
import { type Clock, pauseAlive } from '../../../../domain/clock.ts';
import { ErrandError } from '../../../../domain/errors.ts';
import { connect, type Connection, settle } from '../connections/connection.ts';
import { faultKindOf } from '../connections/faults.ts';
import type { Health } from '../connections/health.ts';
import { type LockMode, takeLock } from '../opening/lock.ts';
import { historyOf } from '../opening/server.ts';

export interface Writer {
  /** The connection; a new one in place of one that is lost. Rejects when none can be made for some seconds. */
  connection(): Promise<Connection>;
  /** Of the last event that is known to be kept. */
  lastId(): number;
  reached(id: number): void;
  close(): Promise<void>;
}

/** What is done with a connection before it is used. */
export interface WriterHooks {
  /** Examines a server that was reached for the first time, before anything is set or taken there. */
  reachedFirst(connection: Connection): Promise<void>;
  /** Examines a database that was reached for the first time. */
  opened(connection: Connection): Promise<void>;
  /** Examines it when another connection was made. */
  reopened(connection: Connection): Promise<void>;
  /** A connection was lost for a reason, and there is a new one. */
  replaced(reason: Error): void;
}

interface Parts {
  /** Reads the files of TLS as they are then. */
  config(): ClientConfig;
  readonly clock: Clock;
  readonly health: Health;
  /** Of the database, where a sentence begins. */
  readonly name: string;
  /** Null: it takes no lock. */
  readonly lock: LockMode | null;
  readonly hooks: WriterHooks;
}

const RETRY_MS = 100;
/** What was confirmed before may be missing: whatever is known of it here can't be relied on. */
const ANOTHER =
  'has another history than before: a standby took over, or a backup was restored. The daemon has to start again from what is there.';
const LAST_ID = 'SELECT coalesce(max(id), 0) FROM events';

export function makeWriter({ config, clock, health, name, lock, hooks }: Parts): Writer {
  let current: Connection | undefined;
  let opening: Promise<Connection> | undefined;
  let lastPid: number | null = null;
  /** Of the last event that is known to be kept; null before any connection. */
  let lastId: number | null = null;
  let history = '';
  let isClosed = false;

  async function prepare(connection: Connection): Promise<void> {
    if (lastId === null) await hooks.reachedFirst(connection);
    else if ((await historyOf(connection)) !== history) throw new ErrandError('conflict', `${name} ${ANOTHER}`);
    await settle(connection);
    if (lock !== null) await takeLock(connection, { clock, mode: lock, name, lastPid });
    lastPid = connection.serverPid;
    if (lastId !== null) return hooks.reopened(connection);
    await hooks.opened(connection);
    history = await historyOf(connection);
    lastId = (await connection.say(LAST_ID)).rows[0]![0] as number;
  }

  /** Without the connection there is no lock: a new one is made at once, and only what keeps it from that is a fault. */
  function replace(reason: Error): void {
    if (!isClosed) connection().then(() => hooks.replaced(reason), health.failed);
  }

  async function openPatiently(): Promise<Connection> {
    const until = clock.monotonic() + (lastId === null ? 0 : health.patienceMs());
    for (;;) {
      try {
        return await connect(config(), replace, prepare);
      } catch (error) {
        if (error instanceof ErrandError && lastId !== null) health.lose(error);
        if (isClosed || faultKindOf(error) !== 'away' || clock.monotonic() >= until) throw error;
      }
      await pauseAlive(clock, RETRY_MS);
    }
  }

  async function connection(): Promise<Connection> {
    if (current !== undefined && !current.isLost()) return current;
    opening ??= openPatiently().finally(() => {
      opening = undefined;
    });
    current = await opening;
    return current;
  }

  return {
    connection,
    lastId: () => lastId ?? 0,
    reached: (id) => {
      lastId = id;
    },
    close: async () => {
      isClosed = true;
      await opening?.catch(() => undefined);
      await current?.close();
    },
  };
}
