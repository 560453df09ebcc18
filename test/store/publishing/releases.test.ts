// Versions: what one holds, and that it is there whole or not at all.
import { expect, test, vi } from 'vitest';
import { makeReleases } from '../../../src/publishing/releases.ts';
import { openStore } from '../../support/store/open-store.ts';
import { aPage, filesOf, MANUAL, publishHouse, SITE } from '../../support/store/publishing.ts';

test('a page version holds the entry’s folder and all below it', { tags: ['F11-folder'] }, async () => {
  const house = await publishHouse();
  const published = await house.publish(await house.workspace());
  expect(published).toMatchObject({ no: 1, key: expect.stringMatching(/^[0-9A-Za-z]{16}$/) });
  expect(published.shareCode).toMatch(/^[0-9A-Za-z]{22}$/);
  expect(await house.filesOfShare(published.shareCode)).toEqual([
    '/site/img/moon.png',
    '/site/index.html',
    '/site/style.css',
  ]);
  expect(await house.page(published.key)).toMatchObject({
    name: 'Tides',
    origin: 'existing_session',
    sessionId: expect.any(String),
    owner: { account: 'mara', name: 'Mara Vogt', department: 'Lab' },
    versionCount: 1,
    latest: {
      no: 1,
      shareType: 'page',
      fileCount: 3,
      totalSize: 3,
      isLatest: true,
      entry: { path: '/site/index.html', size: 1, sha256: '/site/index.html' },
    },
  });
});

test.each([
  ['an entry at the root', '/index.md', ['/a/b.txt', '/index.md'], 'page'],
  ['an entry among the attachments', '/uploads/index.html', ['/uploads/index.html', '/uploads/x.csv'], 'page'],
  ['an image', '/a/moon.PNG', ['/a/moon.PNG'], 'media'],
  ['any other file', '/a/b.txt', ['/a/b.txt'], 'file'],
])(
  'names that begin with a dot and attachments of others are left out: %s',
  { tags: ['F11-folder'] },
  async (_, entryPath, held, shareType) => {
    const house = await publishHouse();
    const hidden = ['/.env', '/a/.git/config', '/uploads/.secret', '/.git/deep/er/index.html'];
    const all = ['/index.md', '/a/b.txt', '/uploads/index.html', '/uploads/x.csv', ...hidden];
    const files = filesOf(...(shareType === 'page' ? all : [...all, '/a/moon.PNG']));
    const { shareCode } = await house.publish(await house.workspace(files), { entryPath });
    expect(await house.filesOfShare(shareCode)).toEqual(held);
    expect(await house.share(shareCode)).toMatchObject({ shareType, entryPath });
  },
);

test('folders that are left out are passed over, however many files they have', { tags: ['F11-folder'] }, async () => {
  const house = await publishHouse();
  const many = Array.from({ length: 3_000 }, (_, index) => `/.cache/${index}`);
  const dotted = Array.from({ length: 1_200 }, (_, index) => `/d${index}/.gitkeep`);
  const files = filesOf(...many, ...dotted, '/.dockerignore', '/-first', '/index.html', '/z/last.txt');
  const { shareCode } = await house.publish(await house.workspace(files), { entryPath: '/index.html' });
  expect(await house.filesOfShare(shareCode)).toEqual(['/-first', '/index.html', '/z/last.txt']);
});

test.each([
  ['missing', '/none.html', /must be a plain file/],
  ['a folder', '/site', /not a folder/],
  ['a folder with a slash', '/site/', /not a folder/],
  ['the root', '/', /not a folder/],
  ['a path that climbs', '/site/../site/index.html', /must be a plain file/],
  ['in another case', '/site/INDEX.html', /must be a plain file/],
  ['a path with a zero', '/site/index.html\u0000', /must be a plain file/],
  ['wildcards', '/site/%', /must be a plain file/],
  ['hidden', '/.well/index.html', /begins with a dot/],
])(
  'an entry that is not a plain file of the workspace is refused, and leaves nothing: %s',
  { tags: ['F7-entry'] },
  async (_, entryPath, mustBe) => {
    const house = await publishHouse();
    const { sessionSeq } = await house.workspace([...SITE, ...filesOf('/.well/index.html')]);
    const page = aPage(house.user.seq, { sessionSeq }, { entryPath });
    const outcome = await house.releases.attempt({ sessionSeq, entryPath }, { ...MANUAL, page });
    expect(outcome).toEqual({ kind: 'refused', mustBe: expect.stringMatching(mustBe) });
    expect([house.count('publish_pages'), house.count('publish_versions')]).toEqual([0, 0]);
  },
);

test('a version over a limit is refused with the limit; one at the limit is not', {
  tags: ['F11-limits'],
}, async () => {
  const house = await publishHouse();
  const big = { path: '/site/big.bin', size: 2 * 1_048_576 - 3, sha256: 'big' };
  const { sessionSeq } = await house.workspace([...SITE, big]);
  const source = { sessionSeq, entryPath: '/site/index.html' };
  const page = aPage(house.user.seq, { sessionSeq });
  Object.assign(house.limits, { maxFiles: 3, maxTotalMb: 2 });
  expect(await house.releases.attempt(source, { ...MANUAL, page })).toMatchObject({
    kind: 'refused',
    mustBe: expect.stringMatching(/at most 3 files \(publish\.max_files\)/),
  });
  Object.assign(house.limits, { maxFiles: 4, maxTotalMb: 1 });
  expect(await house.releases.attempt(source, { ...MANUAL, page })).toMatchObject({
    kind: 'refused',
    mustBe: expect.stringMatching(/at most 1 MB \(publish\.max_total_mb\)/),
  });
  Object.assign(house.limits, { maxFiles: 4, maxTotalMb: 2 });
  expect(await house.releases.attempt(source, { ...MANUAL, page })).toMatchObject({ kind: 'published', no: 1 });
});

test('a version whose paths are too long together is refused, so that everybody may read its tree', async () => {
  const house = await publishHouse();
  const long = filesOf(...Array.from({ length: 2_000 }, (_, i) => `/site/${'é'.repeat(400)}/${i}.txt`));
  const { sessionSeq } = await house.workspace([...SITE, ...long]);
  const page = aPage(house.user.seq, { sessionSeq });
  const source = { sessionSeq, entryPath: '/site/index.html' };
  expect(await house.releases.attempt(source, { ...MANUAL, page })).toEqual({
    kind: 'refused',
    mustBe: expect.stringMatching(/paths are shorter/),
  });
});

test('a release without changes is a version all the same, and the event has all its facts', {
  tags: ['§6.5-publish_page.published', 'F13-order'],
}, async () => {
  const house = await publishHouse();
  const run = await house.workspace();
  const { id, key } = await house.publish(run, { category: 'Sea', isOnBoard: false });
  const second = await house.release(id, run);
  expect(second).toMatchObject({ key, no: 2 });
  expect(house.committed.at(-1)).toMatchObject({
    type: 'publish_page.published',
    sessionSeq: run.sessionSeq,
    runSeq: null,
    createdAt: house.clock.now(),
    payload: {
      page: { id, key, name: 'Tides', origin: 'existing_session', category: 'Sea', isOnBoard: false },
      version: {
        no: 2,
        entryPath: '/site/index.html',
        shareCode: second.shareCode,
        trigger: 'manual',
        reason: null,
      },
    },
  });
  expect(await house.page(key)).toMatchObject({ versionCount: 2, latest: { no: 2 } });
});

test('versions keep their files when the workspace changes, and each has its own', async () => {
  const house = await publishHouse();
  const run = await house.workspace();
  const { id, shareCode } = await house.publish(run);
  await house.workspace(filesOf(['/site/index.html', 'new'], '/site/more.html'), run.sessionId);
  const second = await house.release(id, run);
  expect(await house.filesOfShare(shareCode)).toEqual(
    SITE.slice(0, 3)
      .map(({ path }) => path)
      .sort(),
  );
  expect(await house.filesOfShare(second.shareCode)).toEqual(['/site/index.html', '/site/more.html']);
  const { seq } = (await house.share(second.shareCode))!;
  expect(await house.store.manifests.findFile(seq, '/site/index.html')).toMatchObject({ sha256: 'new' });
  for (const path of ['site/index.html', '/site/INDEX.html', '/site/../site/index.html', '/notes.txt'])
    expect(await house.store.manifests.findFile(seq, path)).toBeUndefined();
});

test('files of a run that is not collected yet are waited for', async () => {
  const house = await publishHouse();
  const run = await house.uncollected();
  const source = { sessionSeq: run.sessionSeq, entryPath: '/site/index.html' };
  const page = aPage(house.user.seq, { sessionSeq: run.sessionSeq });
  const released = house.releases.release(source, { ...MANUAL, page });
  await vi.waitUntil(() => house.listeners.size === 1);
  house.collected(run.sessionSeq + 1);
  await house.store.artifacts.recordArtifacts(run.seq, { files: SITE, skipped: {} });
  house.collected(run.sessionSeq);
  expect(await released).toMatchObject({ kind: 'published', no: 1 });
  expect(house.listeners.size).toBe(0);
});

test('a page that gets another owner while files are waited for gets no version of the former one', async () => {
  const house = await publishHouse();
  const run = await house.workspace();
  const { id } = await house.publish(run);
  const later = await house.uncollected(run.sessionId);
  const source = { sessionSeq: run.sessionSeq, entryPath: '/site/index.html' };
  const released = house.releases.release(source, { ...MANUAL, page: { id } });
  await vi.waitUntil(() => house.listeners.size === 1);
  const { seq: heir } = await house.store.users.create({ ...house.user, username: 'ben', passwordHash: 'x' });
  await house.store.pages.handOver(id, heir);
  await house.store.artifacts.recordArtifacts(later.seq, { files: SITE, skipped: {} });
  house.collected(run.sessionSeq);
  await expect(released).rejects.toMatchObject({ reason: 'conflict' });
  expect(house.rows('SELECT no, user_seq AS owner FROM publish_versions WHERE is_open = 1')).toEqual([
    { no: 1, owner: heir },
  ]);
});

test('the wait for files ends after twenty seconds', async () => {
  const house = await publishHouse();
  const run = await house.uncollected();
  const source = { sessionSeq: run.sessionSeq, entryPath: '/site/index.html' };
  const page = aPage(house.user.seq, { sessionSeq: run.sessionSeq });
  const released = house.releases.release(source, { ...MANUAL, page });
  await vi.waitUntil(() => house.listeners.size === 1);
  house.clock.advance(20_000);
  expect(await released).toEqual({ kind: 'uncollected' });
  expect([house.listeners.size, house.count('publish_pages')]).toEqual([0, 0]);
});

test('a session that was deleted gives no version, and its versions stay', { tags: ['F1-copy'] }, async () => {
  const house = await publishHouse();
  const run = await house.workspace();
  const { id, shareCode } = await house.publish(run);
  await house.store.sessions.deleteSession(run.sessionSeq);
  const source = { sessionSeq: run.sessionSeq, entryPath: '/site/index.html' };
  expect(await house.releases.attempt(source, { ...MANUAL, page: { id } })).toEqual({ kind: 'session_gone' });
  while (await house.store.erasures.finishCleanup(run.sessionSeq));
  expect(await house.filesOfShare(shareCode)).toHaveLength(3);
  for (const { sha256 } of SITE)
    expect(await house.store.sessions.isBlobInUse(sha256)).toBe(sha256.startsWith('/site/'));
});

/** A workspace with more files than one commit takes. */
const MANY = filesOf('/index.html', ...Array.from({ length: 600 }, (_, index) => `/data/${index}.json`));
const MANY_ENTRY = { entryPath: '/index.html' };

test('a version of many files is copied in parts, and nobody sees it before the last', {
  tags: ['F1-copy'],
}, async () => {
  const house = await publishHouse();
  const run = await house.workspace(MANY);
  const seen: unknown[] = [];
  house.store.onCommitted((events) => void seen.push(...events.map(({ type }) => type)));
  const { copyPart } = house.store.pages;
  vi.spyOn(house.store.pages, 'copyPart').mockImplementation(async (draft) => {
    const seq = await copyPart(draft);
    const everybodys = { userSeq: null, pageId: null, limit: 9, offset: 0 };
    expect(await house.store.shares.list(everybodys, house.clock.now())).toEqual({ items: [], total: 0 });
    expect(house.releases.active()).toBe(1);
    return seq;
  });
  const { shareCode } = await house.publish(run, MANY_ENTRY);
  expect(house.store.pages.copyPart).toHaveBeenCalledTimes(2);
  expect(seen).toEqual(['publish_page.published']);
  expect(await house.filesOfShare(shareCode)).toHaveLength(601);
  expect(await house.share(shareCode)).toMatchObject({ fileCount: 601, totalSize: 601 });
  expect(house.releases.active()).toBe(0);
});

test('a daemon killed while copying leaves nothing that anybody sees, and the draft goes at the next start', {
  tags: ['F1-copy'],
}, async () => {
  const house = await publishHouse();
  const run = await house.workspace(MANY);
  const source = { sessionSeq: run.sessionSeq, ...MANY_ENTRY };
  const plan = await house.store.pages.planVersion(source, house.limits);
  if (plan.kind !== 'planned') throw new Error(plan.kind);
  await house.store.pages.copyPart({ seq: null, plan, files: plan.files.slice(0, 250) });
  await house.store.close();
  const store = openStore(house.file, house.clock);
  const now = house.clock.now();
  expect(await store.pages.list({ userSeq: null, origin: null, name: null, limit: 9, offset: 0 }, now)).toMatchObject({
    total: 0,
  });
  expect(await store.shares.list({ userSeq: null, pageId: null, limit: 9, offset: 0 }, now)).toMatchObject({
    total: 0,
  });
  const [draft] = await store.pageRemovals.listDrafts(0);
  while (await store.pageRemovals.clearDraft(draft!));
  expect(await store.pageRemovals.listDrafts(0)).toEqual([]);
  await store.close();
  expect([house.count('publish_versions'), house.count('publish_files')]).toEqual([0, 0]);
});

test('a failure while copying leaves a draft that nobody sees, and wakes the sweeper', async () => {
  const house = await publishHouse();
  const run = await house.workspace(MANY);
  const { id, key } = await house.publish(run, MANY_ENTRY);
  const { publish } = house.store.pages;
  vi.spyOn(house.store.pages, 'publish').mockImplementation(async (...args) => {
    await house.store.pages.delete(id);
    return publish(...args);
  });
  await expect(house.release(id, run, '/index.html')).rejects.toMatchObject({ reason: 'not_found' });
  expect(house.abandoned).toEqual([1]);
  expect(await house.page(key)).toBeUndefined();
  expect(await house.store.pageRemovals.listDrafts(0)).toHaveLength(1);
  expect(house.committed.filter(({ type }) => type === 'publish_page.published')).toHaveLength(1);
});

test('an owner has a thousand pages at most', async () => {
  const house = await publishHouse();
  for (let count = 0; count < 1_000; count += 1)
    await house.store.pages.createPage(aPage(house.user.seq, { scheduledTaskId: `t${count % 100}` }));
  const { sessionSeq } = await house.workspace();
  const page = aPage(house.user.seq, { sessionSeq });
  const source = { sessionSeq, entryPath: page.entryPath };
  await expect(house.releases.attempt(source, { ...MANUAL, page })).rejects.toMatchObject({ reason: 'conflict' });
  expect([house.count('publish_pages'), house.count('publish_files')]).toEqual([1_000, 0]);
});

test('files that are replaced while they are copied keep their bytes until the version has them', async () => {
  const house = await publishHouse();
  const hold = house.blobs.hold();
  const sha256 = await hold.put(Buffer.from('the last file'));
  const run = await house.workspace([...MANY, { path: '/z.txt', size: 13, sha256 }]);
  hold.release();
  const { copyPart } = house.store.pages;
  const removals: unknown[] = [];
  const remove = () => house.blobs.removeUnless(sha256, house.store.sessions.isBlobInUse);
  vi.spyOn(house.store.pages, 'copyPart').mockImplementation(async (draft) => {
    await house.workspace(filesOf('/index.html'), run.sessionId);
    removals.push(await remove());
    return copyPart(draft);
  });
  const { shareCode } = await house.publish(run, MANY_ENTRY);
  expect(removals).toEqual([false, false]);
  expect(await house.filesOfShare(shareCode)).toContain('/z.txt');
  // From now on, the manifest keeps it.
  await house.store.sessions.deleteSession(run.sessionSeq);
  expect(await remove()).toBe(true);
  expect((await house.blobs.read(sha256)).toString()).toBe('the last file');
});

test('an almost full disk gets no new version', async () => {
  const house = await publishHouse();
  const run = await house.workspace();
  house.setShortage({ words: 'The disk is almost full.' });
  await expect(house.publish(run)).rejects.toMatchObject({
    reason: 'unavailable',
    message: 'The disk is almost full.',
  });
  house.setShortage(null);
  expect(await house.publish(run)).toMatchObject({ no: 1 });
});

test('no more than 32 versions are made at once, of which 8 because one owner asked for them', async () => {
  const house = await publishHouse();
  const committed = Promise.withResolvers<void>();
  const publish = async () => committed.promise.then(() => ({ key: 'k', no: 1, shareCode: 'c' }));
  const plan = { kind: 'planned', entryPath: '/a', shareType: 'file', files: [], totalSize: 0 } as const;
  const releases = makeReleases({
    ...house,
    store: {
      pages: {
        ...house.store.pages,
        planVersion: async ({ sessionSeq }) => ({ ...plan, sessionSeq, userSeq: sessionSeq }),
        publish,
      },
    },
    onCollected: () => () => undefined,
    disk: { shortage: () => null },
    happened: () => undefined,
    settings: () => ({ publish: house.limits }),
  });
  const attempts = (count: number, userSeq: number, trigger: 'manual' | 'auto' = 'manual') =>
    Array.from({ length: count }, () =>
      releases.attempt({ sessionSeq: userSeq, entryPath: '/a' }, { ...MANUAL, trigger, page: { id: 1 } }),
    );
  // Those of scheduled tasks are made one after another, and are not their owner's to hold up.
  const all = [attempts(9, 1), attempts(1, 1, 'auto'), ...[2, 3, 4].map((user) => attempts(8, user))];
  const counts = Promise.all(all.map(async (some) => (await Promise.allSettled(some)).map(({ status }) => status)));
  await expect(attempts(1, 5)[0]).rejects.toMatchObject({ reason: 'unavailable' });
  committed.resolve();
  const published = (await counts).map((some) => some.filter((status) => status === 'fulfilled').length);
  // The one that was refused had its place until its owner was known.
  expect(published).toEqual([8, 1, 8, 8, 6]);
  expect(releases.active()).toBe(0);
  await expect(Promise.all(attempts(8, 1))).resolves.toHaveLength(8);
});
