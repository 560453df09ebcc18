// Work that one process does at a time, by name: under a lock of the server, which ends with the connection that has it.
import { createHash } from 'node:crypto';
import { type Clock, pause } from '../../../../domain/clock.ts';
import { ErrandError } from '../../../../domain/errors.ts';
import type { Connection } from '../connections/connection.ts';
import { LOCKS } from '../opening/lock.ts';

interface Parts {
  /** The connection that listens, while there is one. */
  connected(): Connection | undefined;
  readonly clock: Clock;
}

const TRY = { name: 'try_lock', text: `SELECT pg_try_advisory_lock(${LOCKS.names}, $1::int)` };
const UNLOCK = { name: 'unlock', text: `SELECT pg_advisory_unlock(${LOCKS.names}, $1::int)` };
/** Tried this often, for so long. A statement that waits for a lock would hold up what others are told on this connection. */
const [RETRY_MS, WAIT_MS] = [100, 45_000];

/** Two names with one key exclude each other for no reason, which only takes time. */
const keyOf = (name: string): number => createHash('sha256').update(name).digest().readInt32BE();

/** Makes it. It rejects with `unavailable` when another process has not ended its work in time. */
export function makeExclusion({ connected, clock }: Parts) {
  /** A connection that has a lock gets it again. */
  const last = new Map<string, Promise<unknown>>();

  async function take(key: number): Promise<Connection> {
    const until = clock.monotonic() + WAIT_MS;
    for (;;) {
      const connection = connected();
      const answer = await connection?.ask(TRY, [key]).catch(() => undefined);
      if (connection !== undefined && answer?.rows[0]![0] === 1) return connection;
      if (clock.monotonic() >= until)
        throw new ErrandError('unavailable', 'Another daemon does this, and has not ended.');
      await pause(clock, RETRY_MS);
    }
  }

  async function locked<T>(name: string, work: () => Promise<T>): Promise<T> {
    const key = keyOf(name);
    const holder = await take(key);
    try {
      return await work();
    } finally {
      await holder.ask(UNLOCK, [key]).catch(() => undefined);
    }
  }

  return async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const done = (last.get(name) ?? Promise.resolve()).then(() => locked(name, work));
    const ended = done.catch(() => undefined);
    last.set(name, ended);
    try {
      return await done;
    } finally {
      if (last.get(name) === ended) last.delete(name);
    }
  };
}
