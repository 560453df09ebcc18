import { expect, test } from 'vitest';
import type { JournalEvent, NewEvent } from '../../src/domain/journal-event.ts';
import { makeBus } from '../../src/events/bus.ts';
import { makeTails } from '../../src/events/tail.ts';
import { fenceOf, storeHouse } from '../support/store-house.ts';
import { waitFor } from '../support/wait-for.ts';

const delta = (text: string): NewEvent => ({ type: 'content_block_delta', payload: { index: 0, text } });
const ENDED = { outcome: 'completed', answer: '', stopReason: 'end_turn' } as const;

async function tailHouse() {
  const house = await storeHouse();
  const bus = makeBus();
  house.store.onCommitted(bus.publish);
  await house.accept();
  const [run] = await house.claim();
  const fence = fenceOf(run!);
  const read = (afterId = 0) => {
    const seen: JournalEvent[] = [];
    let ended = 0;
    const tail = makeTails({ bus, events: house.store.events }).follow(run!, afterId, {
      events: (events) => void seen.push(...events),
      end: () => void (ended += 1),
    });
    return { seen, tail, ended: () => ended, sequence: () => seen.map(({ streamSeq }) => streamSeq) };
  };
  const finish = async () => {
    await house.store.runs.finalize(fence, ENDED);
    await house.store.runs.settle(fence);
  };
  return { ...house, bus, run: run!, fence, read, finish };
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

test('a reader gets the past from the store and the present from the bus, each event once, then its end', async () => {
  const house = await tailHouse();
  const early = house.read();
  await house.store.runs.appendStream(house.fence, [delta('a'), delta('b')]);
  const late = house.read();
  await house.store.runs.appendStream(house.fence, [delta('c')]);
  await house.finish();
  for (const reader of [early, late]) {
    expect(reader.sequence()).toEqual(upTo(8));
    expect(reader.ended()).toBe(1);
  }
  expect(house.read().sequence()).toEqual(upTo(8));
});

test('a cursor leaves out what was read before', async () => {
  const house = await tailHouse();
  await house.store.runs.appendStream(house.fence, [delta('a'), delta('b')]);
  const second = house.read().seen[2]!;
  expect(house.read(second.id).sequence()).toEqual([4]);
});

test('a reader that claims to be past the end is told the end', async () => {
  const house = await tailHouse();
  const reader = house.read(1_000_000);
  await house.finish();
  expect([reader.seen.length, reader.ended()]).toEqual([0, 1]);
});

test('a closed tail is told nothing more', async () => {
  const house = await tailHouse();
  const reader = house.read();
  reader.tail.close();
  await house.finish();
  expect(reader.sequence()).toEqual([1, 2]);
  expect(reader.ended()).toBe(0);
});

test('a reader that pauses misses nothing and gets nothing twice', async () => {
  const house = await tailHouse();
  const seen: (number | null)[] = [];
  let go = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  makeTails({ bus: house.bus, events: house.store.events }).follow(house.run, 0, {
    events: (events) => {
      seen.push(...events.map(({ streamSeq }) => streamSeq));
      go = Promise.withResolvers<void>();
      return go.promise;
    },
    end: () => ended.resolve(),
  });
  for (let count = 0; count < 40; count += 1) {
    await house.store.runs.appendStream(house.fence, [delta(String(count))]);
    if (count % 7 === 0) go.resolve();
  }
  await house.finish();
  const pump = setInterval(() => go.resolve(), 1);
  await ended.promise;
  clearInterval(pump);
  expect(seen).toEqual(upTo(45));
});

test('the events of one run are not told to readers of another', async () => {
  const house = await tailHouse();
  const reader = house.read();
  await house.accept();
  expect(reader.seen.every(({ runSeq }) => runSeq === house.run.seq)).toBe(true);
});

test('a slow reader is told the end of a run whose events were erased with its session', async () => {
  const house = await tailHouse();
  const slow = Promise.withResolvers<void>();
  let ended = 0;
  makeTails({ bus: house.bus, events: house.store.events }).follow(house.run, 0, {
    events: () => slow.promise,
    end: () => void (ended += 1),
  });
  await house.store.sessions.deleteSession(house.run.sessionSeq);
  await house.store.erasures.eraseRuns(house.run.sessionSeq, 0);
  expect(ended).toBe(0);
  slow.resolve();
  await waitFor(() => ended === 1);
});
