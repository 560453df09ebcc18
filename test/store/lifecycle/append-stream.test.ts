// Text that many runs stream at once shares a verb: each run's own attempt decides about its part.
import { expect, test } from 'vitest';
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
  const told = fixture.committed.map((event) => [
    event.runSeq,
    event.type === 'content_block_delta' ? event.payload.text : event.type,
  ]);
  expect(told).toEqual([
    [one.runSeq, 'a'],
    [one.runSeq, 'b'],
    [three.runSeq, 'c'],
    [one.runSeq, 'run.step'],
    [one.runSeq, 'd'],
    [three.runSeq, 'e'],
  ]);
});
