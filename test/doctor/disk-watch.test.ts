import { expect, test } from 'vitest';
import { makeDiskWatch } from '../../src/doctor/disk-watch.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { loggedLines } from '../support/http/http-fixture.ts';
import { storeFixture } from '../support/store/store-fixture.ts';

const HOUR_MS = 3_600_000;

test('the free space is noted at once and then hourly, also across a restart', async () => {
  const { store, clock } = await storeFixture();
  const parts = { store, node: 'north', directory: temporaryDirectory(), clock, log: loggedLines().log };
  const count = async () => (await store.diskSamples.list('north')).length;
  const first = makeDiskWatch(parts);
  first.wake();
  await first.settled();
  expect(await count()).toBe(1);
  await first.stop();

  clock.advance(HOUR_MS / 2);
  const second = makeDiskWatch(parts);
  second.wake();
  await second.settled();
  expect(await count()).toBe(1);
  clock.advance(HOUR_MS / 2);
  await second.settled();
  expect(await count()).toBe(2);
  await second.stop();
});
