// Versions: what one holds, and that it is there whole or not at all.
import { expect, test, vi } from 'vitest';
import { makeVersions } from '../../../src/publishing/versions.ts';
import { openStore } from '../../support/store/open-store.ts';
import { contentsOf, keyOf, sourceOf } from '../../support/store/small-contents.ts';
import { aPage, filesOf, MANUAL, publishFixture, SITE } from '../../support/store/publishing.ts';

test('a page version holds the entry’s folder and all below it', { tags: ['F11-folder'] }, async () => {
  const fixture = await publishFixture();
  const published = await fixture.publish(await fixture.workspace());
  expect(published).toMatchObject({ no: 1, key: expect.stringMatching(/^[0-9A-Za-z]{16}$/) });
  expect(published.shareCode).toMatch(/^[0-9A-Za-z]{22}$/);
  expect(await fixture.filesOfShare(published.shareCode)).toEqual([
    '/site/img/moon.png',
    '/site/index.html',
    '/site/style.css',
  ]);
  expect(await fixture.page(published.key)).toMatchObject({
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
    const fixture = await publishFixture();
    const hidden = ['/.env', '/a/.git/config', '/uploads/.secret', '/.git/deep/er/index.html'];
    const all = ['/index.md', '/a/b.txt', '/uploads/index.html', '/uploads/x.csv', ...hidden];
    const files = filesOf(...(shareType === 'page' ? all : [...all, '/a/moon.PNG']));
    const { shareCode } = await fixture.publish(await fixture.workspace(files), { entryPath });
    expect(await fixture.filesOfShare(shareCode)).toEqual(held);
    expect(await fixture.share(shareCode)).toMatchObject({ shareType, entryPath });
  },
);

test('folders that are left out are passed over, however many files they have', { tags: ['F11-folder'] }, async () => {
  const fixture = await publishFixture();
  const many = Array.from({ length: 3_000 }, (_, index) => `/.cache/${index}`);
  const dotted = Array.from({ length: 1_200 }, (_, index) => `/d${index}/.gitkeep`);
  const files = filesOf(...many, ...dotted, '/.dockerignore', '/-first', '/index.html', '/z/last.txt');
  const { shareCode } = await fixture.publish(await fixture.workspace(files), { entryPath: '/index.html' });
  expect(await fixture.filesOfShare(shareCode)).toEqual(['/-first', '/index.html', '/z/last.txt']);
});

test.each([
  ['a path that begins with the one before', ['/app.js', '/app.js.map', '/index.html']],
  ['what comes after a folder that is left out', ['/index.html', '/uploads0', '/z']],
])('no file is missing where the next part is read: %s', { tags: ['F11-folder'] }, async (_, held) => {
  const fixture = await publishFixture();
  const many = (name: string, count: number) => Array.from({ length: count }, (__, no) => `${name}${1_000 + no}`);
  const before = many('/a', 499);
  const files = filesOf(...before, ...many('/uploads/', 500), ...held);
  const { shareCode } = await fixture.publish(await fixture.workspace(files), { entryPath: '/index.html' });
  expect(await fixture.filesOfShare(shareCode)).toEqual([...before, ...held]);
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
    const fixture = await publishFixture();
    const { sessionSeq } = await fixture.workspace([...SITE, ...filesOf('/.well/index.html')]);
    const page = aPage(fixture.user.seq, { sessionSeq }, { entryPath });
    const outcome = await fixture.versions.attempt({ sessionSeq, entryPath }, { ...MANUAL, page });
    expect(outcome).toEqual({ kind: 'refused', mustBe: expect.stringMatching(mustBe) });
    expect([fixture.count('publish_pages'), fixture.count('publish_versions')]).toEqual([0, 0]);
  },
);

test('a version over a limit is refused with the limit; one at the limit is not', {
  tags: ['F11-limits'],
}, async () => {
  const fixture = await publishFixture();
  const big = { path: '/site/big.bin', size: 2 * 1_048_576 - 3, sha256: 'big' };
  const { sessionSeq } = await fixture.workspace([...SITE, big]);
  const source = { sessionSeq, entryPath: '/site/index.html' };
  const page = aPage(fixture.user.seq, { sessionSeq });
  Object.assign(fixture.limits, { maxFiles: 3, maxTotalMb: 2 });
  expect(await fixture.versions.attempt(source, { ...MANUAL, page })).toMatchObject({
    kind: 'refused',
    mustBe: expect.stringMatching(/at most 3 files \(publish\.max_files\)/),
  });
  Object.assign(fixture.limits, { maxFiles: 4, maxTotalMb: 1 });
  expect(await fixture.versions.attempt(source, { ...MANUAL, page })).toMatchObject({
    kind: 'refused',
    mustBe: expect.stringMatching(/at most 1 MB \(publish\.max_total_mb\)/),
  });
  Object.assign(fixture.limits, { maxFiles: 4, maxTotalMb: 2 });
  expect(await fixture.versions.attempt(source, { ...MANUAL, page })).toMatchObject({ kind: 'published', no: 1 });
});

test('a version whose paths are too long together is refused, so that everybody may read its tree', async () => {
  const fixture = await publishFixture();
  const long = filesOf(...Array.from({ length: 2_000 }, (_, i) => `/site/${'é'.repeat(400)}/${i}.txt`));
  const { sessionSeq } = await fixture.workspace([...SITE, ...long]);
  const page = aPage(fixture.user.seq, { sessionSeq });
  const source = { sessionSeq, entryPath: '/site/index.html' };
  expect(await fixture.versions.attempt(source, { ...MANUAL, page })).toEqual({
    kind: 'refused',
    mustBe: expect.stringMatching(/paths are shorter/),
  });
});

test('a release without changes is a version all the same, and the event has all its facts', {
  tags: ['§6.5-publish_page.published', 'F13-order'],
}, async () => {
  const fixture = await publishFixture();
  const run = await fixture.workspace();
  const { id, key } = await fixture.publish(run, { category: 'Sea', isOnBoard: false });
  const second = await fixture.release(id, run);
  expect(second).toMatchObject({ key, no: 2 });
  expect(fixture.committed.at(-1)).toMatchObject({
    type: 'publish_page.published',
    sessionSeq: run.sessionSeq,
    runSeq: null,
    createdAt: fixture.clock.now(),
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
  expect(await fixture.page(key)).toMatchObject({ versionCount: 2, latest: { no: 2 } });
});

test('versions keep their files when the workspace changes, and each has its own', async () => {
  const fixture = await publishFixture();
  const run = await fixture.workspace();
  const { id, shareCode } = await fixture.publish(run);
  await fixture.workspace(filesOf(['/site/index.html', 'new'], '/site/more.html'), run.sessionId);
  const second = await fixture.release(id, run);
  expect(await fixture.filesOfShare(shareCode)).toEqual(
    SITE.slice(0, 3)
      .map(({ path }) => path)
      .sort(),
  );
  expect(await fixture.filesOfShare(second.shareCode)).toEqual(['/site/index.html', '/site/more.html']);
  const { seq } = (await fixture.share(second.shareCode))!;
  expect(await fixture.store.manifests.findFile(seq, '/site/index.html')).toMatchObject({ sha256: 'new' });
  for (const path of ['site/index.html', '/site/INDEX.html', '/site/../site/index.html', '/notes.txt'])
    expect(await fixture.store.manifests.findFile(seq, path)).toBeUndefined();
});

test('files of a run that is not collected yet are waited for', async () => {
  const fixture = await publishFixture();
  const run = await fixture.uncollected();
  const source = { sessionSeq: run.sessionSeq, entryPath: '/site/index.html' };
  const page = aPage(fixture.user.seq, { sessionSeq: run.sessionSeq });
  const released = fixture.versions.publish(source, { ...MANUAL, page });
  await vi.waitUntil(() => fixture.listeners.size === 1);
  fixture.collected(run.sessionSeq + 1);
  await fixture.store.artifacts.recordArtifacts(run.seq, { files: SITE, skipped: {} });
  fixture.collected(run.sessionSeq);
  expect(await released).toMatchObject({ kind: 'published', no: 1 });
  expect(fixture.listeners.size).toBe(0);
});

test('a page that gets another owner while files are waited for gets no version of the former one', async () => {
  const fixture = await publishFixture();
  const run = await fixture.workspace();
  const { id } = await fixture.publish(run);
  const later = await fixture.uncollected(run.sessionId);
  const source = { sessionSeq: run.sessionSeq, entryPath: '/site/index.html' };
  const released = fixture.versions.publish(source, { ...MANUAL, page: { id } });
  await vi.waitUntil(() => fixture.listeners.size === 1);
  const { seq: heir } = await fixture.store.users.create({ ...fixture.user, username: 'ben', passwordHash: 'x' });
  await fixture.store.pages.handOver(id, { from: fixture.user.seq, to: heir });
  await fixture.store.artifacts.recordArtifacts(later.seq, { files: SITE, skipped: {} });
  fixture.collected(run.sessionSeq);
  await expect(released).rejects.toMatchObject({ reason: 'conflict' });
  expect(fixture.rows('SELECT no, user_seq AS owner FROM publish_versions WHERE is_open = 1')).toEqual([
    { no: 1, owner: heir },
  ]);
});

test('the wait for files ends after twenty seconds', async () => {
  const fixture = await publishFixture();
  const run = await fixture.uncollected();
  const source = { sessionSeq: run.sessionSeq, entryPath: '/site/index.html' };
  const page = aPage(fixture.user.seq, { sessionSeq: run.sessionSeq });
  const released = fixture.versions.publish(source, { ...MANUAL, page });
  await vi.waitUntil(() => fixture.listeners.size === 1);
  fixture.clock.advance(20_000);
  expect(await released).toEqual({ kind: 'uncollected' });
  expect([fixture.listeners.size, fixture.count('publish_pages')]).toEqual([0, 0]);
});

test('who waits for files when the daemon ends is refused, and nothing is published once they are known', async () => {
  const fixture = await publishFixture();
  const run = await fixture.uncollected();
  const source = { sessionSeq: run.sessionSeq, entryPath: '/site/index.html' };
  const page = aPage(fixture.user.seq, { sessionSeq: run.sessionSeq });
  const released = fixture.versions.publish(source, { ...MANUAL, page });
  await vi.waitUntil(() => fixture.listeners.size === 1);
  fixture.versions.endWaits();
  await expect(released).rejects.toMatchObject({
    reason: 'unavailable',
    message: expect.stringContaining('restarting'),
  });
  await expect(fixture.versions.publish(source, { ...MANUAL, page })).rejects.toMatchObject({ reason: 'unavailable' });
  await fixture.store.artifacts.recordArtifacts(run.seq, { files: SITE, skipped: {} });
  fixture.collected(run.sessionSeq);
  expect([fixture.listeners.size, fixture.count('publish_pages')]).toEqual([0, 0]);
  // What needs no waiting is still done.
  expect(await fixture.versions.publish(source, { ...MANUAL, page })).toMatchObject({ kind: 'published', no: 1 });
});

test('a session that was deleted gives no version, and its versions stay', { tags: ['F1-copy'] }, async () => {
  const fixture = await publishFixture();
  const run = await fixture.workspace();
  const { id, shareCode } = await fixture.publish(run);
  await fixture.store.sessions.deleteSession(run.sessionSeq);
  const source = { sessionSeq: run.sessionSeq, entryPath: '/site/index.html' };
  expect(await fixture.versions.attempt(source, { ...MANUAL, page: { id } })).toEqual({ kind: 'session_gone' });
  while (await fixture.store.erasures.finishCleanup(run.sessionSeq));
  expect(await fixture.filesOfShare(shareCode)).toHaveLength(3);
  for (const { sha256 } of SITE)
    expect(await fixture.store.sessions.isBlobInUse(sha256)).toBe(sha256.startsWith('/site/'));
});

/** A workspace with more files than one commit takes. */
const MANY = filesOf('/index.html', ...Array.from({ length: 600 }, (_, index) => `/data/${index}.json`));
const MANY_ENTRY = { entryPath: '/index.html' };

test('a version of many files is copied in parts, and nobody sees it before the last', {
  tags: ['F1-copy'],
}, async () => {
  const fixture = await publishFixture();
  const run = await fixture.workspace(MANY);
  const seen: unknown[] = [];
  fixture.store.onCommitted((events) => void seen.push(...events.map(({ type }) => type)));
  const { copyPart } = fixture.store.pages;
  vi.spyOn(fixture.store.pages, 'copyPart').mockImplementation(async (draft) => {
    const seq = await copyPart(draft);
    const everybodys = { userSeq: null, pageId: null, limit: 9, offset: 0 };
    expect(await fixture.store.shares.list(everybodys, fixture.clock.now())).toEqual({ items: [], total: 0 });
    expect(fixture.versions.active()).toBe(1);
    return seq;
  });
  const { shareCode } = await fixture.publish(run, MANY_ENTRY);
  expect(fixture.store.pages.copyPart).toHaveBeenCalledTimes(2);
  expect(seen).toEqual(['publish_page.published']);
  expect(await fixture.filesOfShare(shareCode)).toHaveLength(601);
  expect(await fixture.share(shareCode)).toMatchObject({ fileCount: 601, totalSize: 601 });
  expect(fixture.versions.active()).toBe(0);
});

test('a daemon killed while copying leaves nothing that anybody sees, and the draft goes at the next start', {
  tags: ['F1-copy'],
}, async () => {
  const fixture = await publishFixture();
  const run = await fixture.workspace(MANY);
  const source = { sessionSeq: run.sessionSeq, ...MANY_ENTRY };
  const plan = await fixture.store.pages.planVersion(source, fixture.limits);
  if (plan.kind !== 'planned') throw new Error(plan.kind);
  await fixture.store.pages.copyPart({ seq: null, plan, files: plan.files.slice(0, 250) });
  await fixture.store.close();
  const store = openStore(fixture.file, fixture.clock);
  const now = fixture.clock.now();
  expect(await store.pages.list({ userSeq: null, origin: null, name: null, limit: 9, offset: 0 }, now)).toMatchObject({
    total: 0,
  });
  expect(await store.shares.list({ userSeq: null, pageId: null, limit: 9, offset: 0 }, now)).toMatchObject({
    total: 0,
  });
  const [draft] = await store.pageRemovals.listDrafts(0);
  while (await store.pageRemovals.clearDraft(draft!.seq, true));
  expect(await store.pageRemovals.listDrafts(0)).toEqual([]);
  await store.close();
  expect([fixture.count('publish_versions'), fixture.count('publish_files')]).toEqual([0, 0]);
});

test('a failure while copying leaves a draft that nobody sees, and wakes the sweeper', async () => {
  const fixture = await publishFixture();
  const run = await fixture.workspace(MANY);
  const { id, key } = await fixture.publish(run, MANY_ENTRY);
  const { publish } = fixture.store.pages;
  vi.spyOn(fixture.store.pages, 'publish').mockImplementation(async (...args) => {
    await fixture.store.pages.delete(id);
    return publish(...args);
  });
  await expect(fixture.release(id, run, '/index.html')).rejects.toMatchObject({ reason: 'not_found' });
  expect(fixture.abandoned).toEqual([1]);
  expect(await fixture.page(key)).toBeUndefined();
  expect(await fixture.store.pageRemovals.listDrafts(0)).toHaveLength(1);
  expect(fixture.committed.filter(({ type }) => type === 'publish_page.published')).toHaveLength(1);
});

test('an owner has a thousand pages at most', async () => {
  const fixture = await publishFixture();
  for (let count = 0; count < 1_000; count += 1)
    await fixture.store.pages.createPage(aPage(fixture.user.seq, { scheduledTaskId: `t${count % 100}` }));
  const { sessionSeq } = await fixture.workspace();
  const page = aPage(fixture.user.seq, { sessionSeq });
  const source = { sessionSeq, entryPath: page.entryPath };
  await expect(fixture.versions.attempt(source, { ...MANUAL, page })).rejects.toMatchObject({ reason: 'conflict' });
  expect([fixture.count('publish_pages'), fixture.count('publish_files')]).toEqual([1_000, 0]);
});

test('files that are replaced while they are copied keep their bytes until the version has them', async () => {
  const fixture = await publishFixture();
  const hold = fixture.blobs.hold();
  const sha256 = await hold.put(Buffer.from('the last file'));
  const run = await fixture.workspace([...MANY, { path: '/z.txt', size: 13, sha256 }]);
  hold.release();
  const { copyPart } = fixture.store.pages;
  const removals: unknown[] = [];
  const remove = () => fixture.blobs.removeUnless(sha256, fixture.store.sessions.isBlobInUse);
  vi.spyOn(fixture.store.pages, 'copyPart').mockImplementation(async (draft) => {
    await fixture.workspace(filesOf('/index.html'), run.sessionId);
    removals.push(await remove());
    return copyPart(draft);
  });
  const { shareCode } = await fixture.publish(run, MANY_ENTRY);
  expect(removals).toEqual([false, false]);
  expect(await fixture.filesOfShare(shareCode)).toContain('/z.txt');
  // From now on, the manifest keeps it.
  await fixture.store.sessions.deleteSession(run.sessionSeq);
  expect(await remove()).toBe(true);
  expect((await fixture.blobs.read(sha256)).toString()).toBe('the last file');
});

test('an almost full disk gets no new version', async () => {
  const fixture = await publishFixture();
  const run = await fixture.workspace();
  fixture.setShortage({ words: 'The disk is almost full.' });
  await expect(fixture.publish(run)).rejects.toMatchObject({
    reason: 'unavailable',
    message: 'The disk is almost full.',
  });
  fixture.setShortage(null);
  expect(await fixture.publish(run)).toMatchObject({ no: 1 });
});

test('no more than 32 versions are made at once, of which 8 because one owner asked for them', async () => {
  const fixture = await publishFixture();
  const committed = Promise.withResolvers<void>();
  const publish = async () => committed.promise.then(() => ({ key: 'k', no: 1, shareCode: 'c' }));
  const plan = { kind: 'planned', entryPath: '/a', shareType: 'file', files: [], totalSize: 0 } as const;
  const versions = makeVersions({
    ...fixture,
    store: {
      pages: {
        ...fixture.store.pages,
        planVersion: async ({ sessionSeq }) => ({ ...plan, sessionSeq, userSeq: sessionSeq }),
        publish,
      },
    },
    onCollected: () => () => undefined,
    hasPeers: false,
    disk: { shortage: () => null },
    happened: () => undefined,
    settings: () => ({ publish: fixture.limits }),
  });
  const attempts = (count: number, userSeq: number, trigger: 'manual' | 'auto' = 'manual') =>
    Array.from({ length: count }, () =>
      versions.attempt({ sessionSeq: userSeq, entryPath: '/a' }, { ...MANUAL, trigger, page: { id: 1 } }),
    );
  // Those of scheduled tasks are made one after another, and are not their owner's to hold up.
  const all = [attempts(9, 1), attempts(1, 1, 'auto'), ...[2, 3, 4].map((user) => attempts(8, user))];
  const counts = Promise.all(all.map(async (some) => (await Promise.allSettled(some)).map(({ status }) => status)));
  await expect(attempts(1, 5)[0]).rejects.toMatchObject({ reason: 'unavailable' });
  committed.resolve();
  const published = (await counts).map((some) => some.filter((status) => status === 'fulfilled').length);
  // The one that was refused had its place until its owner was known.
  expect(published).toEqual([8, 1, 8, 8, 6]);
  expect(versions.active()).toBe(0);
  await expect(Promise.all(attempts(8, 1))).resolves.toHaveLength(8);
});

test('what another process has removed since the files were read is not listed: they are read again', {
  tags: ['L7'],
}, async () => {
  const fixture = await publishFixture();
  const recorded = async (content: string, sessionId: string | null = null) => {
    const run = await fixture.uncollected(sessionId);
    const files = [{ path: '/a.txt', size: content.length, sha256: keyOf(content) }];
    await fixture.store.artifacts.recordArtifacts(run.seq, {
      files,
      skipped: {},
      contents: sourceOf(contentsOf(content)),
    });
    // As after a run that failed, whose files the workspace alone has.
    fixture.change('DELETE FROM run_artifact_files');
    return run;
  };
  const run = await recorded('ebb');
  const { planVersion } = fixture.store.pages;
  vi.spyOn(fixture.store.pages, 'planVersion').mockImplementationOnce(async (...input) => {
    const plan = await planVersion(...input);
    await recorded('flood', run.sessionId);
    // No fork could want what there was before.
    fixture.change('DELETE FROM earlier_files');
    expect(await fixture.store.smallBlobs.remove(keyOf('ebb'), () => false)).toBe(true);
    return plan;
  });
  const { shareCode } = await fixture.publish(run, { entryPath: '/a.txt' });
  expect(await fixture.filesOfShare(shareCode)).toEqual(['/a.txt']);
  expect(fixture.rows('SELECT sha256 FROM publish_files')).toEqual([{ sha256: keyOf('flood') }]);
  expect(await fixture.store.smallBlobs.find(keyOf('flood'))).toEqual(Buffer.from('flood'));
});

test('a draft that was removed while it was copied is not published', { tags: ['F1-copy', 'L7'] }, async () => {
  const fixture = await publishFixture();
  const run = await fixture.workspace(MANY);
  const { copyPart } = fixture.store.pages;
  vi.spyOn(fixture.store.pages, 'copyPart').mockImplementation(async (draft) => {
    const seq = await copyPart(draft);
    // Its removal has begun, and another one may go on with it.
    await fixture.store.pageRemovals.clearDraft(seq, true);
    return seq;
  });
  const publishing = fixture.publish(run, MANY_ENTRY);
  await expect(publishing).rejects.toMatchObject({
    reason: 'unavailable',
    message: expect.stringContaining('too long'),
  });
  expect(fixture.committed.filter(({ type }) => type === 'publish_page.published')).toEqual([]);
  expect(fixture.abandoned).toEqual([1]);
});
