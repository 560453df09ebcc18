// A pass over what is old: how much one commit takes follows from how long the last ones took.
import { expect, test } from 'vitest';
import { removeDue } from '../../src/retention/pass.ts';
import type { Batch, Cursor } from '../../src/store/retention/batch.ts';
import { fakeClock } from '../support/time/fake-clock.ts';

const NO_TIMER = { cancel: () => undefined };

/** Removes in commits that wait so long, and take this long to be written. Returns how many portions each had. */
async function portionsOf(commitsMs: readonly number[], waitMs = 0): Promise<number[]> {
  const clock = fakeClock();
  const portions: number[] = [];
  async function remove(_bound: number, batch: Batch) {
    let count = 0;
    clock.advance(waitMs);
    for (; batch.room() > 0; count += 1) clock.advance(0.25);
    clock.advance(commitsMs[portions.length]!);
    portions.push(count);
    return { rows: count, more: portions.length < commitsMs.length };
  }
  // Pauses between commits pass at once.
  const quick = { ...clock, after: (_ms: number, done: () => void) => clock.after(0, done) };
  const due = [{ kind: { name: 'events', remove }, bound: 0 }];
  const pass = removeDue(due, { clock: quick, stopping: new AbortController().signal, told: () => undefined });
  let isOver = false;
  void pass.then(() => (isOver = true));
  while (!isOver) {
    await new Promise<void>((resolve) => void setImmediate(resolve));
    clock.advance(0);
  }
  return portions;
}

test('commits have three milliseconds of statements while the disk is fast', async () => {
  expect(await portionsOf([1, 4, 2])).toEqual([12, 12, 12]);
});

test('slow commits make the next ones smaller, down to half a millisecond, and fast ones let them grow again', async () => {
  expect(await portionsOf([30, 30, 30, 30, 9, 1, 1, 1])).toEqual([12, 6, 3, 2, 2, 2, 3, 4]);
});

test('what is slow is the commit, not the turns that others have before it', async () => {
  expect(await portionsOf([1, 1], 500)).toEqual([12, 12]);
});

test('a commit continues where the one before it ended, and each kind begins anew', async () => {
  const from: (Cursor | undefined)[] = [];
  const remove = async (_bound: number, _batch: Batch, place?: Cursor) => {
    from.push(place);
    return { rows: 0, more: place === undefined, next: { at: 7, key: from.length } };
  };
  const due = ['one', 'two'].map((name) => ({ kind: { name, remove }, bound: 0 }));
  const clock = { ...fakeClock(), after: (_ms: number, done: () => void) => (setImmediate(done), NO_TIMER) };
  await removeDue(due, { clock, stopping: new AbortController().signal, told: () => undefined });
  expect(from).toEqual([undefined, { at: 7, key: 1 }, undefined, { at: 7, key: 3 }]);
});
