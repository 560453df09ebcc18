// Several stores on one database: each publishes what all commit, whatever becomes of notifications.
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../../src/domain/clock.ts';
import type { Database } from '../../../../../src/store/engine/database.ts';
import { openPostgres } from '../../../../../src/store/engine/postgres/open-database.ts';
import type { Step, Transaction } from '../../../../../src/store/engine/statement.ts';
import { temporaryDirectory } from '../../../../support/files/temporary-directory.ts';
import { addressOf } from '../../../../support/postgres/address-of.ts';
import { databaseFor } from '../../../../support/postgres/shared-cluster.ts';
import { waitFor } from '../../../../support/time/wait-for.ts';
import { aSharing } from '../../../../support/postgres/sharing.ts';

const freshDatabase = () => databaseFor(join(temporaryDirectory(), 'errand.db'));

interface Opened {
  readonly database: Database;
  /** The ids of what it has published. */
  readonly published: number[];
  /** Adds so many events. */
  emit(count: number): Promise<void>;
}

async function open(url: string): Promise<Opened> {
  const database = openPostgres(addressOf(url), systemClock, { sharing: aSharing(), connections: 4 });
  onTestFinished(() => database.close());
  const published: number[] = [];
  database.onCommitted((events) => void published.push(...events.map(({ id }) => id)));
  await database.answered();
  // oxlint-disable-next-line require-yield
  const emit = database.write(function* (tx: Transaction, count: number): Step<void> {
    for (let at = 0; at < count; at += 1) tx.emit(at, null, { type: 'session.deleted', payload: { title: '' } });
  });
  return { database, published, emit };
}

/** Ends the connections that listen, once both stores have theirs: ended one by one, they may never be there together. */
async function endListening({ database }: Opened): Promise<void> {
  const listening = (what: string) =>
    database.read((tx) =>
      tx.get<{ n: number }>(`SELECT count(${what}) AS n FROM pg_stat_activity
        WHERE datname = current_database() AND query ~ '^(LISTEN|SELECT pg_notify)' AND pid <> pg_backend_pid()`),
    )();
  await waitFor(async () => (await listening('*'))!.n === 2);
  expect(await listening('pg_terminate_backend(pid)')).toEqual({ n: 2 });
}

const ascending = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

test('each of two stores publishes the events of both, in order', async () => {
  const url = freshDatabase();
  const [one, other] = [await open(url), await open(url)];
  await one.emit(2);
  await waitFor(() => other.published.length === 2);
  await other.emit(20);
  await one.emit(1);
  await waitFor(() => one.published.length === 23 && other.published.length === 23);
  expect(one.published).toEqual(ascending(23));
  expect(other.published).toEqual(ascending(23));
});

test('what was committed while a listening connection was lost is found, and it is opened again', async () => {
  const url = freshDatabase();
  const [one, other] = [await open(url), await open(url)];
  await endListening(one);
  for (let at = 0; at < 30; at += 1) await other.emit(1);
  await waitFor(() => one.published.length === 30);
  await endListening(one);
  expect(one.published).toEqual(ascending(30));
  expect(other.published).toEqual(ascending(30));
});

test('events from before its opening are not published by a store', async () => {
  const url = freshDatabase();
  const one = await open(url);
  await one.emit(3);
  const other = await open(url);
  await one.emit(1);
  await waitFor(() => other.published.length > 0);
  expect(other.published).toEqual([4]);
});
