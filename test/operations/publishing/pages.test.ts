// Pages for their owners: who may make them of what, and every refusal.
import { beforeEach, expect, test, vi } from 'vitest';
import type { Caller, User } from '../../../src/domain/people/user.ts';
import type { NewPage } from '../../../src/operations/publishing/pages.ts';
import { type AuditedFixture, auditedFixture, ROOT } from '../../support/store/audited-fixture.ts';
import { filesOf, SITE } from '../../support/store/publishing.ts';

let fixture: AuditedFixture;
let mara: Caller;
let otto: Caller;

beforeEach(async () => {
  fixture = await auditedFixture();
  mara = { kind: 'token', user: { ...fixture.user, role: 'user' }, reach: 'user' };
  const blank = { fullName: '', department: '', role: 'user', teamId: null, functionalRole: null } as const;
  const user: User = await fixture.store.users.create({
    ...blank,
    username: 'otto',
    scenario: null,
    passwordHash: 'x',
  });
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
  sessionId: fixture.published.sessionId,
  scheduledTaskId: null,
  ...over,
});

test('a page of a session has its first version at once', async () => {
  const page = await fixture.operations.createPage(mara, aNewPage());
  expect(page).toMatchObject({
    name: 'Moon',
    description: 'Of the moon',
    category: 'Sky',
    tags: ['a', 'b'],
    isDistractionFree: true,
    sessionId: fixture.published.sessionId,
    scheduledTaskId: null,
    entryPath: '/site/index.html',
    latest: { no: 1, fileCount: 3 },
  });
  expect(await fixture.operations.listPageVersions(mara, page.key, { limit: 9, offset: 0 })).toMatchObject({
    items: [{ no: 1, trigger: 'manual', reason: null, isLatest: true, status: 'active', pageName: 'Moon' }],
    total: 1,
  });
});

test('what an administrator publishes of another’s session is its owner’s', async () => {
  const page = await fixture.operations.createPage(ROOT, aNewPage());
  expect(page).toMatchObject({ userSeq: fixture.user.seq, owner: { account: 'mara' } });
  expect(await fixture.operations.getPage(mara, page.key)).toMatchObject({ key: page.key });
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
  await expect(fixture.operations.createPage(caller(), input())).rejects.toMatchObject({ reason });
  expect((await fixture.operations.listPages(ROOT, { name: 'Moon', origin: null, limit: 9, offset: 0 })).total).toBe(0);
});

test('a session without a file has no entry; a deleted session is not found', async () => {
  const { sessionId, sessionSeq } = await fixture.publishing.workspace([]);
  const refused = { reason: 'unprocessable', details: { field: 'entry_path' } };
  await expect(fixture.operations.createPage(mara, aNewPage({ sessionId }))).rejects.toMatchObject(refused);
  await fixture.store.sessions.deleteSession(sessionSeq);
  await expect(fixture.operations.createPage(mara, aNewPage({ sessionId }))).rejects.toMatchObject({
    reason: 'not_found',
  });
});

test('a run whose files stay unknown for too long makes it unavailable for now', async () => {
  const { sessionId } = await fixture.publishing.uncollected();
  const creating = fixture.operations.createPage(mara, aNewPage({ sessionId }));
  await vi.waitUntil(() => fixture.publishing.listeners.size === 1);
  fixture.clock.advance(20_000);
  await expect(creating).rejects.toMatchObject({ reason: 'unavailable' });
});

test('a version of another entry leaves the page’s own; a change of the page is that of the next version', async () => {
  const { key } = fixture.page;
  const { publishVersion, changePage } = fixture.operations;
  const other = { reason: 'A look', entryPath: '/site/style.css' };
  expect(await publishVersion(mara, key, other)).toMatchObject({
    no: 2,
    reason: 'A look',
    shareType: 'file',
    fileCount: 1,
  });
  expect(await publishVersion(mara, key, { reason: null })).toMatchObject({ no: 3, entryPath: '/site/index.html' });
  fixture.clock.advance(5);
  const changed = await changePage(mara, key, { entryPath: '/notes.txt', name: 'Notes', category: null, tags: [] });
  expect(changed).toMatchObject({ name: 'Notes', entryPath: '/notes.txt', updatedAt: fixture.clock.now() });
  expect(changed.latest).toMatchObject({ no: 3, entryPath: '/site/index.html' });
  expect(await publishVersion(mara, key, { reason: null })).toMatchObject({ no: 4, entryPath: '/notes.txt' });
});

test('versions stay when their session is deleted, and there is no new one', async () => {
  const { key, shareCode } = fixture.page;
  await fixture.operations.deleteSession(mara, fixture.published.sessionId);
  await expect(fixture.operations.publishVersion(mara, key, { reason: null })).rejects.toMatchObject({
    reason: 'conflict',
  });
  expect(await fixture.operations.publicPages.share(shareCode)).toMatchObject({ version: { no: 1, fileCount: 3 } });
  expect(await fixture.operations.getPage(mara, key)).toMatchObject({ sessionId: fixture.published.sessionId });
});

test('a page of a task has no version before a firing completes, then the next one is of its newest', async () => {
  const task = { userSeq: fixture.user.seq, source: { scheduledTaskId: 't' } };
  const { sessionId: _s, scheduledTaskId: _t, ...fields } = aNewPage();
  const { key } = await fixture.store.pages.createPage({ ...fields, ...task });
  expect(await fixture.operations.getPage(mara, key)).toMatchObject({
    origin: 'scheduled_task',
    sessionId: null,
    scheduledTaskId: 't',
    latest: null,
  });
  await expect(fixture.operations.publishVersion(mara, key, { reason: null })).rejects.toMatchObject({
    reason: 'conflict',
  });
  const { sessionSeq, seq } = await fixture.publishing.workspace(filesOf('/site/index.html'));
  await fixture.publishing.enqueue({ taskId: 't', firingSeq: 1, sessionSeq, runSeq: seq });
  expect(await fixture.operations.publishVersion(mara, key, { reason: null })).toMatchObject({ no: 1, fileCount: 1 });
});

test.each([
  ['getPage', () => fixture.operations.getPage(otto, fixture.page.key)],
  ['changePage', () => fixture.operations.changePage(otto, fixture.page.key, { name: 'x' })],
  ['deletePage', () => fixture.operations.deletePage(otto, fixture.page.key)],
  ['listPageVersions', () => fixture.operations.listPageVersions(otto, fixture.page.key, { limit: 9, offset: 0 })],
  ['publishVersion', () => fixture.operations.publishVersion(otto, fixture.page.key, { reason: null })],
  ['listShares', () => fixture.operations.listShares(otto, { pageKey: fixture.page.key, limit: 9, offset: 0 })],
  ['getShare', () => fixture.operations.getShare(otto, fixture.page.shareCode)],
  ['changeShare', () => fixture.operations.changeShare(otto, fixture.page.shareCode, { expiresAt: null })],
  ['withdrawShare', () => fixture.operations.withdrawShare(otto, fixture.page.shareCode)],
])('%s of another’s page is forbidden, and changes nothing', { tags: ['F7-access'] }, async (_, call) => {
  await expect(call()).rejects.toMatchObject({ reason: 'forbidden' });
  expect(await fixture.operations.getShare(mara, fixture.page.shareCode)).toMatchObject({
    status: 'active',
    pageName: 'Tides',
  });
});

test('lists have one’s own, the newest first, with each filter; administrators have all', async () => {
  const { createPage, listPages, listShares } = fixture.operations;
  const second = await createPage(mara, aNewPage());
  await fixture.store.pages.createPage({
    ...aNewPage(),
    userSeq: otto.kind === 'operator' ? 0 : otto.user.seq,
    source: { scheduledTaskId: 't' },
  });
  const query = { name: null, origin: null, limit: 9, offset: 0 };
  const keysOf = async (caller: Caller, over = {}) =>
    (await listPages(caller, { ...query, ...over })).items.map(({ key }) => key);
  expect(await keysOf(mara)).toEqual([second.key, fixture.page.key]);
  expect(await keysOf(mara, { name: 'Moon' })).toEqual([second.key]);
  expect(await keysOf(mara, { origin: 'scheduled_task' })).toEqual([]);
  expect(await keysOf(ROOT)).toHaveLength(3);
  expect(await keysOf(ROOT, { origin: 'scheduled_task' })).toHaveLength(1);
  expect(await listPages(mara, { ...query, limit: 1, offset: 1 })).toMatchObject({
    total: 2,
    items: [{ key: fixture.page.key }],
  });
  const shares = await listShares(mara, { pageKey: null, limit: 9, offset: 0 });
  expect(shares.items.map(({ pageKey }) => pageKey)).toEqual([second.key, fixture.page.key]);
  expect(await listShares(otto, { pageKey: null, limit: 9, offset: 0 })).toEqual({ items: [], total: 0 });
  expect(await listShares(mara, { pageKey: second.key, limit: 9, offset: 0 })).toMatchObject({ total: 1 });
});

test('a share ends in the future, or never; a withdrawal is for good and may be repeated', {
  tags: ['F7-shares'],
}, async () => {
  const { changeShare, withdrawShare, getShare } = fixture.operations;
  const { shareCode } = fixture.page;
  const expiresAt = fixture.clock.now() + 60_000;
  expect(await changeShare(mara, shareCode, { expiresAt })).toMatchObject({ expiresAt, status: 'active' });
  fixture.clock.advance(60_000);
  expect(await getShare(mara, shareCode)).toMatchObject({ status: 'expired', isLatest: false });
  const past = { reason: 'unprocessable', details: { field: 'expires_at' } };
  await expect(changeShare(mara, shareCode, { expiresAt: fixture.clock.now() })).rejects.toMatchObject(past);
  expect(await changeShare(mara, shareCode, { expiresAt: null })).toMatchObject({ status: 'active', isLatest: true });
  const withdrawn = await withdrawShare(mara, shareCode);
  expect(withdrawn).toMatchObject({ status: 'withdrawn', withdrawnAt: fixture.clock.now() });
  fixture.clock.advance(1);
  expect(await withdrawShare(mara, shareCode)).toEqual(withdrawn);
  await expect(changeShare(mara, shareCode, { expiresAt: null })).rejects.toMatchObject({ reason: 'conflict' });
});

test('a deleted page is gone for its owner too, with its shares', async () => {
  const { deletePage, getPage, getShare, listShares } = fixture.operations;
  await deletePage(mara, fixture.page.key);
  await expect(getPage(mara, fixture.page.key)).rejects.toMatchObject({ reason: 'not_found' });
  await expect(getShare(mara, fixture.page.shareCode)).rejects.toMatchObject({ reason: 'not_found' });
  await expect(deletePage(mara, fixture.page.key)).rejects.toMatchObject({ reason: 'not_found' });
  expect((await listShares(mara, { pageKey: null, limit: 9, offset: 0 })).total).toBe(0);
  expect(fixture.rows('SELECT path FROM workspace_files')).toHaveLength(SITE.length);
});
