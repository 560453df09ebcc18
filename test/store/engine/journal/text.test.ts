// Streamed text in the journal: found, read and removed wherever it is, although the index of its run lacks it.
import { expect, onTestFinished, test } from 'vitest';
import type { NewEvent } from '../../../../src/domain/sessions/journal-event.ts';
import type { EventRange } from '../../../../src/store/journal/pages.ts';
import { inspect } from '../../../../src/store/inspection/inspect.ts';
import { openInspector } from '../../../../src/store/inspection/open-inspector.ts';
import { locationOf, openStore } from '../../../support/store/open-store.ts';
import { aStep, fenceOf, FREE, type StoreFixture, storeFixture } from '../../../support/store/store-fixture.ts';

const COMPLETED = { outcome: 'completed', answer: '', stopReason: 'end_turn' } as const;
const start = (index: number): NewEvent => ({ type: 'content_block_start', payload: { index } });
const stop = (index: number): NewEvent => ({ type: 'content_block_stop', payload: { index } });
const texts = (index: number, count: number): NewEvent[] =>
  Array.from({ length: count }, (_, at) => ({ type: 'content_block_delta', payload: { index, text: `${at}` } }));

/** As if others had filled the journal up to an id. Text behind 150,013 is on both sides of a stretch's end. */
const fillTo = (fixture: StoreFixture, id: number) =>
  fixture.change(
    `INSERT INTO events (id, session_seq, type, payload, created_at) VALUES (${id}, 1, 'session.deleted', '{}', 0)`,
  );

/** A run that has streamed two blocks and has a third one open, far apart in the journal. */
async function farStream() {
  const fixture = await storeFixture();
  const run = await fixture.accept();
  const fence = fenceOf((await fixture.claim())[0]!);
  const { runs } = fixture.store;
  await runs.appendStream(fence, [start(0), ...texts(0, 5)]);
  fillTo(fixture, 150_013);
  await runs.appendStream(fence, [...texts(0, 4), stop(0)]);
  await runs.recordStep(fence, aStep({ stream: [start(1), ...texts(1, 3), stop(1)] }), FREE);
  await runs.appendStream(fence, [start(2), ...texts(2, 2)]);
  fillTo(fixture, 600_000);
  await runs.appendStream(fence, texts(2, 3));
  return { fixture, run, fence };
}

const idsOf = (fixture: StoreFixture, runSeq: number) =>
  fixture.rows<{ id: number }>(`SELECT id FROM events WHERE run_seq = ${runSeq} ORDER BY id`).map(({ id }) => id);

test('each page of a run has the events of its range, in both directions, however far apart they are', async () => {
  const { fixture, run } = await farStream();
  const ids = idsOf(fixture, run.seq);
  expect(ids.length).toBeGreaterThan(22);
  const check = async (range: EventRange) => {
    const { afterId, beforeId, limit, order } = range;
    const own = ids.filter((id) => id > afterId && (beforeId === null || id < beforeId));
    const { events: page } = await fixture.store.events.listOfRunInSession(run, { range, fromStreamSeq: null });
    const expected = order === 'asc' ? own : own.toReversed();
    expect(
      page.map(({ event }) => event.id),
      JSON.stringify(range),
    ).toEqual(expected.slice(0, limit));
  };
  for (const limit of [1, 4, 99])
    for (const afterId of [0, ...ids.flatMap((id) => [id, id + 1])]) {
      const ends = [null, ids[6]!, ids[8]!, ids.at(-1)!, Number.MAX_SAFE_INTEGER];
      const ranges = ends.flatMap((beforeId) =>
        (['asc', 'desc'] as const).map((order) => ({ afterId, beforeId, limit, order })),
      );
      await Promise.all(ranges.map(check));
    }
});

test('a page from each place of the stream on has the events from there', async () => {
  const { fixture, run } = await farStream();
  const ids = idsOf(fixture, run.seq);
  const range = { afterId: 0, beforeId: null, limit: 99, order: 'asc' } as const;
  for (const place of [...ids.keys(), ids.length, ids.length + 9]) {
    const { events: page } = await fixture.store.events.listOfRunInSession(run, { range, fromStreamSeq: place });
    expect(
      page.map(({ event }) => event.id),
      `from ${place}`,
    ).toEqual(ids.slice(Math.max(place - 1, 0)));
  }
});

test('a page of more other events than are read at once is whole', async () => {
  const fixture = await storeFixture();
  const run = await fixture.accept();
  const fence = fenceOf((await fixture.claim())[0]!);
  const blocks = Array.from({ length: 150 }, (_, index) => [start(index), ...texts(index, index % 3), stop(index)]);
  await fixture.store.runs.appendStream(fence, blocks.flat());
  const ids = idsOf(fixture, run.seq);
  const pageOf = async (order: 'asc' | 'desc', limit: number) =>
    (await fixture.store.events.listOfSession(run.sessionSeq, { afterId: 0, beforeId: null, order, limit })).events.map(
      ({ event }) => event.id,
    );
  for (const limit of [100, 101, 430, 999]) {
    expect(await pageOf('asc', limit)).toEqual(ids.slice(0, limit));
    expect(await pageOf('desc', limit)).toEqual(ids.toReversed().slice(0, limit));
  }
});

test('a stream that breaks off in its text is continued at the next place after a restart', async () => {
  const { fixture, run } = await farStream();
  const count = idsOf(fixture, run.seq).length;
  await fixture.store.close();
  const again = openStore(fixture.file, fixture.clock);
  onTestFinished(() => again.close());
  fixture.clock.advance(60_000_000);
  await again.runs.renewLeases('here', [], 60_000);
  const { events } = await again.events.listOfRun(run.seq, 0, 99);
  expect(events.map(({ streamSeq }) => streamSeq)).toEqual(events.map((_, at) => at + 1));
  expect(events.slice(count).map(({ type }) => type)).toEqual(['content_block_stop', 'run.resumed']);
});

test('the last text says when a run had its last event: to the office, and to an examination', async () => {
  const { fixture, run, fence } = await farStream();
  fixture.clock.advance(5_000);
  await fixture.store.runs.appendStream(fence, texts(2, 1));
  const { items } = await fixture.store.office.listRuns(run.sessionSeq, { limit: 9, offset: 0 });
  expect(items[0]!.updatedAt).toBe(fixture.clock.now());
  const store = await openInspector(locationOf(fixture.file));
  onTestFinished(store.close);
  const wish = {
    largeBytes: 1,
    full: false,
    auditEnd: null,
    node: { id: 'node', hasPeers: false },
    defined: null,
    now: 0,
  };
  const stuckAt = async (silentSince: number) =>
    (await inspect(store, { ...wish, silentSince })).stuck.map(({ id, since }) => [id, since]);
  expect(await stuckAt(fixture.clock.now())).toEqual([]);
  expect(await stuckAt(fixture.clock.now() + 1)).toEqual([[run.id, fixture.clock.now()]]);
});

test('a removal in small commits leaves no text without the event before it, and in the end none at all', async () => {
  const { fixture, run, fence } = await farStream();
  await fixture.store.runs.appendStream(fence, [stop(2)]);
  await fixture.store.runs.end(fence, COMPLETED, { untouched: true });
  await fixture.accept();
  fixture.change('UPDATE webhook_planning SET cursor = 1000000');
  fixture.clock.advance(1);
  const rows = () =>
    fixture.rows<{ type: string; stream_seq: number }>(
      `SELECT type, stream_seq FROM events WHERE run_seq = ${run.seq} ORDER BY stream_seq`,
    );
  let before = rows().length;
  for (let more = true; more; ) {
    const rooms = [3, 0];
    const removed = await fixture.store.retention.eventsOfRuns(fixture.clock.now(), { room: () => rooms.shift() ?? 0 });
    const left = rows();
    expect(before - left.length).toBe(removed.rows);
    expect(removed.rows).toBeLessThanOrEqual(3);
    expect(left[0]?.type).not.toBe('content_block_delta');
    expect(left[0]?.stream_seq).not.toBe(1);
    [before, more] = [left.length, removed.more];
  }
  expect(before).toBe(0);
});
