// What a desk in a browser has read of the past, by what of it is in sight.
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { type DeskFeed, makeDeskFeed } from '../../../src/browser/desk/desk-feed.ts';
import type { Sight } from '../../../src/browser/desk/sight.ts';
import type { OfficeEvent } from '../../../src/client/office-stream.ts';
import { ClientError } from '../../../src/client/transport/client-error.ts';
import { MAX_EVENTS } from '../../../src/tui/feed/event-log.ts';
import type { Reads } from '../../../src/tui/feed/reads.ts';
import { desk, type DeskState } from '../../../src/tui/state/desk-state.ts';
import { reduce } from '../../../src/tui/state/reduce.ts';
import { type AppState, initialState } from '../../../src/tui/state/state.ts';
import { anEvent, AT, sessionId } from '../../support/http/office-server.ts';

const ALL = { isAtStart: true, isAtEnd: true };
const END = { isAtStart: false, isAtEnd: true };
const START = { isAtStart: true, isAtEnd: false };

let state: AppState;
let feed: DeskFeed;
/** Of the session, from the oldest on. */
let events: readonly OfficeEvent[];
/** The ids before which events were read; null: the newest. */
let reads: (number | null)[];
let failures: number;

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  state = initialState({ tz: 'UTC', intervalMs: 5000 }, [desk(sessionId(1))], AT);
  [reads, failures] = [[], 0];
  const office = {
    events: async (_id: string, { limit, before_id: before }: { limit: number; before_id?: number }) => {
      reads.push(before ?? null);
      failures -= 1;
      if (failures >= 0) throw new ClientError({ kind: 'refused', status: 500 }, 'It is not well.');
      const known = events.filter(({ id }) => id < (before ?? Number.MAX_SAFE_INTEGER));
      const items = known.slice(-limit).toReversed();
      return { session_id: sessionId(1), items, has_more: known.length > limit };
    },
    followSession: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) }),
  };
  feed = makeDeskFeed({ office } as unknown as Reads, (action) => {
    state = reduce(state, action);
  });
});

function happened(count: number): void {
  events = Array.from({ length: count }, (_, at) => ({ ...anEvent(1, 'run.step'), id: at + 1 }));
}

const screen = () => state.screens[0] as DeskState;

/** The page is drawn every 100 ms, and shows this of its tab. */
async function drawn(sight: Sight, times: number): Promise<void> {
  for (let at = 0; at < times; at += 1) {
    feed.look({ screen: screen(), data: undefined, tz: 'UTC' }, [], sight);
    await vi.advanceTimersByTimeAsync(100);
  }
}

test('a page that all of the events fit into reads what was before them, to the beginning', async () => {
  happened(1200);
  await drawn(ALL, 10);
  expect(reads).toEqual([null, 701, 201]);
  expect(screen().log).toMatchObject({ hasOlder: false, isAtEnd: true });
});

test('one that is full reads no more until its user comes to the beginning', async () => {
  happened(1200);
  await drawn(END, 10);
  expect(reads).toEqual([null]);
  await drawn(START, 2);
  expect(reads).toEqual([null, 701, 201]);
});

test('events that say next to nothing are read as far as there is room for them beside those of now', async () => {
  happened(3 * MAX_EVENTS);
  await drawn(ALL, 40);
  expect(screen().log).toMatchObject({ hasOlder: true, isAtEnd: true });
  expect(screen().log.events.at(-1)?.id).toBe(3 * MAX_EVENTS);
  expect(reads).toHaveLength(MAX_EVENTS / 500);
});

test('a page that could not be read is read again after a pause, not with each draw', async () => {
  happened(600);
  await drawn(END, 2);
  failures = 1;
  await drawn(START, 20);
  expect(reads).toEqual([null, 101]);
  await drawn(START, 20);
  expect(reads).toEqual([null, 101, 101]);
});
