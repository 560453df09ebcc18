// Objects that one process holds and another one would remove.
import { expect, onTestFinished, test } from 'vitest';
import { makeHeldObjects } from '../../../../src/execution/artifacts/removal/held-objects.ts';
import { makeObjectSweeper } from '../../../../src/execution/artifacts/removal/object-sweeper.ts';
import { makeHolds } from '../../../../src/files/blobs/holds.ts';
import { makeLog } from '../../../../src/log/log.ts';
import { storeFixture } from '../../../support/store/store-fixture.ts';

const MINUTE_MS = 60_000;

test('an object that a process holds for hours is removed by no other one, and an hour after it is let go', {
  tags: ['L7'],
}, async () => {
  const { store, clock } = await storeFixture();
  const log = makeLog({ level: 'fatal' });
  const holds = makeHolds(async () => true);
  const removed: string[] = [];
  const services = [
    makeHeldObjects({ store, blobs: { listHeld: holds.list }, clock, log }),
    makeObjectSweeper({
      store,
      blobs: { isHeld: () => false },
      bucket: { remove: async (key) => void removed.push(key) },
      clock,
      log,
    }),
  ];
  for (const service of services) {
    onTestFinished(service.stop);
    service.wake();
  }
  const passing = async (minutes: number) => {
    for (let passed = 0; passed < minutes; passed += 5) {
      clock.advance(5 * MINUTE_MS);
      for (const { settled } of services) await settled();
    }
    return removed;
  };
  const held = holds.open();
  held.add('held');
  await store.objects.note(['held', 'free']);
  expect(await passing(180)).toEqual(['free']);
  held.release();
  expect(await passing(90)).toEqual(['free', 'held']);
});
