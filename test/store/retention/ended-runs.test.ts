// The removal by the ends of runs passes those that are done, after a clock that was set back has made it begin anew.
import { expect, test } from 'vitest';
import { fenceOf, storeHouse } from '../../support/store/store-house.ts';

const HOUR = 3_600_000;
const ALL = { room: () => 100 };

/** A commit whose statements may remove or pass so many rows each. */
const aCommit = (...rooms: number[]) => ({ room: () => rooms.shift() ?? 0 });

/** Runs without journals, the last of which ended after them and has one, and a removal that begins anew. */
async function doneHouse(done: number) {
  const house = await storeHouse();
  const { store, clock } = house;
  const finish = async () => {
    await house.accept();
    const fence = fenceOf((await house.claim())[0]!);
    await store.runs.finalize(fence, { outcome: 'completed', answer: 'Done.', stopReason: 'end_turn' });
    await store.runs.settle(fence, { untouched: true });
    clock.advance(HOUR);
    return fence.runSeq;
  };
  await store.retention.lookAtClock();
  for (let no = 0; no < done; no += 1) await finish();
  const before = clock.now() - 1;
  const last = await finish();
  await house.accept();
  await store.deliveries.plan();
  await store.retention.eventsOfRuns(before, ALL);
  clock.jump(-24 * HOUR);
  await store.retention.lookAtClock();
  const place = () => house.rows<{ key: number }>('SELECT key FROM retention_places')[0]?.key;
  const events = (runSeq: number) => house.rows(`SELECT id FROM events WHERE run_seq = ${runSeq}`).length;
  return { ...store.retention, before, last, place, events };
}

test('a statement passes as many runs as it may remove rows, and the next commit continues there', async () => {
  const house = await doneHouse(5);
  expect(house.place()).toBe(undefined);
  expect(await house.eventsOfRuns(house.before, aCommit(2, 1))).toEqual({ rows: 0, more: true });
  expect(house.place()).toBe(3);
  expect(await house.eventsOfRuns(house.before, aCommit(9))).toEqual({ rows: 0, more: false });
  expect(house.place()).toBe(5);
});

test('the first run that is left is not passed', async () => {
  const house = await doneHouse(3);
  expect(house.events(house.last)).toBeGreaterThan(0);
  const later = house.before + HOUR;
  expect(await house.eventsOfRuns(later, aCommit(9))).toEqual({ rows: 0, more: true });
  expect(house.place()).toBe(3);
  await house.eventsOfRuns(later, ALL);
  expect([house.place(), house.events(house.last)]).toEqual([4, 0]);
});
