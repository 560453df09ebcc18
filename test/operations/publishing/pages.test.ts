// Pages for their owners: who may make them of what, and every refusal.
import { beforeEach, expect, test, vi } from 'vitest';
import type { Caller, User } from '../../../src/domain/people/user.ts';
import type { NewPage } from '../../../src/operations/publishing/pages.ts';
import { type AuditedHouse, auditedHouse, ROOT } from '../../support/store/audited-house.ts';
import { filesOf, SITE } from '../../support/store/publishing.ts';

let house: AuditedHouse;
let mara: Caller;
let otto: Caller;

beforeEach(async () => {
  house = await auditedHouse();
  mara = { kind: 'token', user: { ...house.user, role: 'user' }, reach: 'user' };
  const blank = { fullName: '', department: '', role: 'user', teamId: null, functionalRole: null } as const;
  const user: User = await house.store.users.create({ ...blank, username: 'otto', scenario: null, passwordHash: 'x' });
  otto = { kind: 'token', user, reach: 'user' };
});

const aNewPage = (over: Partial<NewPage> = {}): NewPage => ({
  name: 'Moon',
  description: 'Of the moon',
  category: 'Sky',
  tags: ['a', 'b'],
  entryPath: '/site/index.html',
  isOnBoard: true,
  isDistractionFree: true,
  sessionId: house.published.sessionId,
  scheduledTaskId: null,
  ...over,
});

test('a page of a session has its first version at once', async () => {
  const page = await house.operations.createPage(mara, aNewPage());
  expect(page).toMatchObject({
    name: 'Moon',
    description: 'Of the moon',
    category: 'Sky',
    tags: ['a', 'b'],
    isDistractionFree: true,
    sessionId: house.published.sessionId,
    scheduledTaskId: null,
    entryPath: '/site/index.html',
    latest: { no: 1, fileCount: 3 },
  });
  expect(await house.operations.listPageVersions(mara, page.key, { limit: 9, offset: 0 })).toMatchObject({
    items: [{ no: 1, trigger: 'manual', reason: null, isLatest: true, status: 'active', pageName: 'Moon' }],
    total: 1,
  });
});

test('what an administrator publishes of another’s session is its owner’s', async () => {
  const page = await house.operations.createPage(ROOT, aNewPage());
  expect(page).toMatchObject({ userSeq: house.user.seq, owner: { account: 'mara' } });
  expect(await house.operations.getPage(mara, page.key)).toMatchObject({ key: page.key });
});

test.each([
  ['a session of another', () => aNewPage(), 'forbidden', () => otto],
  [
    'an unknown session',
    () => aNewPage({ sessionId: '0190f6a0-0000-7000-8000-000000000000' }),
    'not_found',
    () => mara,
  ],
  ['no source', () => aNewPage({ sessionId: null }), 'unprocessable', () => mara],
  ['two sources', () => aNewPage({ scheduledTaskId: 't' }), 'unprocessable', () => mara],
  ['an unknown task', () => aNewPage({ sessionId: null, scheduledTaskId: 't' }), 'not_found', () => mara],
  ['a missing entry', () => aNewPage({ entryPath: '/none.html' }), 'unprocessable', () => mara],
  ['a folder', () => aNewPage({ entryPath: '/site' }), 'unprocessable', () => mara],
])('%s gives no page', async (_, input, reason, caller) => {
  await expect(house.operations.createPage(caller(), input())).rejects.toMatchObject({ reason });
  expect((await house.operations.listPages(ROOT, { name: 'Moon', origin: null, limit: 9, offset: 0 })).total).toBe(0);
});

test('a session without a file has no entry; a deleted session is not found', async () => {
  const { sessionId, sessionSeq } = await house.publishing.workspace([]);
  const refused = { reason: 'unprocessable', details: { field: 'entry_path' } };
  await expect(house.operations.createPage(mara, aNewPage({ sessionId }))).rejects.toMatchObject(refused);
  await house.store.sessions.deleteSession(sessionSeq);
  await expect(house.operations.createPage(mara, aNewPage({ sessionId }))).rejects.toMatchObject({
    reason: 'not_found',
  });
});

test('a run whose files stay unknown for too long makes it unavailable for now', async () => {
  const { sessionId } = await house.publishing.uncollected();
  const creating = house.operations.createPage(mara, aNewPage({ sessionId }));
  await vi.waitUntil(() => house.publishing.listeners.size === 1);
  house.clock.advance(20_000);
  await expect(creating).rejects.toMatchObject({ reason: 'unavailable' });
});

test('a version of another entry leaves the page’s own; a change of the page is that of the next version', async () => {
  const { key } = house.page;
  const { releaseVersion, changePage } = house.operations;
  const other = { reason: 'A look', entryPath: '/site/style.css' };
  expect(await releaseVersion(mara, key, other)).toMatchObject({
    no: 2,
    reason: 'A look',
    shareType: 'file',
    fileCount: 1,
  });
  expect(await releaseVersion(mara, key, { reason: null })).toMatchObject({ no: 3, entryPath: '/site/index.html' });
  house.clock.advance(5);
  const changed = await changePage(mara, key, { entryPath: '/notes.txt', name: 'Notes', category: null, tags: [] });
  expect(changed).toMatchObject({ name: 'Notes', entryPath: '/notes.txt', updatedAt: house.clock.now() });
  expect(changed.latest).toMatchObject({ no: 3, entryPath: '/site/index.html' });
  expect(await releaseVersion(mara, key, { reason: null })).toMatchObject({ no: 4, entryPath: '/notes.txt' });
});

test('versions stay when their session is deleted, and there is no new one', async () => {
  const { key, shareCode } = house.page;
  await house.operations.deleteSession(mara, house.published.sessionId);
  await expect(house.operations.releaseVersion(mara, key, { reason: null })).rejects.toMatchObject({
    reason: 'conflict',
  });
  expect(await house.operations.publicPages.share(shareCode)).toMatchObject({ version: { no: 1, fileCount: 3 } });
  expect(await house.operations.getPage(mara, key)).toMatchObject({ sessionId: house.published.sessionId });
});

test('a page of a task has no version before a firing completes, then the next one is of its newest', async () => {
  const task = { userSeq: house.user.seq, source: { scheduledTaskId: 't' } };
  const { sessionId: _s, scheduledTaskId: _t, ...fields } = aNewPage();
  const { key } = await house.store.pages.createPage({ ...fields, ...task });
  expect(await house.operations.getPage(mara, key)).toMatchObject({
    origin: 'scheduled_task',
    sessionId: null,
    scheduledTaskId: 't',
    latest: null,
  });
  await expect(house.operations.releaseVersion(mara, key, { reason: null })).rejects.toMatchObject({
    reason: 'conflict',
  });
  const { sessionSeq, seq } = await house.publishing.workspace(filesOf('/site/index.html'));
  await house.publishing.enqueue({ taskId: 't', firingSeq: 1, sessionSeq, runSeq: seq });
  expect(await house.operations.releaseVersion(mara, key, { reason: null })).toMatchObject({ no: 1, fileCount: 1 });
});

test.each([
  ['getPage', () => house.operations.getPage(otto, house.page.key)],
  ['changePage', () => house.operations.changePage(otto, house.page.key, { name: 'x' })],
  ['deletePage', () => house.operations.deletePage(otto, house.page.key)],
  ['listPageVersions', () => house.operations.listPageVersions(otto, house.page.key, { limit: 9, offset: 0 })],
  ['releaseVersion', () => house.operations.releaseVersion(otto, house.page.key, { reason: null })],
  ['listShares', () => house.operations.listShares(otto, { pageKey: house.page.key, limit: 9, offset: 0 })],
  ['getShare', () => house.operations.getShare(otto, house.page.shareCode)],
  ['changeShare', () => house.operations.changeShare(otto, house.page.shareCode, { expiresAt: null })],
  ['withdrawShare', () => house.operations.withdrawShare(otto, house.page.shareCode)],
])('%s of another’s page is forbidden, and changes nothing', { tags: ['F7-access'] }, async (_, call) => {
  await expect(call()).rejects.toMatchObject({ reason: 'forbidden' });
  expect(await house.operations.getShare(mara, house.page.shareCode)).toMatchObject({
    status: 'active',
    pageName: 'Tides',
  });
});

test('lists have one’s own, the newest first, with each filter; administrators have all', async () => {
  const { createPage, listPages, listShares } = house.operations;
  const second = await createPage(mara, aNewPage());
  await house.store.pages.createPage({
    ...aNewPage(),
    userSeq: otto.kind === 'operator' ? 0 : otto.user.seq,
    source: { scheduledTaskId: 't' },
  });
  const query = { name: null, origin: null, limit: 9, offset: 0 };
  const keysOf = async (caller: Caller, over = {}) =>
    (await listPages(caller, { ...query, ...over })).items.map(({ key }) => key);
  expect(await keysOf(mara)).toEqual([second.key, house.page.key]);
  expect(await keysOf(mara, { name: 'Moon' })).toEqual([second.key]);
  expect(await keysOf(mara, { origin: 'scheduled_task' })).toEqual([]);
  expect(await keysOf(ROOT)).toHaveLength(3);
  expect(await keysOf(ROOT, { origin: 'scheduled_task' })).toHaveLength(1);
  expect(await listPages(mara, { ...query, limit: 1, offset: 1 })).toMatchObject({
    total: 2,
    items: [{ key: house.page.key }],
  });
  const shares = await listShares(mara, { pageKey: null, limit: 9, offset: 0 });
  expect(shares.items.map(({ pageKey }) => pageKey)).toEqual([second.key, house.page.key]);
  expect(await listShares(otto, { pageKey: null, limit: 9, offset: 0 })).toEqual({ items: [], total: 0 });
  expect(await listShares(mara, { pageKey: second.key, limit: 9, offset: 0 })).toMatchObject({ total: 1 });
});

test('a share ends in the future, or never; a withdrawal is for good and may be repeated', {
  tags: ['F7-shares'],
}, async () => {
  const { changeShare, withdrawShare, getShare } = house.operations;
  const { shareCode } = house.page;
  const expiresAt = house.clock.now() + 60_000;
  expect(await changeShare(mara, shareCode, { expiresAt })).toMatchObject({ expiresAt, status: 'active' });
  house.clock.advance(60_000);
  expect(await getShare(mara, shareCode)).toMatchObject({ status: 'expired', isLatest: false });
  const past = { reason: 'unprocessable', details: { field: 'expires_at' } };
  await expect(changeShare(mara, shareCode, { expiresAt: house.clock.now() })).rejects.toMatchObject(past);
  expect(await changeShare(mara, shareCode, { expiresAt: null })).toMatchObject({ status: 'active', isLatest: true });
  const withdrawn = await withdrawShare(mara, shareCode);
  expect(withdrawn).toMatchObject({ status: 'withdrawn', withdrawnAt: house.clock.now() });
  house.clock.advance(1);
  expect(await withdrawShare(mara, shareCode)).toEqual(withdrawn);
  await expect(changeShare(mara, shareCode, { expiresAt: null })).rejects.toMatchObject({ reason: 'conflict' });
});

test('a deleted page is gone for its owner too, with its shares', async () => {
  const { deletePage, getPage, getShare, listShares } = house.operations;
  await deletePage(mara, house.page.key);
  await expect(getPage(mara, house.page.key)).rejects.toMatchObject({ reason: 'not_found' });
  await expect(getShare(mara, house.page.shareCode)).rejects.toMatchObject({ reason: 'not_found' });
  await expect(deletePage(mara, house.page.key)).rejects.toMatchObject({ reason: 'not_found' });
  expect((await listShares(mara, { pageKey: null, limit: 9, offset: 0 })).total).toBe(0);
  expect(house.rows('SELECT path FROM workspace_files')).toHaveLength(SITE.length);
});
