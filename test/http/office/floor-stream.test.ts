// The stream of the floor: run-level events of all sessions, resumed from the last ones that are kept.
import { expect, test } from 'vitest';
import { makeBus } from '../../../src/events/bus.ts';
import { makeOfficeFeed } from '../../../src/events/office-feed.ts';
import { OFFICE, openOffice, watch } from '../../support/http/watch-office.ts';
import { aStep, FREE } from '../../support/store/store-fixture.ts';
import type { SseEvent } from '../../support/http/sse.ts';

const PATH = `${OFFICE}/stream`;
const json = (event: SseEvent | undefined) => JSON.parse(event!.data!) as Record<string, unknown>;

test("it has the events of all users's runs, but for their words", async () => {
  const { fixture, run, accept, say, finish, store } = await openOffice();
  const stream = await watch(fixture, PATH);
  await say('hidden');
  const other = await accept();
  await say('hidden');
  await finish();
  await store.sessions.deleteSession(other.sessionSeq);
  const seen = [];
  while (seen.length < 6) seen.push(json(await stream.next()));
  expect(seen.map(({ type, session_id: session, run_id: id }) => [type, session, id])).toEqual([
    ['run.queued', other.sessionId, other.id],
    ['run.finalizing', run.sessionId, run.id],
    ['message', run.sessionId, run.id],
    ['run.done', run.sessionId, run.id],
    ['run.stopped', other.sessionId, other.id],
    ['session.deleted', other.sessionId, null],
  ]);
});

test('a watcher resumes from any event that is kept, without a gap', async () => {
  const { fixture, accept, run } = await openOffice();
  for (let count = 0; count < 20; count += 1) await accept({ sessionId: run.sessionId });
  const ids = Array.from({ length: 22 }, (_, at) => at + 1);
  for (const last of [1, 2, 15, 21]) {
    const byHeader = await watch(fixture, PATH, { 'last-event-id': String(last) });
    expect(await byHeader.ids(22 - last)).toEqual(ids.slice(last));
    const byQuery = await watch(fixture, `${PATH}?after_id=${last}`, { 'last-event-id': '1' });
    expect(await byQuery.ids(22 - last)).toEqual(ids.slice(last));
  }
});

test('a watcher that resumes after events that are no longer kept gets a reset, and continues from there', async () => {
  const { fixture, accept, run } = await openOffice({ kept: 5 });
  for (let count = 0; count < 20; count += 1) await accept({ sessionId: run.sessionId });
  const stream = await watch(fixture, PATH, { 'last-event-id': '3' });
  expect(await stream.next()).toEqual({ id: '22', event: 'reset', data: '{}', comment: null });
  await accept();
  expect(await stream.ids(1)).toEqual([23]);
  const kept = await watch(fixture, PATH, { 'last-event-id': '20' });
  expect(await kept.ids(3)).toEqual([21, 22, 23]);
});

test('what an earlier daemon has sent is followed by a reset', async () => {
  const { fixture, accept, clock } = await openOffice();
  const bus = makeBus();
  const later = makeOfficeFeed({ bus, scopes: { known: () => undefined, lookUp: async () => undefined }, clock });
  expect([later.isKept(1), later.newestId()]).toEqual([false, 0]);
  bus.publish([
    { id: 8, sessionSeq: 1, runSeq: 1, streamSeq: 1, createdAt: 0, type: 'run.resumed', payload: { resumes: 1 } },
  ]);
  expect([6, 7, 8].map(later.isKept)).toEqual([false, true, true]);
  // One that names no event begins with what is new.
  const stream = await watch(fixture, PATH);
  await accept();
  expect(await stream.ids(1)).toEqual([3]);
});

test('while nobody watches, nothing is kept: the first watcher that resumes gets a reset', async () => {
  const { fixture, accept, run } = await openOffice({ wasWatched: false });
  await accept({ sessionId: run.sessionId });
  const stream = await watch(fixture, PATH, { 'last-event-id': '2' });
  expect(await stream.next()).toEqual({ id: '3', event: 'reset', data: '{}', comment: null });
  await accept();
  expect(await stream.ids(1)).toEqual([4]);
});

test('large inputs are held and sent by their start alone', { tags: ['G18'] }, async () => {
  const { fixture, store, fence } = await openOffice();
  const stream = await watch(fixture, PATH);
  const calls = [{ id: 'a', name: 'write_file', input: { path: 'a.md', content: 'x'.repeat(1_000_000) } }];
  await store.runs.recordStep(fence, aStep({ calls }), FREE);
  await stream.next();
  const { payload } = json(await stream.next()) as { payload: Record<string, unknown> };
  expect(payload).toMatchObject({ name: 'write_file', truncated: true, input: { path: 'a.md' } });
  expect(JSON.stringify(payload).length).toBeLessThan(4_300);
});

test('it has the last words of runs that write, once a second, without an id to resume from', async () => {
  const { fixture, run, say, clock } = await openOffice();
  const stream = await watch(fixture, PATH);
  await say('Spring tides ', 'come twice');
  await say(' a month.');
  clock.advance(1_000);
  const said = await stream.next();
  expect(said).toMatchObject({ id: null, event: 'run.words' });
  expect(json(said)).toEqual({
    id: 5,
    type: 'run.words',
    session_id: run.sessionId,
    run_id: run.id,
    stream_seq: 5,
    payload: { text: 'Spring tides come twice a month.' },
  });
});
