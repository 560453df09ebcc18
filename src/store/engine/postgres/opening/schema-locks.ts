// The locks of the schema: one process changes it at a time, and none while code runs that couldn't go on with the result.
import { type Clock, pauseAlive } from '../../../../domain/clock.ts';
import { ErrandError } from '../../../../domain/errors.ts';
import { SCHEMA_VERSION } from '../../schema.ts';
import type { Connection } from '../connections/connection.ts';
import { LOCKS } from './lock.ts';

const lockOf = (no: number) => `(${LOCKS.class}, ${no})`;
const codeOf = (version: number) => LOCKS.code + version;

const RETRY_MS = 50;
const TELL_MS = 60_000;
/** A process of the server may need so long to notice that its client is gone. */
const WAIT_MS = 5_000;

/** Says, for as long as the connection lives, that code of this version runs. Waits while another process changes the schema beyond it. */
export async function sayThatCodeRuns(connection: Connection, clock: Clock): Promise<void> {
  const take = `SELECT pg_try_advisory_lock_shared${lockOf(codeOf(SCHEMA_VERSION))}`;
  while (!(await took(connection, take))) await pauseAlive(clock, RETRY_MS);
}

/** Does what changes the schema, alone. `waits` is called each minute while it waits for another process that does so. */
export async function withSchemaLock(
  connection: Connection,
  { clock, waits }: { readonly clock: Clock; waits(): void },
  work: () => Promise<void>,
): Promise<void> {
  const take = `SELECT pg_try_advisory_lock${lockOf(LOCKS.schema)}`;
  for (let tellAt = 0; !(await took(connection, take)); await pauseAlive(clock, RETRY_MS)) {
    if (clock.monotonic() < tellAt) continue;
    waits();
    tellAt = clock.monotonic() + TELL_MS;
  }
  try {
    await work();
  } finally {
    await connection.say(`SELECT pg_advisory_unlock${lockOf(LOCKS.schema)}`).catch(() => undefined);
  }
}

interface Codes {
  readonly clock: Clock;
  /** Of the database, where a sentence begins. */
  readonly name: string;
  /** The oldest version whose code may run now, and that from the change on. */
  readonly from: number;
  readonly to: number;
}

/** Does what code of versions between couldn't go on with: none of them runs, and none starts meanwhile. Throws `conflict` when one runs. */
export async function withoutOlderCode(
  connection: Connection,
  { clock, name, from, to }: Codes,
  work: () => Promise<void>,
): Promise<void> {
  const until = clock.monotonic() + WAIT_MS;
  const held: number[] = [];
  try {
    for (let version = from; version < to; version += 1) {
      while (!(await took(connection, `SELECT pg_try_advisory_lock${lockOf(codeOf(version))}`))) {
        if (clock.monotonic() >= until)
          throw new ErrandError('conflict', await wordsOfOlder(connection, name, version));
        await pauseAlive(clock, RETRY_MS);
      }
      held.push(version);
    }
    await work();
  } finally {
    for (const version of held)
      await connection.say(`SELECT pg_advisory_unlock${lockOf(codeOf(version))}`).catch(() => undefined);
  }
}

async function took(connection: Connection, take: string): Promise<boolean> {
  return (await connection.say(take)).rows[0]![0] === 1;
}

async function wordsOfOlder(connection: Connection, name: string, version: number): Promise<string> {
  const holders = `SELECT string_agg(application_name || ', from ' || coalesce(host(client_addr), 'this machine'), '; ')
    FROM pg_stat_activity JOIN pg_locks USING (pid)
    WHERE locktype = 'advisory' AND classid = ${LOCKS.class} AND objid = ${codeOf(version)} AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  const who = (await connection.say(holders)).rows[0]![0];
  return (
    `${name} is in use by an older Errand (${String(who ?? 'unknown')}) that could not go on with the schema of this one. ` +
    `Stop every older node, then start this one.`
  );
}
