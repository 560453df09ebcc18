import { expect, test } from 'vitest';
import { append, appendPage, gapBefore, MAX_EVENTS, prependPage } from '../../../src/tui/feed/event-log.ts';
import { EMPTY_LOG } from '../../../src/tui/state/desk-state.ts';
import { anEvent, runId } from '../../support/http/office-server.ts';

const events = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => ({
    ...anEvent(1, 'run.step'),
    id: from + at,
    stream_seq: from + at,
  }));
const page = (from: number, to: number, hasMore: boolean) => ({
  session_id: '',
  items: events(from, to),
  has_more: hasMore,
  next_after_id: to,
  next_before_id: from,
});
const ids = (log: { events: readonly { id: number }[] }) => log.events.map(({ id }) => id);

test('events are in order, each once', () => {
  const log = append(append(EMPTY_LOG, events(5, 8)), [...events(7, 9), ...events(3, 4)]);
  expect(ids(log)).toEqual([3, 4, 5, 6, 7, 8, 9]);
});

test('the log is bounded: the oldest go, and are there to be read again', () => {
  const log = append(EMPTY_LOG, events(1, MAX_EVENTS + 1));
  expect(log).toMatchObject({ hasOlder: true, isAtEnd: true });
  expect(log.events.length).toBeLessThanOrEqual(MAX_EVENTS);
  expect(log.events.at(-1)?.id).toBe(MAX_EVENTS + 1);
});

test('a past without room for the present leaves it out, until its pages are read again', () => {
  const recent = append(EMPTY_LOG, events(1001, 1000 + MAX_EVENTS));
  const past = prependPage(recent, page(501, 1000, true));
  expect(past).toMatchObject({ isAtEnd: false, hasOlder: true });
  expect([past.events[0]?.id, past.events.length]).toEqual([501, MAX_EVENTS]);
  expect(append(past, events(9000, 9001))).toBe(past);
  const back = appendPage(past, page(501 + MAX_EVENTS, 1000 + MAX_EVENTS, false));
  expect(back).toMatchObject({ isAtEnd: true, hasOlder: true });
  expect(back.events.at(-1)?.id).toBe(1000 + MAX_EVENTS);
});

test('a gap begins after the last that is known of the run', () => {
  const { lastSeqs } = append(EMPTY_LOG, events(1, 3));
  const [event] = events(7, 7);
  expect(event && gapBefore(lastSeqs, event)).toEqual({ runId: runId(1), from: 4 });
  expect(event && gapBefore(lastSeqs, { ...event, stream_seq: 4 })).toBeUndefined();
  expect(event && gapBefore(lastSeqs, { ...event, stream_seq: null })).toBeUndefined();
  expect(event && gapBefore(lastSeqs, { ...event, run_id: runId(2) })).toBeUndefined();
});
