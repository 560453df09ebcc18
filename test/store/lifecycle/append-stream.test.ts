// Text that many runs stream at once shares a verb: each run's own attempt decides about its part.
import { expect, test } from 'vitest';
import type { Progress } from '../../../src/store/runs/fence.ts';
import { aStep, fenceOf, FREE, storeFixture } from '../../support/store/store-fixture.ts';

const delta = (text: string) => ({ type: 'content_block_delta', payload: { index: 0, text } }) as const;

test('of runs that stream at once, those whose attempt is outdated keep nothing, and the others lose nothing', async () => {
  const fixture = await storeFixture();
  const fences = [];
  for (let count = 0; count < 3; count += 1) {
    await fixture.accept();
    const [run] = await fixture.claim();
    fences.push(fenceOf(run!));
  }
  const [one, two, three] = fences as [(typeof fences)[0], (typeof fences)[0], (typeof fences)[0]];
  const { appendStream, recordStep } = fixture.store.runs;
  fixture.committed.length = 0;
  const kept = await Promise.all([
    appendStream(one, [delta('a'), delta('b')]),
    appendStream({ ...two, attempt: two.attempt + 1 }, [delta('lost')]),
    appendStream(three, [delta('c')]),
    recordStep(one, aStep({ text: 'ab' }), FREE),
    appendStream(one, [delta('d')]),
    appendStream(three, [delta('e')]),
  ]);
  expect(kept).toEqual([true, false, true, true, true, true]);
  // Each run in its order; those of different runs come in any.
  const toldOf = ({ runSeq }: Progress) =>
    fixture.committed
      .filter((event) => event.runSeq === runSeq)
      .map((event) => (event.type === 'content_block_delta' ? event.payload.text : event.type));
  expect([one, two, three].map(toldOf)).toEqual([['a', 'b', 'run.step', 'd'], [], ['c', 'e']]);
  const ids = fixture.committed.map(({ id }) => id);
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
});

test('a verb finds what one before it has added, though both share a commit', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  fixture.committed.length = 0;
  await Promise.all([
    fixture.store.runs.appendStream(fence, [{ type: 'content_block_start', payload: { index: 0 } }, delta('half')]),
    fixture.store.runs.stopSession(fence.sessionSeq, 'operator_requested_stop'),
  ]);
  const told = fixture.committed.filter(({ runSeq }) => runSeq === fence.runSeq).map(({ type }) => type);
  expect(told.slice(0, 3)).toEqual(['content_block_start', 'content_block_delta', 'content_block_stop']);
});
