// Messages of a run that come in two ways are delivered in one order.
import { expect, test } from 'vitest';
import type { SignalBatch } from '../../../src/agent/port/protocol.ts';
import { makeSequence } from '../../../src/execution/executor/sequence.ts';

function watch() {
  const seen: string[] = [];
  const textOf = (batch: SignalBatch) => batch.map((signal) => (signal.t === 'text' ? signal.text : '')).join('');
  const sequence = makeSequence(
    (batch) => seen.push(textOf(batch)),
    () => seen.push('over'),
  );
  const take = (number: number, text: string) =>
    sequence.take({ line: 1, number, batch: [{ t: 'text', index: 0, text }] });
  return { seen, take, broken: sequence.broken, close: sequence.close };
}

test('what comes early waits for what was sent before it', () => {
  const { seen, take } = watch();
  take(2, 'c');
  take(1, 'b');
  expect(seen).toEqual([]);
  take(0, 'a');
  take(3, 'd');
  expect(seen).toEqual(['a', 'b', 'c', 'd']);
});

test('a port that closes first is over once the mail has come', () => {
  const { seen, take, close } = watch();
  take(1, 'b');
  close();
  expect(seen).toEqual([]);
  take(0, 'a');
  expect(seen).toEqual(['a', 'b', 'over']);
});

test('a port that closes when nothing waits is over', () => {
  const { seen, take, close } = watch();
  take(0, 'a');
  close();
  expect(seen).toEqual(['a', 'over']);
});

test('nothing waits for a message that was lost', () => {
  const { seen, take, broken, close } = watch();
  take(2, 'c');
  broken();
  take(4, 'e');
  close();
  expect(seen).toEqual(['c', 'e', 'over']);
});
