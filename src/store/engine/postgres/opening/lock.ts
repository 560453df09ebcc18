// The lock of a database: one daemon at a time, or several that share it; the next one's error names the holder. The server releases it
// with the connection.
import { type Clock, pauseAlive } from '../../../../domain/clock.ts';
import { ErrandError } from '../../../../domain/errors.ts';
import type { Connection } from '../connections/connection.ts';

/**
 * The locks of Errand: a number that nobody else takes in this database, and one for each; for versions of the schema, `code` and more.
 * Those by name have another number.
 */
export const LOCKS = {
  class: 1_701_999_201,
  daemon: 1,
  turn: 2,
  schema: 3,
  code: 1_000,
  names: 1_701_999_202,
} as const;
const TAKE = {
  exclusive: `SELECT pg_try_advisory_lock(${LOCKS.class}, ${LOCKS.daemon})`,
  shared: `SELECT pg_try_advisory_lock_shared(${LOCKS.class}, ${LOCKS.daemon})`,
} as const;
const HOLDER = `SELECT pid, application_name, coalesce(host(client_addr), 'this machine')
  FROM pg_stat_activity JOIN pg_locks USING (pid)
  WHERE locktype = 'advisory' AND classid = ${LOCKS.class} AND objid = ${LOCKS.daemon} AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** A process of the server may need so long to notice that its client is gone. */
const WAIT_MS = 5_000;
const RETRY_MS = 50;

export type LockMode = keyof typeof TAKE;

const ALONE = ' It has the database alone: only daemons whose files are in a bucket can share one (docs/S3.md).';

interface Options {
  readonly clock: Clock;
  /** Those that share it keep out who wants it alone. */
  readonly mode: LockMode;
  /** Of the database, where a sentence begins. */
  readonly name: string;
  /** The process of the server that had the lock for this daemon before. */
  readonly lastPid: number | null;
}

/** Takes it. Throws `conflict` when another daemon has it. */
export async function takeLock(connection: Connection, { clock, mode, name, lastPid }: Options): Promise<void> {
  const until = clock.monotonic() + WAIT_MS;
  for (;;) {
    const { rows } = await connection.say(TAKE[mode]);
    if (rows[0]![0] === 1) return;
    const [holder] = (await connection.say(HOLDER)).rows;
    // Its connection was lost; it may not know yet.
    if (holder !== undefined && holder[0] === lastPid) await connection.say(`SELECT pg_terminate_backend(${lastPid})`);
    else if (clock.monotonic() >= until) {
      const who = holder === undefined ? '' : ` (${String(holder[1])}, from ${String(holder[2])})`;
      throw new ErrandError('conflict', `${name} is in use by another Errand${who}.${mode === 'shared' ? ALONE : ''}`);
    }
    // With the server, the connection may go that keeps the process alive.
    await pauseAlive(clock, RETRY_MS);
  }
}
