// The main thread's end of a run: messages in order, one that is missing, and the end.
import { expect, test } from 'vitest';
import type { Control, Signal } from '../../../src/agent/port/protocol.ts';
import { openLine } from '../../../src/execution/executor/line.ts';

const text = (words: string): Signal => ({ t: 'text', index: 0, text: words });
const DONE: Signal = { t: 'done', outcome: { status: 'completed', text: '', stopReason: 'end_turn' }, untouched: true };

function watch() {
  const seen: string[] = [];
  const posted: Control[] = [];
  const line = openLine({
    sink: {
      signals: (batch) => seen.push(batch.map((signal) => (signal.t === 'text' ? signal.text : signal.t)).join()),
      garbled: () => seen.push('garbled'),
      ended: ({ kind }) => seen.push(kind),
    },
    post: (control) => posted.push(control),
    ended: () => seen.push('over'),
  });
  return { seen, posted, line };
}

test('the end comes once, after the signals before it, and nothing is sent to the run afterwards', () => {
  const { seen, posted, line } = watch();
  line.take({ line: 1, number: 0, batch: [text('a')] });
  line.take({ line: 1, number: 1, batch: [text('b'), DONE] });
  line.lose('its thread died');
  line.ping();
  expect(seen).toEqual(['a', 'b', 'done', 'over']);
  expect(posted).toEqual([]);
});

test('a message that is missing is reported once, with the next one', () => {
  const { seen, line } = watch();
  line.take({ line: 1, number: 0, batch: [text('a')] });
  line.take({ line: 1, number: 2, batch: [text('c')] });
  line.take({ line: 1, number: 3, batch: [text('d')] });
  expect(seen).toEqual(['a', 'garbled', 'c', 'd']);
});

test('a run whose last message is missing is reported, and ends without an outcome', () => {
  const { seen, line } = watch();
  line.take({ line: 1, number: -1, batch: [{ t: 'done', outcome: { status: 'canceled' }, untouched: false }] });
  expect(seen).toEqual(['garbled', 'done', 'over']);
});

test('a run whose thread is gone says whether it only waited for its model', () => {
  const ends: unknown[] = [];
  const sink = { signals: () => undefined, garbled: () => undefined, ended: (end: unknown) => ends.push(end) };
  const line = openLine({ sink, post: () => undefined, ended: () => undefined });
  line.waiting[0] = 1;
  line.lose('it died');
  expect(ends).toEqual([{ kind: 'lost', why: 'it died', wasWaiting: true }]);
});
