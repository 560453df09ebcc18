// The journal of a session: its pages hold every event in order, although streamed text is read by run.
import { expect, test } from 'vitest';
import type { NewEvent } from '../../../src/domain/sessions/journal-event.ts';
import type { EventRange } from '../../../src/store/journal/pages.ts';
import { aStep, fenceOf, FREE, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

const COMPLETED = { outcome: 'completed', answer: '', stopReason: 'end_turn' } as const;
const start = (index: number): NewEvent => ({ type: 'content_block_start', payload: { index } });
const stop = (index: number): NewEvent => ({ type: 'content_block_stop', payload: { index } });
const texts = (index: number, count: number): NewEvent[] =>
  Array.from({ length: count }, (_, at) => ({ type: 'content_block_delta', payload: { index, text: `${at}` } }));

/** Two sessions whose runs stream by turns: through a crash, while others are queued and stopped, and up to an open block. */
async function busyFixture() {
  const fixture = await storeFixture();
  const { runs } = fixture.store;
  const [first, beside] = [await fixture.accept(), await fixture.accept()];
  const { sessionId, sessionSeq } = first;
  const claimed = await fixture.claim(2);
  const [own, other] = [first, beside].map(({ seq }) => fenceOf(claimed.find((run) => run.seq === seq)!));
  await runs.appendStream(own!, [start(0), ...texts(0, 40)]);
  await runs.appendStream(other!, [start(0), ...texts(0, 2)]);
  const queued = await fixture.accept({ sessionId });
  await runs.appendStream(own!, texts(0, 2));
  await runs.stopRun({ sessionSeq, runSeq: queued.seq }, 'user_requested_stop');
  await fixture.accept({ sessionId });
  await runs.appendStream(own!, texts(0, 1));
  await runs.appendStream(other!, texts(0, 1));
  await runs.interrupt(own!, 'crash');
  const again = fenceOf((await fixture.claim())[0]!);
  await runs.appendStream(again, [start(1), ...texts(1, 4), stop(1), start(2), stop(2)]);
  await runs.recordStep(again, aStep({ stream: [start(3), ...texts(3, 1), stop(3)] }), FREE);
  await runs.end(again, COMPLETED, { untouched: true });
  const last = fenceOf((await fixture.claim())[0]!);
  await runs.appendStream(last, [start(0), ...texts(0, 3)]);
  await fixture.accept({ sessionId });
  await runs.appendStream(last, texts(0, 2));
  return { fixture, sessionSeq };
}

const idsOf = (fixture: StoreFixture, sessionSeq: number) =>
  fixture
    .rows<{ id: number }>(`SELECT id FROM events WHERE session_seq = ${sessionSeq} ORDER BY id`)
    .map(({ id }) => id);

test('each page of a session has the events of its range, in both directions', async () => {
  const { fixture, sessionSeq } = await busyFixture();
  const ids = idsOf(fixture, sessionSeq);
  expect(ids.length).toBeGreaterThan(35);
  const pageOf = async (range: EventRange) =>
    (await fixture.store.events.listOfSession(sessionSeq, range)).events.map(({ event }) => event.id);
  // Ids of events, and some in between.
  const bounds = [0, ...ids.flatMap((id, at) => (at % 3 === 0 ? [id, id + 1] : [id]))];
  const check = async (range: Omit<EventRange, 'order'>) => {
    const { afterId, beforeId, limit } = range;
    const own = ids.filter((id) => id > afterId && (beforeId === null || id < beforeId));
    const [asc, desc] = await Promise.all([pageOf({ ...range, order: 'asc' }), pageOf({ ...range, order: 'desc' })]);
    expect(asc, JSON.stringify(range)).toEqual(own.slice(0, limit));
    expect(desc, JSON.stringify(range)).toEqual(own.toReversed().slice(0, limit));
  };
  for (const limit of [1, 2, 7, 30, 99])
    for (const beforeId of [null, ids[5]!, ids[19]!, ids.at(-1)!])
      await Promise.all(bounds.map((afterId) => check({ afterId, beforeId, limit })));
});

test('an event of a page names its run', async () => {
  const { fixture, sessionSeq } = await busyFixture();
  const range = { afterId: 0, beforeId: null, order: 'asc', limit: 99 } as const;
  const named = (await fixture.store.events.listOfSession(sessionSeq, range)).events.map(({ event, runId }) => [
    event.id,
    runId,
  ]);
  const rows = fixture.rows<{ id: number; run: string }>(
    `SELECT e.id, r.id AS run FROM events e LEFT JOIN runs r ON r.seq = e.run_seq
     WHERE e.session_seq = ${sessionSeq} ORDER BY e.id`,
  );
  expect(named).toEqual(rows.map(({ id, run }) => [id, run]));
});

test('the newest event of a session may be text, and may be another', async () => {
  const { fixture, sessionSeq } = await busyFixture();
  const newest = () => fixture.store.events.newestId(sessionSeq);
  expect(await newest()).toBe(idsOf(fixture, sessionSeq).at(-1));
  await fixture.store.runs.stopSession(sessionSeq, 'user_requested_stop');
  expect(await newest()).toBe(idsOf(fixture, sessionSeq).at(-1));
});
