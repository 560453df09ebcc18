import { expect, test } from 'vitest';
import type { JournalEvent, NewEvent } from '../../src/domain/sessions/journal-event.ts';
import { makeBus } from '../../src/events/bus.ts';
import type { Events } from '../../src/store/journal/events.ts';
import { makeTails } from '../../src/events/tail.ts';
import { fenceOf, storeFixture } from '../support/store/store-fixture.ts';
import { waitFor } from '../support/time/wait-for.ts';

const delta = (text: string): NewEvent => ({ type: 'content_block_delta', payload: { index: 0, text } });
const ENDED = { outcome: 'completed', answer: '', stopReason: 'end_turn' } as const;

async function tailFixture() {
  const fixture = await storeFixture();
  const bus = makeBus();
  fixture.store.onCommitted(bus.publish);
  await fixture.accept();
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  /** Begins to follow, reading the store through `events`. `settled` resolves when the bus took over, or it is over. */
  const follow = (afterId = 0, events: Events = fixture.store.events) => {
    const seen: JournalEvent[] = [];
    const failures: unknown[] = [];
    let ended = 0;
    const settled = Promise.withResolvers<void>();
    const tail = makeTails({ bus, events }).follow(run!, afterId, {
      events: (some) => void seen.push(...some),
      live: settled.resolve,
      end: () => {
        ended += 1;
        settled.resolve();
      },
      failed: (error) => {
        failures.push(error);
        settled.resolve();
      },
    });
    const sequence = () => seen.map(({ streamSeq }) => streamSeq);
    return { seen, tail, ended: () => ended, failures, sequence, settled: settled.promise };
  };
  const read = async (afterId = 0) => {
    const reader = follow(afterId);
    await reader.settled;
    return reader;
  };
  const finish = async () => {
    await fixture.store.runs.finalize(fence, ENDED);
    await fixture.store.runs.settle(fence);
  };
  return { ...fixture, bus, run: run!, fence, follow, read, finish };
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

test('a reader gets the past from the store and the present from the bus, each event once, then its end', async () => {
  const fixture = await tailFixture();
  const early = await fixture.read();
  await fixture.store.runs.appendStream(fixture.fence, [delta('a'), delta('b')]);
  const late = await fixture.read();
  await fixture.store.runs.appendStream(fixture.fence, [delta('c')]);
  await fixture.finish();
  for (const reader of [early, late]) {
    expect(reader.sequence()).toEqual(upTo(8));
    expect(reader.ended()).toBe(1);
  }
  expect((await fixture.read()).sequence()).toEqual(upTo(8));
});

test('a cursor leaves out what was read before', async () => {
  const fixture = await tailFixture();
  await fixture.store.runs.appendStream(fixture.fence, [delta('a'), delta('b')]);
  const second = (await fixture.read()).seen[2]!;
  expect((await fixture.read(second.id)).sequence()).toEqual([4]);
});

test('a reader that claims to be past the end gets the end', async () => {
  const fixture = await tailFixture();
  const reader = await fixture.read(1_000_000);
  await fixture.finish();
  expect([reader.seen.length, reader.ended()]).toEqual([0, 1]);
});

test('a closed tail reports nothing more', async () => {
  const fixture = await tailFixture();
  const reader = await fixture.read();
  reader.tail.close();
  await fixture.finish();
  expect(reader.sequence()).toEqual([1, 2]);
  expect(reader.ended()).toBe(0);
});

test('a reader that pauses misses nothing and gets nothing twice', async () => {
  const fixture = await tailFixture();
  const seen: (number | null)[] = [];
  let go = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  makeTails({ bus: fixture.bus, events: fixture.store.events }).follow(fixture.run, 0, {
    events: (events) => {
      seen.push(...events.map(({ streamSeq }) => streamSeq));
      go = Promise.withResolvers<void>();
      return go.promise;
    },
    end: () => ended.resolve(),
    failed: ended.reject,
  });
  for (let count = 0; count < 40; count += 1) {
    await fixture.store.runs.appendStream(fixture.fence, [delta(String(count))]);
    if (count % 7 === 0) go.resolve();
  }
  await fixture.finish();
  const pump = setInterval(() => go.resolve(), 1);
  await ended.promise;
  clearInterval(pump);
  expect(seen).toEqual(upTo(45));
});

test('the events of one run do not reach readers of another', async () => {
  const fixture = await tailFixture();
  const reader = await fixture.read();
  await fixture.accept();
  expect(reader.seen.every(({ runSeq }) => runSeq === fixture.run.seq)).toBe(true);
});

test('a slow reader gets the end of a run whose events were erased with its session', async () => {
  const fixture = await tailFixture();
  const slow = Promise.withResolvers<void>();
  let ended = 0;
  makeTails({ bus: fixture.bus, events: fixture.store.events }).follow(fixture.run, 0, {
    events: () => slow.promise,
    end: () => void (ended += 1),
    failed: () => undefined,
  });
  await fixture.store.sessions.deleteSession(fixture.run.sessionSeq);
  await fixture.store.erasures.eraseRuns(fixture.run.sessionSeq, 0);
  expect(ended).toBe(0);
  slow.resolve();
  await waitFor(() => ended === 1);
});

/** The journal of a store whose answers are held back: each look is made, and answered when it is let go. */
function heldBack(events: Events) {
  const looks: { readonly what: 'list' | 'isOver'; readonly letGo: () => void }[] = [];
  const hold = async <Result>(what: 'list' | 'isOver', answer: Promise<Result>): Promise<Result> => {
    const result = await answer;
    await new Promise<void>((resolve) => looks.push({ what, letGo: resolve }));
    return result;
  };
  const next = async (what: 'list' | 'isOver') => {
    const look = await waitFor(() => looks.shift());
    expect(look.what).toBe(what);
    look.letGo();
  };
  const slow: Events = {
    listOfRun: (...which) => hold('list', events.listOfRun(...which)),
    isOver: (run) => hold('isOver', events.isOver(run)),
  };
  return { slow, next, pending: () => looks.length };
}

test('what is committed while a slow store is read arrives once and in order, whichever look it falls into', async () => {
  const fixture = await tailFixture();
  const { slow, next, pending } = heldBack(fixture.store.events);
  const reader = fixture.follow(0, slow);
  await waitFor(() => pending() === 1);
  // The look has been made, and its answer is still on its way.
  await fixture.store.runs.appendStream(fixture.fence, [delta('a')]);
  expect(reader.seen).toEqual([]);
  await next('list');
  await waitFor(() => reader.seen.length === 2);
  await next('list');
  await waitFor(() => pending() === 1);
  await fixture.store.runs.appendStream(fixture.fence, [delta('b'), delta('c')]);
  await next('isOver');
  await next('list');
  await next('isOver');
  await reader.settled;
  await fixture.store.runs.appendStream(fixture.fence, [delta('d')]);
  expect(reader.sequence()).toEqual(upTo(6));
});

test('a run that ends while a slow store says that it has not ended is followed to its end', async () => {
  const fixture = await tailFixture();
  const { slow, next, pending } = heldBack(fixture.store.events);
  const reader = fixture.follow(0, slow);
  await next('list');
  await waitFor(() => pending() === 1);
  await fixture.finish();
  await next('isOver');
  await next('list');
  await reader.settled;
  expect(reader.sequence()).toEqual(upTo(5));
  expect(reader.ended()).toBe(1);
});

test('a run that ends between a look at its events and the next question is followed to its end', async () => {
  const fixture = await tailFixture();
  const { slow, next, pending } = heldBack(fixture.store.events);
  // This reader learns of the commits between two reads only by reading.
  const deaf = makeBus();
  const seen: (number | null)[] = [];
  const ended = Promise.withResolvers<void>();
  makeTails({ bus: deaf, events: slow }).follow(fixture.run, 0, {
    events: (events) => void seen.push(...events.map(({ streamSeq }) => streamSeq)),
    end: ended.resolve,
    failed: ended.reject,
  });
  await waitFor(() => pending() === 1);
  await fixture.finish();
  await next('list');
  await next('isOver');
  await next('list');
  await ended.promise;
  expect(seen).toEqual(upTo(5));
});

test('a reader that has every event of a run that has ended gets only the end', async () => {
  const fixture = await tailFixture();
  await fixture.finish();
  const reader = await fixture.read(fixture.committed.at(-1)!.id);
  expect([reader.seen, reader.ended()]).toEqual([[], 1]);
});

test('a store that cannot be read ends the tail, and is reported once', async () => {
  const fixture = await tailFixture();
  const refusal = new Error('no disk');
  const reader = fixture.follow(0, { ...fixture.store.events, listOfRun: async () => Promise.reject(refusal) });
  await reader.settled;
  await fixture.finish();
  expect([reader.failures, reader.seen, reader.ended()]).toEqual([[refusal], [], 0]);
});

test('a reader in the middle of a run whose events are removed by age learns of it, and nothing follows', async () => {
  const fixture = await tailFixture();
  await fixture.store.runs.appendStream(fixture.fence, [delta('a'), delta('b')]);
  await fixture.finish();
  await fixture.accept();
  await fixture.store.deliveries.plan();
  const { events } = fixture.store;
  const slow = fixture.follow(0, {
    ...events,
    listOfRun: (run, after) => events.listOfRun(run, after, 2),
    isOver: async (run) => {
      await fixture.store.retention.eventsOfRuns(fixture.clock.now() + 1, { room: () => 100 });
      return events.isOver(run);
    },
  });
  await slow.settled;
  expect([slow.sequence(), slow.ended()]).toEqual([[1, 2], 0]);
  expect(slow.failures).toMatchObject([
    { reason: 'not_found', message: expect.stringContaining('Its result remains') },
  ]);
});

test('the end of a run is waited for without its events: one that comes, and one that has come', async () => {
  const fixture = await tailFixture();
  const waitForEnd = () => {
    const ended = Promise.withResolvers<void>();
    makeTails({ bus: fixture.bus, events: fixture.store.events }).await(fixture.run, {
      end: ended.resolve,
      failed: ended.reject,
    });
    return ended.promise;
  };
  let isOver = false;
  const early = waitForEnd().then(() => (isOver = true));
  await fixture.store.runs.finalize(fixture.fence, ENDED);
  expect(isOver).toBe(false);
  await fixture.store.runs.settle(fixture.fence);
  await early;
  await waitForEnd();
});

test('who no longer waits for an end hears nothing, and a store that cannot be read is reported', async () => {
  const fixture = await tailFixture();
  const heard: string[] = [];
  const listener = { end: () => heard.push('end'), failed: (error: unknown) => heard.push(String(error)) };
  makeTails({ bus: fixture.bus, events: fixture.store.events }).await(fixture.run, listener).close();
  await fixture.finish();
  expect(await fixture.store.events.isOver(fixture.run.seq)).toBe(true);
  const events = { ...fixture.store.events, isOver: async () => Promise.reject(new Error('broken')) };
  makeTails({ bus: fixture.bus, events }).await(fixture.run, listener);
  await waitFor(async () => heard.length > 0);
  expect(heard).toEqual(['Error: broken']);
});
