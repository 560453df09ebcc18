// What the feed of the installation keeps: nothing without watchers.
import { expect, test } from 'vitest';
import type { JournalEvent } from '../../src/domain/sessions/journal-event.ts';
import { makeBus } from '../../src/events/bus.ts';
import { makeOfficeFeed } from '../../src/events/office-feed.ts';
import { fakeClock } from '../support/time/fake-clock.ts';

const WATCHER = {
  send: () => undefined,
  pause: () => undefined,
  isBehind: () => false,
  end: () => undefined,
  failed: () => undefined,
};

function openFeed() {
  const [bus, clock] = [makeBus(), fakeClock()];
  const feed = makeOfficeFeed({ bus, clock, scopes: { known: () => undefined, lookUp: async () => undefined } });
  const commit = (id: number): void => {
    const event = { id, sessionSeq: 1, runSeq: 1, streamSeq: id, createdAt: 0 };
    bus.publish([{ ...event, type: 'run.resumed', payload: { resumes: 1 } } satisfies JournalEvent]);
  };
  return { feed, clock, commit };
}

test('before somebody watches, nothing is kept but the newest id', () => {
  const { feed, commit } = openFeed();
  commit(7);
  commit(8);
  expect([7, 8].map(feed.isKept)).toEqual([false, true]);
  expect(feed.newestId()).toBe(8);
  commit(9);
  expect([7, 8, 9].map(feed.isKept)).toEqual([false, true, true]);
});

test('what comes is kept for ten minutes after the last watcher has left', () => {
  const { feed, clock, commit } = openFeed();
  commit(1);
  const watching = feed.follow(null, WATCHER);
  clock.advance(3_600_000);
  commit(2);
  watching.close();
  clock.advance(599_999);
  commit(3);
  expect([0, 1, 2].map(feed.isKept)).toEqual([false, true, true]);
  clock.advance(600_000);
  commit(4);
  expect([2, 3, 4].map(feed.isKept)).toEqual([false, false, true]);
});
