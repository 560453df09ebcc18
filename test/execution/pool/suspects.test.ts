// Who is charged when a thread dies.
import { expect, test } from 'vitest';
import type { WorkerEnd } from '../../../src/execution/pool/run-on-thread.ts';
import { makeSuspects } from '../../../src/execution/pool/suspects.ts';

const lost = (wasWaiting: boolean): WorkerEnd => ({ kind: 'lost', why: 'it died', wasWaiting, wasRefused: false });
const DONE: WorkerEnd = { kind: 'done', outcome: { status: 'canceled' }, untouched: true };

test('a loss on a shared thread is charged to no run: those executing are isolated, and charged when lost alone', () => {
  const suspects = makeSuspects();
  expect(suspects.has('r')).toBe(false);
  expect(suspects.judge('r', lost(false), false)).toBe(false);
  expect(suspects.has('r')).toBe(true);
  expect(suspects.judge('r', lost(false), true)).toBe(true);
  expect(suspects.has('r')).toBe(true);
});

test('what waited for its model becomes a suspect only when it is lost again', () => {
  const suspects = makeSuspects();
  expect(suspects.judge('r', lost(true), false)).toBe(false);
  expect(suspects.has('r')).toBe(false);
  expect(suspects.judge('r', lost(true), false)).toBe(false);
  expect(suspects.has('r')).toBe(true);
});

test('a run that ends alone is no longer a suspect', () => {
  const suspects = makeSuspects();
  suspects.judge('r', lost(false), false);
  expect(suspects.judge('r', DONE, true)).toBe(false);
  expect(suspects.has('r')).toBe(false);
});
