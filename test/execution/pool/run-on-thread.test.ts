// The main thread's end of a run: signals in order, and the end.
import { expect, test } from 'vitest';
import type { Control, Signal } from '../../../src/agent/port/protocol.ts';
import { openRun } from '../../../src/execution/pool/run-on-thread.ts';

const text = (words: string): Signal => ({ t: 'text', index: 0, text: words });
const DONE: Signal = { t: 'done', outcome: { status: 'completed', text: '', stopReason: 'end_turn' }, untouched: true };

function watch() {
  const seen: string[] = [];
  const posted: Control[] = [];
  const run = openRun(
    {
      signals: (batch) => seen.push(batch.map((signal) => (signal.t === 'text' ? signal.text : signal.t)).join()),
      ended: ({ kind }) => seen.push(kind),
    },
    (control) => posted.push(control),
    () => seen.push('over'),
  );
  return { seen, posted, run };
}

test('the end comes once, after the signals before it, and nothing is sent to the run afterwards', () => {
  const { seen, posted, run } = watch();
  run.take([text('a')]);
  run.take([text('b'), DONE]);
  run.lose('its thread died', false);
  run.send({ t: 'permit' });
  expect(seen).toEqual(['a', 'b', 'done', 'over']);
  expect(posted).toEqual([]);
});

test('a run whose thread is gone says whether it only waited for its model', () => {
  const ends: unknown[] = [];
  const run = openRun(
    { signals: () => undefined, ended: (end) => ends.push(end) },
    () => undefined,
    () => undefined,
  );
  run.waiting[0] = 1;
  run.lose('it died', false);
  expect(ends).toEqual([{ kind: 'lost', why: 'it died', wasWaiting: true, wasRefused: false }]);
});
