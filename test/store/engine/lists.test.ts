// Pages of lists are the same from whichever end they are read, and totals leave out what was deleted.
import { expect, test } from 'vitest';
import type { Page } from '../../../src/domain/listing.ts';
import { fromNearerEnd } from '../../../src/store/engine/lists.ts';
import { fenceOf, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

interface Found {
  readonly items: readonly { readonly id: string }[];
  readonly total: number;
}

const LISTS: Readonly<Record<string, (fixture: StoreFixture, page: Page) => Promise<Found>>> = {
  'all runs': ({ store }, page) => store.runs.list({ ...page, sessionSeq: null, status: null }),
  'runs that wait': ({ store }, page) => store.runs.list({ ...page, sessionSeq: null, status: 'queued' }),
  'runs that failed': ({ store }, page) => store.runs.list({ ...page, sessionSeq: null, status: 'failed' }),
  'all sessions': ({ store }, page) => store.sessions.list({ ...page, userSeq: null, keySeq: null }),
  'sessions of a user': ({ store, user }, page) => store.sessions.list({ ...page, userSeq: user.seq, keySeq: null }),
  'sessions of a key': ({ store, key }, { limit, offset }) => store.sessions.listOfKey(key.seq, limit, offset),
};
const COUNTS: Readonly<Record<string, number>> = { 'runs that wait': 3, 'runs that failed': 4 };

/** Seven sessions, four of which have failed, between four that were deleted. */
async function sevenAmongOthers(): Promise<StoreFixture> {
  const fixture = await storeFixture();
  for (const place of Array.from({ length: 11 }, (_, i) => i)) {
    const { sessionSeq } = await fixture.accept();
    const isDeleted = place % 3 === 0;
    if (place < 6) {
      const [run] = await fixture.claim();
      const error = { type: 'api_error', message: 'No.', retryable: true } as const;
      await fixture.store.runs.finalize(fenceOf(run!), { outcome: 'failed', error });
      await fixture.store.runs.settle(fenceOf(run!));
    }
    if (isDeleted) await fixture.store.sessions.deleteSession(sessionSeq);
    fixture.clock.advance(1_000);
  }
  return fixture;
}

test.each(Object.entries(LISTS))('every page of %s is a part of the whole', async (name, list) => {
  const fixture = await sevenAmongOthers();
  const { items: whole, total } = await list(fixture, { limit: 100, offset: 0 });
  expect([whole.length, total]).toEqual([COUNTS[name] ?? 7, COUNTS[name] ?? 7]);
  for (let offset = 0; offset <= 8; offset += 1) {
    for (const limit of [1, 2, 3, 100]) {
      const page = await list(fixture, { limit, offset });
      const expected = whole.slice(offset, offset + limit).map(({ id }) => id);
      expect([offset, limit, page.total, page.items.map(({ id }) => id)]).toEqual([offset, limit, total, expected]);
    }
  }
});

test('a page is not read from the end where more rows are hidden than are shown before it', () => {
  const orders = [7, 8, 9].map((offset) => fromNearerEnd({ limit: 1, offset }, 10, 6).order);
  expect(orders).toEqual(['DESC', 'DESC', 'ASC']);
});

test('no page skips more than half of its list', () => {
  const skips = Array.from({ length: 12 }, (_, offset) => fromNearerEnd({ limit: 3, offset }, 10).offset);
  expect(Math.max(...skips)).toBeLessThanOrEqual(5);
});
