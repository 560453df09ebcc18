// The removal by the ends of runs passes those that are done, after a clock that was set back has made it begin anew.
import { expect, test } from 'vitest';
import { fenceOf, storeFixture } from '../../support/store/store-fixture.ts';

const HOUR = 3_600_000;
const ALL = { room: () => 100 };

/** A commit whose statements may remove or pass so many rows each. */
const aCommit = (...rooms: number[]) => ({ room: () => rooms.shift() ?? 0 });

/** Runs without journals, the last of which ended after them and has one, and a removal that begins anew. */
async function doneFixture(done: number) {
  const fixture = await storeFixture();
  const { store, clock } = fixture;
  const finish = async () => {
    await fixture.accept();
    const fence = fenceOf((await fixture.claim())[0]!);
    await store.runs.finalize(fence, { outcome: 'completed', answer: 'Done.', stopReason: 'end_turn' });
    await store.runs.settle(fence, { untouched: true });
    clock.advance(HOUR);
    return fence.runSeq;
  };
  await store.retention.lookAtClock();
  for (let no = 0; no < done; no += 1) await finish();
  const before = clock.now() - 1;
  const last = await finish();
  await fixture.accept();
  await store.deliveries.plan();
  await store.retention.eventsOfRuns(before, ALL);
  clock.jump(-24 * HOUR);
  await store.retention.lookAtClock();
  const place = () => fixture.rows<{ key: number }>('SELECT key FROM retention_places')[0]?.key;
  const events = (runSeq: number) => fixture.rows(`SELECT id FROM events WHERE run_seq = ${runSeq}`).length;
  return { ...store.retention, before, last, place, events };
}

test('a statement passes as many runs as it may remove rows, and the next commit continues there', async () => {
  const fixture = await doneFixture(5);
  expect(fixture.place()).toBe(undefined);
  expect(await fixture.eventsOfRuns(fixture.before, aCommit(2, 1))).toEqual({ rows: 0, more: true });
  expect(fixture.place()).toBe(3);
  expect(await fixture.eventsOfRuns(fixture.before, aCommit(9))).toEqual({ rows: 0, more: false });
  expect(fixture.place()).toBe(5);
});

test('the first run that is left is not passed', async () => {
  const fixture = await doneFixture(3);
  expect(fixture.events(fixture.last)).toBeGreaterThan(0);
  const later = fixture.before + HOUR;
  expect(await fixture.eventsOfRuns(later, aCommit(9))).toEqual({ rows: 0, more: true });
  expect(fixture.place()).toBe(3);
  await fixture.eventsOfRuns(later, ALL);
  expect([fixture.place(), fixture.events(fixture.last)]).toEqual([4, 0]);
});
