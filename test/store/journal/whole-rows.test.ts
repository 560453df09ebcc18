// Pages of a journal whose events are long: they end early, and readers go on until all of it is read.
import { expect, test } from 'vitest';
import type { JournalEvent } from '../../../src/domain/sessions/journal-event.ts';
import { PORTION_BYTES } from '../../../src/domain/portions.ts';
import { makeBus } from '../../../src/events/bus.ts';
import { makeTails } from '../../../src/events/tail.ts';
import { aStep, fenceOf, FREE, storeFixture } from '../../support/store/store-fixture.ts';

/** Lengths of the arguments of calls: three of these are more than a page has. */
const LONG = [1, 2, 3].map((times) => times * (PORTION_BYTES / 4));

async function longRun() {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  for (const [at, length] of LONG.entries()) {
    const calls = [{ id: `t${at}`, name: 'shell', input: { command: 'x'.repeat(length) } }];
    await fixture.store.runs.recordStep(fence, aStep({ step: at + 1, kind: 'tools', calls }), FREE);
  }
  await fixture.store.runs.finalize(fence, { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await fixture.store.runs.settle(fence);
  return { ...fixture, run: run! };
}

const lengthsIn = (events: readonly JournalEvent[]) =>
  events.flatMap((event) =>
    event.type === 'tool_use' ? [(event.payload.input as { command: string }).command.length] : [],
  );

test('a page of long events is shorter than its limit, in both orders, and says so', async () => {
  const { store, run } = await longRun();
  const { events, isCut } = await store.events.listOfRun(run.seq, 0, 500);
  expect([lengthsIn(events), isCut]).toEqual([LONG.slice(0, 2), true]);
  const range = { afterId: 0, beforeId: null, order: 'desc', limit: 500 } as const;
  const newest = await store.events.listOfSession(run.sessionSeq, range);
  expect([lengthsIn(newest.events.map(({ event }) => event)), newest.isCut]).toEqual([LONG.slice(2), true]);
  const before = { ...range, beforeId: newest.events.at(-1)!.event.id };
  const rest = await store.events.listOfRunInSession(
    { seq: run.seq, id: run.id },
    { range: before, fromStreamSeq: null },
  );
  expect([lengthsIn(rest.events.map(({ event }) => event)), rest.isCut]).toEqual([[LONG[1], LONG[0]], false]);
});

test('a reader of a run with long events gets all of them', async () => {
  const { store, run } = await longRun();
  const seen: JournalEvent[] = [];
  const over = Promise.withResolvers<void>();
  const listener = { events: (some: readonly JournalEvent[]) => void seen.push(...some), failed: over.reject };
  makeTails({ bus: makeBus(), events: store.events }).follow(run, 0, { ...listener, end: over.resolve });
  await over.promise;
  expect(lengthsIn(seen)).toEqual(LONG);
});
