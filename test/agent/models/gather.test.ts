// Fewer pieces, the same text.
import { expect, test } from 'vitest';
import { gatherText } from '../../../src/agent/models/gather.ts';
import { waitFor } from '../../support/time/wait-for.ts';

function gatherer(gatherMs: number) {
  const pieces: string[] = [];
  return {
    pieces,
    ...gatherText(
      () => gatherMs,
      (text) => pieces.push(text),
    ),
  };
}

test('what arrives in one turn passes at once and together, what follows within the window waits', async () => {
  const { pieces, add, flush } = gatherer(60_000);
  for (const text of ['a', 'b']) add(text);
  expect(pieces).toEqual([]);
  await Promise.resolve();
  expect(pieces).toEqual(['ab']);
  for (const text of ['c', 'd', 'e']) add(text);
  await new Promise((resolve) => setImmediate(resolve));
  expect(pieces).toEqual(['ab']);
  flush();
  expect(pieces).toEqual(['ab', 'cde']);
});

test('a text that nothing follows leaves when its window ends', async () => {
  const { pieces, add } = gatherer(20);
  for (const text of ['a', 'b', 'c']) {
    add(text);
    await waitFor(() => pieces.includes(text));
  }
  expect(pieces).toEqual(['a', 'b', 'c']);
});

test('a flush passes nothing twice, and nothing where there is nothing', async () => {
  const { pieces, add, flush } = gatherer(0);
  flush();
  add('a');
  flush();
  await new Promise((resolve) => setImmediate(resolve));
  expect(pieces).toEqual(['a']);
});
