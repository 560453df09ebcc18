// The live streams of a session and of a run: from any event on, each event once, until the session is deleted.
import { expect, test } from 'vitest';
import { openOffice, watch } from '../../support/http/watch-office.ts';
import { send } from '../../support/http/http-fixture.ts';
import type { SseEvent } from '../../support/http/sse.ts';

const json = (event: SseEvent | undefined) => JSON.parse(event!.data!) as Record<string, unknown>;

test('a stream begins with retry, and without a position after the newest event', {
  tags: ['§4.8-streams', '§6.1-office-mode', 'G16'],
}, async () => {
  const { fixture, session, say, run } = await openOffice();
  await say('past');
  const response = await fetch(`${fixture.url}${session}/stream`, { headers: { authorization: 'Bearer admin-key' } });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader.read()).value).toBe('retry: 2000\n\n');
  await say('present');
  const data = {
    id: 4,
    type: 'content_block_delta',
    session_id: run.sessionId,
    run_id: run.id,
    stream_seq: 4,
    payload: { index: 0, delta: { type: 'text_delta', text: 'present' } },
  };
  expect((await reader.read()).value).toBe(`id: 4\nevent: content_block_delta\ndata: ${JSON.stringify(data)}\n\n`);
  await reader.cancel();
});

const itemsOf = (got: { readonly json: unknown }) =>
  (got.json as { readonly data: { readonly items: readonly Record<string, unknown>[] } }).data.items;

test.each([
  ['stream?replay=true', 0],
  ['stream?after_id=200', 200],
  ['run-events/stream?run_id=RUN&after_id=1', 1],
])(
  '%s brings the past, exactly as stream-events has it, and then the present',
  { tags: ['§4.8-streams', 'G22'] },
  async (query, after) => {
    const { fixture, session, say, run } = await openOffice();
    await say(...Array.from({ length: 450 }, (_, at) => String(at)));
    const past = itemsOf(await send(fixture, { path: `${session}/stream-events?after_id=${after}`, as: 'admin-key' }));
    expect(past).toHaveLength(452 - after);
    const stream = await watch(fixture, `${session}/${query.replace('RUN', run.id)}`);
    for (const item of past) expect(json(await stream.next())).toEqual(item);
    await say('live');
    expect(json(await stream.next())).toMatchObject({ id: 453, payload: { delta: { text: 'live' } } });
  },
);

test('the larger of after_id and Last-Event-ID counts', { tags: ['G9'] }, async () => {
  const { fixture, session, say } = await openOffice();
  await say('a', 'b', 'c');
  const byHeader = await watch(fixture, `${session}/stream?after_id=2`, { 'last-event-id': '4' });
  expect(await byHeader.ids(1)).toEqual([5]);
  const byQuery = await watch(fixture, `${session}/stream?after_id=3`, { 'last-event-id': '2' });
  expect(await byQuery.ids(2)).toEqual([4, 5]);
});

test('watchers that join while events are committed get each once and in order', {
  tags: ['§4.8-streams'],
}, async () => {
  const { fixture, session, say, run } = await openOffice();
  const paths = [`${session}/stream?replay=true`, `${session}/run-events/stream?run_id=${run.id}&after_id=1`];
  const readers: Promise<number[]>[] = [];
  for (let round = 0; round < 60; round += 1) {
    const isOfRun = round % 2;
    if (round % 3 === 0) readers.push(watch(fixture, paths[isOfRun]!).then((stream) => stream.ids(62 - isOfRun)));
    await say(String(round));
  }
  const found = await Promise.all(readers);
  expect(found).toHaveLength(20);
  for (const ids of found) expect(ids).toEqual(Array.from(ids, (_, at) => 62 - ids.length + 1 + at));
});

test("a run's stream has its own events and those that name it, and outlives its end", {
  tags: ['G16', 'G22'],
}, async () => {
  const { fixture, session, accept, finish, store, run, say } = await openOffice();
  const ofRun = await watch(fixture, `${session}/run-events/stream?run_id=${run.id}`);
  const all = await watch(fixture, `${session}/stream`);
  await accept({ sessionId: run.sessionId });
  await say('mine');
  await finish();
  await store.artifacts.failCollection(run.seq, 'No.');
  const read = async (reader: typeof all, count: number) => {
    const found = [];
    while (found.length < count) found.push(json(await reader.next()));
    return found;
  };
  const types = ['content_block_delta', 'run.finalizing', 'message', 'run.done', 'artifacts.failed'];
  const own = await read(ofRun, 5);
  expect(own.map(({ type }) => type)).toEqual(types);
  expect(own.map(({ run_id: id, stream_seq: seq }) => [id, seq])).toEqual([3, 4, 5, 6, null].map((at) => [run.id, at]));
  expect((await read(all, 6)).map(({ type }) => type)).toEqual(['run.queued', ...types]);
  const past = `${session}/stream-events?run_id=${run.id}`;
  expect(itemsOf(await send(fixture, { path: `${past}&after_id=2`, as: 'admin-key' }))).toMatchObject([
    ...own,
    { type: 'workspace_export.failed', run_id: run.id, stream_seq: null },
  ]);
});

test('a deleted session ends its streams after session.deleted', { tags: ['G16'] }, async () => {
  const { fixture, session, run, store, say } = await openOffice();
  await say('a');
  const streams = [
    await watch(fixture, `${session}/stream`),
    await watch(fixture, `${session}/run-events/stream?run_id=${run.id}`),
  ];
  await store.sessions.deleteSession(run.sessionSeq);
  for (const stream of streams) {
    let last: SseEvent | undefined;
    for (let event = await stream.next(); event !== undefined; event = await stream.next()) last = event;
    expect(json(last)).toMatchObject({ type: 'session.deleted', run_id: null, stream_seq: null });
  }
  expect((await send(fixture, { path: `${session}/stream`, as: 'admin-key' })).status).toBe(404);
});

test('many watchers of one event share one rendering of it', async () => {
  const { fixture, session, bus, run, fence } = await openOffice();
  const paths = ['stream', 'stream', `run-events/stream?run_id=${run.id}`, `run-events/stream?run_id=${run.id}`];
  const streams = await Promise.all(paths.map((path) => watch(fixture, `${session}/${path}`)));
  let reads = 0;
  const payload = Object.defineProperty({ index: 0 } as { index: number; text: string }, 'text', {
    enumerable: true,
    get: () => {
      reads += 1;
      return 'shared';
    },
  });
  // They have begun when they have what was committed before.
  await watch(fixture, `${session}/stream?replay=true`).then(({ ids }) => ids(2));
  const place = { id: 9, sessionSeq: fence.sessionSeq, runSeq: fence.runSeq, streamSeq: 9, createdAt: 0 };
  bus.publish([{ type: 'content_block_delta', payload, ...place }]);
  for (const stream of streams)
    expect(json(await stream.next())).toMatchObject({ payload: { delta: { text: 'shared' } } });
  expect(reads).toBe(1);
});

test('the pages of stream-events lead to the newest and to the oldest event, each once', {
  tags: ['§4.8-refill', 'G5'],
}, async () => {
  const { fixture, session, say, finish, store, run } = await openOffice();
  await say(...Array.from({ length: 9 }, (_, at) => String(at)));
  await finish();
  await store.artifacts.failCollection(run.seq, 'No.');
  const walk = async (query: string, next: 'next_after_id' | 'next_before_id', name: string) => {
    const ids: unknown[] = [];
    for (let at: number | undefined; ; ) {
      const from = at === undefined ? '' : `&${name}=${at}`;
      const { json: reply } = await send(fixture, {
        path: `${session}/stream-events?limit=4${query}${from}`,
        as: 'admin-key',
      });
      const {
        items,
        has_more: hasMore,
        ...page
      } = (reply as { data: Record<string, never> & { items: { id: number }[] } }).data;
      ids.push(...items.map(({ id }) => id));
      if (!hasMore) return ids;
      at = page[next];
    }
  };
  const ids = Array.from({ length: 16 }, (_, at) => at + 1);
  for (const query of ['', `&run_id=${run.id}`]) {
    expect(await walk(query, 'next_after_id', 'after_id')).toEqual(ids);
    expect(await walk(`${query}&order=desc`, 'next_before_id', 'before_id')).toEqual(ids.toReversed());
  }
  const from = `${session}/stream-events?run_id=${run.id}&from_stream_seq=5&before_id=8`;
  expect(itemsOf(await send(fixture, { path: from, as: 'admin-key' })).map(({ stream_seq: seq }) => seq)).toEqual([
    5, 6, 7,
  ]);
  const empty = await send(fixture, { path: `${session}/stream-events?after_id=99`, as: 'admin-key' });
  expect(empty.json).toMatchObject({ data: { items: [], has_more: false, next_after_id: 99, next_before_id: null } });
});
