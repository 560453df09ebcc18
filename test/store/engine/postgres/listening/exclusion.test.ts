// Work that one process does at a time: by name, over all processes, also when one of them is lost.
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../../src/domain/clock.ts';
import type { Peers } from '../../../../../src/store/engine/database.ts';
import type { Connection } from '../../../../../src/store/engine/postgres/connections/connection.ts';
import { makeExclusion } from '../../../../../src/store/engine/postgres/listening/exclusion.ts';
import { LOCKS } from '../../../../../src/store/engine/postgres/opening/lock.ts';
import { temporaryDirectory } from '../../../../support/files/temporary-directory.ts';
import { openProcess } from '../../../../support/postgres/processes.ts';
import { rowsIn } from '../../../../support/postgres/shared-cluster.ts';
import { fakeClock } from '../../../../support/time/fake-clock.ts';

async function processes(count: number): Promise<{ file: string; peers: readonly Peers[] }> {
  const file = join(temporaryDirectory(), 'errand.db');
  const stores = Array.from({ length: count }, () => openProcess(file, systemClock));
  onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))));
  await Promise.all(stores.map((store) => store.answered()));
  return { file, peers: stores.map(({ peers }) => peers!) };
}

test('work of one name is done one at a time in all processes, that of another name beside it', async () => {
  const { peers } = await processes(3);
  let working = 0;
  const work = async (at: number) => {
    expect((working += 1)).toBe(1);
    expect(await peers[(at + 1) % 3]!.exclusively(`another ${at}`, async () => 'beside it')).toBe('beside it');
    working -= 1;
    return at;
  };
  const done = await Promise.all(
    Array.from({ length: 9 }, (_, at) => peers[at % 3]!.exclusively('one', () => work(at))),
  );
  expect(done).toEqual(Array.from({ length: 9 }, (_, at) => at));
});

test('work that fails, or whose process loses its connection, keeps nobody out', async () => {
  const { file, peers } = await processes(2);
  const [one, other] = peers as [Peers, Peers];
  const failing = one.exclusively('name', () => Promise.reject(new Error('failed')));
  await expect(failing).rejects.toThrow('failed');
  expect(await other.exclusively('name', async () => 'done')).toBe('done');
  const hanging = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  const lost = one.exclusively('name', () => {
    begun.resolve();
    return hanging.promise;
  });
  await begun.promise;
  const HOLDER = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = ${LOCKS.names} AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  expect(rowsIn(file, `SELECT pg_terminate_backend(pid) FROM (${HOLDER}) AS holder`)).toHaveLength(1);
  expect(await other.exclusively('name', async () => 'done')).toBe('done');
  hanging.resolve('late');
  expect(await lost).toBe('late');
});

test('who waits too long for another process gives up', async () => {
  const clock = fakeClock();
  let asked = 0;
  const ask = async () => {
    asked += 1;
    return { rows: [[0]] };
  };
  const exclusively = makeExclusion({ connected: () => ({ ask }) as unknown as Connection, clock });
  let isDone = false;
  const refused = exclusively('name', async () => (isDone = true)).catch((error: unknown) => error);
  for (let passed = 0; passed < 45_000; passed += 100) {
    await expect.poll(() => asked).toBeGreaterThan(passed / 100);
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(100);
  }
  expect(await refused).toMatchObject({ reason: 'unavailable' });
  expect(isDone).toBe(false);
});
