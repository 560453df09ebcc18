// The board: which pages are on it, in which order, and what each filter finds.
import { beforeEach, expect, test } from 'vitest';
import type { User } from '../../../src/domain/people/user.ts';
import type { ClaimedRun } from '../../../src/store/lifecycle/start-run.ts';
import type { BoardFilter } from '../../../src/store/publishing/board.ts';
import { publishFixture } from '../../support/store/publishing.ts';

let fixture: Awaited<ReturnType<typeof publishFixture>>;
let run: ClaimedRun;
let otto: User;

beforeEach(async () => {
  fixture = await publishFixture();
  run = await fixture.workspace();
  const blank = { fullName: '', department: '', role: 'user', teamId: null, functionalRole: null } as const;
  otto = await fixture.store.users.create({ ...blank, username: 'otto', scenario: null, passwordHash: 'x' });
});

const publish = async (name: string, over = {}) => {
  fixture.clock.advance(1_000);
  return fixture.publish(run, { name, ...over });
};

async function find(filter: Partial<BoardFilter> = {}) {
  const everything = { account: null, category: null, name: null, limit: 50, offset: 0 };
  const { items, total } = await fixture.store.board.list({ ...everything, ...filter }, fixture.clock.now());
  return { names: items.map(({ name }) => name), total };
}

test('it has the pages that are shown on it and not deleted, the last published first', async () => {
  const first = await publish('First');
  await publish('Second');
  await publish('Hidden', { isOnBoard: false });
  const deleted = await publish('Deleted');
  await fixture.store.pages.delete(deleted.id);
  expect(await find()).toEqual({ names: ['Second', 'First'], total: 2 });
  fixture.clock.advance(1);
  await fixture.release(first.id, run);
  expect(await find()).toEqual({ names: ['First', 'Second'], total: 2 });
  await fixture.store.pages.change(first.id, { isOnBoard: false });
  expect(await find()).toEqual({ names: ['Second'], total: 1 });
});

test('a page without a version that can be read is not on it', async () => {
  const first = await publish('First');
  const second = await publish('Second');
  await fixture.store.shares.withdraw(first.shareCode);
  expect(await find()).toEqual({ names: ['Second'], total: 1 });
  await fixture.store.shares.setEnd(second.shareCode, fixture.clock.now() + 10);
  expect(await find()).toEqual({ names: ['Second'], total: 1 });
  fixture.clock.advance(10);
  // Not even before the end was noticed.
  expect((await find()).names).toEqual([]);
  await fixture.store.pageRemovals.closeEnded();
  expect(await find()).toEqual({ names: [], total: 0 });
});

test('a page whose newest version has ended is placed by the one before', async () => {
  const first = await publish('First');
  await publish('Second');
  fixture.clock.advance(1_000);
  const newest = await fixture.release(first.id, run);
  expect((await find()).names).toEqual(['First', 'Second']);
  await fixture.store.shares.setEnd(newest.shareCode, fixture.clock.now() + 1);
  fixture.clock.advance(1);
  await fixture.store.pageRemovals.closeEnded();
  expect((await find()).names).toEqual(['Second', 'First']);
  expect(await fixture.page(first.key)).toMatchObject({ versionCount: 1, latest: { no: 1 } });
  await fixture.store.shares.setEnd(newest.shareCode, null);
  expect((await find()).names).toEqual(['First', 'Second']);
});

test('filters on the owner and the category are exact', async () => {
  await publish('Sea', { category: 'Water' });
  await publish('Air', { category: 'Sky', userSeq: otto.seq });
  await publish('Land');
  expect((await find({ account: 'mara' })).names).toEqual(['Land', 'Sea']);
  expect((await find({ account: 'otto' })).names).toEqual(['Air']);
  expect((await find({ category: 'Water' })).names).toEqual(['Sea']);
  expect((await find({ account: 'mara', category: 'Sky' })).total).toBe(0);
  for (const account of ['', 'MARA', 'mar', 'mara ', '%']) expect((await find({ account })).total).toBe(0);
  for (const category of ['', 'water', 'Wat', 'W%']) expect((await find({ category })).total).toBe(0);
});

test.each([
  ['ide', ['Tides of Ölüdeniz']],
  ['TIDES', ['Tides of Ölüdeniz']],
  ['öLÜ', ['Tides of Ölüdeniz']],
  ['o\u0308lu\u0308', ['Tides of Ölüdeniz']],
  ['привет', ['ПРИВЕТ мир']],
  ['strasse', ['Große Straße']],
  ['STRAßE', ['Große Straße']],
  ['σίσυφος', ['ΣΊΣΥΦΟΣ']],
  ['100%', ['100% _real_']],
  ['_', ['100% _real_']],
  ['%', ['100% _real_']],
  ['\\', ['back\\slash']],
  ["'", ["it's"]],
  ['*', []],
  ['?', []],
  ['of  Ö', []],
  ['', ["it's", 'back\\slash', '100% _real_', 'ΣΊΣΥΦΟΣ', 'Große Straße', 'ПРИВЕТ мир', 'Tides of Ölüdeniz']],
])('a part of a name is found whatever its case, and no character stands for others: %j', async (name, found) => {
  for (const each of [
    'Tides of Ölüdeniz',
    'ПРИВЕТ мир',
    'Große Straße',
    'ΣΊΣΥΦΟΣ',
    '100% _real_',
    'back\\slash',
    "it's",
  ])
    await publish(each);
  expect(await find({ name })).toEqual({ names: found, total: found.length });
});

test('pages of it, and how many there are', async () => {
  for (let count = 1; count <= 7; count += 1) await publish(`Page ${count}`);
  expect(await find({ limit: 3, offset: 3 })).toEqual({ names: ['Page 4', 'Page 3', 'Page 2'], total: 7 });
  expect(await find({ limit: 3, offset: 9 })).toEqual({ names: [], total: 7 });
});

test('categories, those with most pages first, and no more than a hundred', async () => {
  await publish('a', { category: 'Sky' });
  await publish('b', { category: 'Sea' });
  await publish('c', { category: 'Sea' });
  await publish('d', { category: 'Hidden', isOnBoard: false });
  await publish('e');
  expect(await fixture.store.board.listCategories()).toEqual([
    { name: 'Sea', count: 2 },
    { name: 'Sky', count: 1 },
  ]);
  for (let count = 0; count < 110; count += 1) await publish('x', { category: `C${count}` });
  expect(await fixture.store.board.listCategories()).toHaveLength(100);
});

test('no more than the newest ten thousand pages are looked at', async () => {
  await publish('Oldest');
  fixture.change(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
    INSERT INTO publish_pages (key, user_seq, name, search_name, tags, origin, session_seq, entry_path, is_on_board,
      is_distraction_free, open_versions, latest_published_at, created_at, updated_at)
    SELECT 'copy ' || i, user_seq, 'Copy', 'copy', tags, origin, session_seq, entry_path, 1, 0, 1, latest_published_at + i, 1, 1
    FROM publish_pages, n WHERE name = 'Oldest'`);
  expect((await find({ limit: 1 })).total).toBe(10_000);
  expect((await find({ name: 'oldest' })).total).toBe(0);
  expect((await find({ name: 'copy' })).total).toBe(10_000);
});
