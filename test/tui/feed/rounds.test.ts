import { expect, test } from 'vitest';
import { nextRounds, roundsByRun } from '../../../src/tui/feed/rounds.ts';
import type { Rounds } from '../../../src/tui/feed/sources.ts';
import { desk, type DeskState, EMPTY_LOG } from '../../../src/tui/state/desk-state.ts';
import { anEvent, runId, sessionId } from '../../support/http/office-server.ts';

/** A desk whose events begin with those of these runs. */
function deskWith(runs: readonly number[], isAtEnd = true): DeskState {
  const events = runs.map((run, at) => ({ ...anEvent(run, 'run.queued'), id: at + 1 }));
  return { ...desk(sessionId(1)), log: { ...EMPTY_LOG, events, isAtEnd } };
}

const pagesOf = (runs: readonly number[], { hasOlder = false, isAtEnd = true } = {}): Rounds => ({
  items: runs.map((run) => ({ run_id: runId(run) })) as unknown as Rounds['items'],
  hasOlder,
  isAtEnd,
});

test('rounds are found by their runs', () => {
  expect([...roundsByRun(pagesOf([1, 2])).keys()]).toEqual([runId(1), runId(2)]);
  expect(roundsByRun(undefined).size).toBe(0);
});

test('older rounds are read while the first run in sight has none', () => {
  const screen = deskWith([1, 2, 3]);
  expect(nextRounds(screen, pagesOf([2, 3], { hasOlder: true }), true)).toBe('older');
  expect(nextRounds(screen, pagesOf([1, 2, 3], { hasOlder: true }), true)).toBeUndefined();
  expect(nextRounds(screen, pagesOf([2, 3]), true)).toBeUndefined();
  expect(nextRounds(screen, undefined, true)).toBeUndefined();
});

test('the newest rounds, which gave way to older ones, are read again at the end', () => {
  const pages = pagesOf([1, 2], { isAtEnd: false });
  expect(nextRounds(deskWith([1, 2, 3]), pages, true)).toBe('newest');
  expect(nextRounds(deskWith([1, 2, 3]), pages, false)).toBeUndefined();
  expect(nextRounds(deskWith([1, 2], false), pages, true)).toBeUndefined();
});
