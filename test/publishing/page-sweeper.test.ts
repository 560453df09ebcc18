// The page sweeper: what ends gives its bytes back, what others use stays, and every step may be repeated.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { makeOrphanedBlobs } from '../../src/execution/artifacts/removal/orphaned-blobs.ts';
import { makeSweeper } from '../../src/execution/artifacts/removal/sweeper.ts';
import { makeWorkspaces } from '../../src/files/workspaces.ts';
import { makePageSweeper } from '../../src/publishing/page-sweeper.ts';
import type { Service } from '../../src/services/service.ts';
import type { Store } from '../../src/store/open-store.ts';
import { openStore } from '../support/store/open-store.ts';
import { loggedLines } from '../support/http/http-fixture.ts';
import { filesOf, publishFixture } from '../support/store/publishing.ts';
import { listAll } from '../support/files/list-blobs.ts';

let fixture: Awaited<ReturnType<typeof publishFixture>>;
let logged: ReturnType<typeof loggedLines>;
let sweeper: Service;

const over = (store: Store, hasPeers = false): Service => {
  const { blobs, versions, clock } = fixture;
  const made = makePageSweeper({ store, blobs, versions, hasPeers, clock, log: logged.log });
  onTestFinished(() => made.stop());
  return made;
};

beforeEach(async () => {
  fixture = await publishFixture();
  logged = loggedLines();
  sweeper = over(fixture.store);
});

async function sweep(): Promise<void> {
  sweeper.wake();
  await sweeper.settled();
}

/** A session whose workspace has these texts as files, each a blob. */
async function workspace(texts: Readonly<Record<string, string>>, sessionId: string | null = null) {
  const hold = fixture.blobs.hold();
  const files = await Promise.all(
    Object.entries(texts).map(async ([path, text]) => ({ path, size: 1, sha256: await hold.put(Buffer.from(text)) })),
  );
  const run = await fixture.workspace(files, sessionId);
  hold.release();
  const keys = Object.fromEntries(files.map(({ path, sha256 }) => [path, sha256]));
  return { run, keyOf: (path: string) => keys[path]! };
}

const hasBlob = (key: string) => existsSync(join(fixture.directory, key.slice(0, 2), key));

/** Deletes a session as the daemon does, and cleans up after it. */
async function deleteSession({ sessionSeq }: { readonly sessionSeq: number }): Promise<void> {
  await fixture.store.sessions.deleteSession(sessionSeq);
  const { store, blobs, clock } = fixture;
  const cleaner = makeSweeper({
    isShared: false,
    store,
    blobs,
    workspaces: makeWorkspaces({ directory: join(fixture.directory, '..', 'w'), blobs, owner: null }),
    snapshotThread: { forget: async () => undefined },
    beforeErasing: async () => undefined,
    clock,
    log: logged.log,
  });
  onTestFinished(() => cleaner.stop());
  cleaner.wake();
  await vi.waitUntil(async () => (await store.sessions.listCleanups(0, 9)).length === 0);
  await cleaner.stop();
}

async function removeOrphans(): Promise<void> {
  const orphans = makeOrphanedBlobs({ ...fixture, list: () => listAll(fixture.blobs), log: logged.log });
  orphans.wake();
  await orphans.settled();
  await orphans.stop();
}

test('versions survive the deletion of their session, its clean-up and the check for orphans', async () => {
  const { run, keyOf } = await workspace({ '/site/index.html': 'a', '/site/x.css': 'b', '/notes.txt': 'c' });
  const { shareCode } = await fixture.publish(run);
  await deleteSession(run);
  expect(fixture.count('workspace_files')).toBe(0);
  await removeOrphans();
  await sweep();
  expect(['/site/index.html', '/site/x.css', '/notes.txt'].map((path) => hasBlob(keyOf(path)))).toEqual([
    true,
    true,
    false,
  ]);
  await fixture.store.shares.withdraw(shareCode);
  await sweep();
  expect(['/site/index.html', '/site/x.css'].map((path) => hasBlob(keyOf(path)))).toEqual([false, false]);
  expect([fixture.count('publish_files'), fixture.count('publish_removals')]).toEqual([0, 0]);
});

test('a blob is stored once for many versions, and removed with its last user', async () => {
  const { run, keyOf } = await workspace({ '/site/index.html': 'a' });
  const key = keyOf('/site/index.html');
  const first = await fixture.publish(run);
  const second = await fixture.release(first.id, run);
  const other = await fixture.publish(run);
  await fixture.store.shares.withdraw(first.shareCode);
  await sweep();
  expect(hasBlob(key)).toBe(true);
  await fixture.store.pages.delete(other.id);
  await deleteSession(run);
  await sweep();
  expect(hasBlob(key)).toBe(true);
  await fixture.store.shares.withdraw(second.shareCode);
  await sweep();
  expect(hasBlob(key)).toBe(false);
});

test('what the session still has stays when all of its pages end', async () => {
  const { run, keyOf } = await workspace({ '/site/index.html': 'a' });
  const { id } = await fixture.publish(run);
  await fixture.store.pages.delete(id);
  await sweep();
  expect(hasBlob(keyOf('/site/index.html'))).toBe(true);
  expect(['publish_pages', 'publish_versions', 'publish_files', 'publish_removals'].map(fixture.count)).toEqual([
    0, 0, 0, 0,
  ]);
});

test('bytes whose last use ends while they are found in use go with the next sweep', async () => {
  const { run, keyOf } = await workspace({ '/site/index.html': 'a' });
  const [one, two] = [await fixture.publish(run), await fixture.publish(run)];
  await deleteSession(run);
  const { finishRemovals, clearWithdrawn } = fixture.store.pageRemovals;
  vi.spyOn(fixture.store.pageRemovals, 'finishRemovals').mockImplementationOnce(async (...keys) => {
    await fixture.store.shares.withdraw(two.shareCode);
    while (await clearWithdrawn());
    await finishRemovals(...keys);
  });
  await fixture.store.shares.withdraw(one.shareCode);
  await sweep();
  await sweep();
  expect(hasBlob(keyOf('/site/index.html'))).toBe(false);
});

test('a deleted page goes with all its versions, its jobs and its bytes; others stay', async () => {
  const { run, keyOf } = await workspace({ '/site/index.html': 'a', '/site/own.txt': 'own' });
  const { id } = await fixture.publish(run);
  await fixture.release(id, run);
  const { run: later } = await workspace({ '/site/index.html': 'a' }, run.sessionId);
  const other = await fixture.publish(later);
  await deleteSession(run);
  await fixture.store.pages.delete(id);
  await sweep();
  expect([hasBlob(keyOf('/site/index.html')), hasBlob(keyOf('/site/own.txt'))]).toEqual([true, false]);
  expect(await fixture.filesOfShare(other.shareCode)).toEqual(['/site/index.html']);
  expect(fixture.count('publish_pages')).toBe(1);
});

test('a blob that is held is removed later', async () => {
  const { run, keyOf } = await workspace({ '/site/index.html': 'a' });
  const { shareCode } = await fixture.publish(run);
  await deleteSession(run);
  await fixture.store.shares.withdraw(shareCode);
  const hold = fixture.blobs.hold();
  hold.add(keyOf('/site/index.html'));
  await sweep();
  expect([hasBlob(keyOf('/site/index.html')), fixture.count('publish_removals')]).toEqual([true, 1]);
  hold.release();
  fixture.clock.advance(60_000);
  await sweeper.settled();
  expect([hasBlob(keyOf('/site/index.html')), fixture.count('publish_removals')]).toEqual([false, 0]);
});

test('a blob that can not be removed is reported, and does not keep others', async () => {
  const { run, keyOf } = await workspace({ '/site/index.html': 'a', '/site/b.txt': 'b' });
  const { shareCode } = await fixture.publish(run);
  await deleteSession(run);
  await fixture.store.shares.withdraw(shareCode);
  const { removeUnless } = fixture.blobs;
  const stuck = keyOf('/site/b.txt');
  const spy = vi.spyOn(fixture.blobs, 'removeUnless').mockImplementation(async (key, isInUse) => {
    if (key === stuck) throw new Error('EIO');
    return removeUnless(key, isInUse);
  });
  await sweep();
  expect([hasBlob(keyOf('/site/index.html')), hasBlob(stuck)]).toEqual([false, true]);
  expect(logged.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  spy.mockRestore();
  fixture.clock.advance(60_000);
  await sweeper.settled();
  expect(hasBlob(stuck)).toBe(false);
});

/** Every verb of a sweep that writes, in a store that is closed after one call of it, as by a kill. */
const STEPS = ['clearWithdrawn', 'clearDeleted', 'finishRemovals', 'clearDraft'] as const;

test.each(STEPS)('a sweep that was killed after %s is completed by the next start', async (step) => {
  const texts = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`/site/${index}`, `${index}`]));
  const { run } = await workspace({ ...texts, '/site/index.html': 'a' });
  const [one, two] = [await fixture.publish(run), await fixture.publish(run)];
  const plan = await fixture.store.pages.planVersion(
    { sessionSeq: run.sessionSeq, entryPath: '/site/index.html' },
    fixture.limits,
  );
  if (plan.kind !== 'planned') throw new Error(plan.kind);
  await fixture.store.pages.copyPart({ seq: null, plan, files: plan.files });
  await deleteSession(run);
  await fixture.store.shares.withdraw(one.shareCode);
  await fixture.store.pages.delete(two.id);
  const verb = fixture.store.pageRemovals[step] as (...args: unknown[]) => Promise<never>;
  let isKilled = false;
  for (const name of STEPS) {
    const real = fixture.store.pageRemovals[name] as (...args: unknown[]) => Promise<never>;
    vi.spyOn(fixture.store.pageRemovals, name).mockImplementation(async (...args: unknown[]) => {
      if (isKilled) throw new Error('killed');
      isKilled = name === step;
      return (name === step ? verb : real)(...args);
    });
  }
  await sweep();
  await sweeper.stop();
  expect(isKilled).toBe(true);
  const store = openStore(fixture.file, fixture.clock);
  onTestFinished(() => store.close());
  const again = over(store);
  again.wake();
  await again.settled();
  expect(['publish_files', 'publish_removals', 'publish_jobs'].map(fixture.count)).toEqual([0, 0, 0]);
  expect(fixture.rows('SELECT no, has_files FROM publish_versions')).toEqual([{ no: 1, has_files: 0 }]);
  for await (const key of listAll(fixture.blobs)) expect.unreachable(`${key} is left`);
});

test('the removal of a large page does not hold up that of a withdrawn share', async () => {
  const many = filesOf('/site/index.html', ...Array.from({ length: 2_000 }, (_, index) => `/site/${index}`));
  const large = await fixture.publish(await fixture.workspace(many));
  const small = await fixture.publish(await fixture.workspace(filesOf('/site/index.html')));
  await fixture.store.pages.delete(large.id);
  await fixture.store.shares.withdraw(small.shareCode);
  const deleted = vi.spyOn(fixture.store.pageRemovals, 'clearDeleted');
  const withdrawn = vi.spyOn(fixture.store.pageRemovals, 'clearWithdrawn');
  await sweep();
  expect(deleted.mock.invocationCallOrder.length).toBeGreaterThan(5);
  expect(withdrawn.mock.invocationCallOrder[0]).toBeLessThan(deleted.mock.invocationCallOrder[2]!);
});

test('drafts that are being copied stay; abandoned ones go', async () => {
  const { run } = await workspace({ '/site/index.html': 'a' });
  const many = filesOf('/index.html', ...Array.from({ length: 300 }, (_, index) => `/${index}`));
  const large = await fixture.workspace(many);
  const { publish } = fixture.store.pages;
  vi.spyOn(fixture.store.pages, 'publish').mockImplementationOnce(async (...args) => {
    await sweep();
    expect(await fixture.store.pageRemovals.listDrafts(0)).toHaveLength(1);
    return publish(...args);
  });
  const { shareCode } = await fixture.publish(large, { entryPath: '/index.html' });
  expect(await fixture.filesOfShare(shareCode)).toHaveLength(301);
  const plan = await fixture.store.pages.planVersion(
    { sessionSeq: run.sessionSeq, entryPath: '/site/index.html' },
    fixture.limits,
  );
  if (plan.kind !== 'planned') throw new Error(plan.kind);
  await fixture.store.pages.copyPart({ seq: null, plan, files: plan.files });
  fixture.clock.advance(10_000);
  await sweeper.settled();
  expect(await fixture.store.pageRemovals.listDrafts(0)).toEqual([]);
  expect(await fixture.filesOfShare(shareCode)).toHaveLength(301);
});

test('a copy that begins while drafts are listed is none of those that were abandoned', async () => {
  const many = filesOf('/index.html', ...Array.from({ length: 600 }, (_, index) => `/${index}`));
  const large = await fixture.workspace(many);
  const [swept, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { copyPart } = fixture.store.pages;
  vi.spyOn(fixture.store.pages, 'copyPart').mockImplementationOnce(async (...args) => {
    const copied = await copyPart(...args);
    begun.resolve();
    await swept.promise;
    return copied;
  });
  const { listDrafts } = fixture.store.pageRemovals;
  let publishing: ReturnType<typeof fixture.publish> | undefined;
  vi.spyOn(fixture.store.pageRemovals, 'listDrafts').mockImplementationOnce(async (after) => {
    publishing = fixture.publish(large, { entryPath: '/index.html' });
    await begun.promise;
    return listDrafts(after);
  });
  await sweep();
  swept.resolve();
  expect(await fixture.filesOfShare((await publishing!).shareCode)).toHaveLength(601);
});

test('a draft that another process may be copying stays for ten minutes, whatever is copied here', {
  tags: ['L7'],
}, async () => {
  const many = filesOf('/index.html', ...Array.from({ length: 300 }, (_, index) => `/${index}`));
  const { sessionSeq } = await fixture.workspace(many);
  const plan = await fixture.store.pages.planVersion({ sessionSeq, entryPath: '/index.html' }, fixture.limits);
  if (plan.kind !== 'planned') throw new Error(plan.kind);
  const parts = [plan.files.slice(0, 200), plan.files.slice(200)];
  const seq = await fixture.store.pages.copyPart({ seq: null, plan, files: parts[0]! });
  sweeper = over(fixture.store, true);
  fixture.clock.advance(599_000);
  await sweep();
  await fixture.store.pages.copyPart({ seq, plan, files: parts[1]! });
  fixture.clock.advance(599_000);
  await sweeper.settled();
  expect(fixture.count('publish_files')).toBe(301);
  fixture.clock.advance(1_000);
  await sweeper.settled();
  expect([fixture.count('publish_files'), fixture.count('publish_versions')]).toEqual([0, 0]);
});

test('a draft that was published since it was listed keeps its files', async () => {
  const { run } = await workspace({ '/site/index.html': 'a' });
  const { shareCode } = await fixture.publish(run, { entryPath: '/site/index.html' });
  const [version] = fixture.rows<{ seq: number }>('SELECT seq FROM publish_versions');
  expect(await fixture.store.pageRemovals.clearDraft(version!.seq, true)).toBe(false);
  expect(await fixture.filesOfShare(shareCode)).toHaveLength(1);
});

test('the end of a share is noticed when it comes, and its bytes stay: it may get another end', async () => {
  const { run, keyOf } = await workspace({ '/site/index.html': 'a' });
  const { key, shareCode } = await fixture.publish(run);
  await fixture.store.shares.setEnd(shareCode, fixture.clock.now() + 5_000);
  await sweep();
  const open = () => fixture.rows('SELECT open_versions, latest_published_at IS NULL AS is_null FROM publish_pages');
  expect(open()).toEqual([{ open_versions: 1, is_null: 0 }]);
  fixture.clock.advance(5_000);
  await sweeper.settled();
  expect(open()).toEqual([{ open_versions: 0, is_null: 1 }]);
  expect(hasBlob(keyOf('/site/index.html'))).toBe(true);
  await fixture.store.shares.setEnd(shareCode, null);
  expect(await fixture.page(key)).toMatchObject({ versionCount: 1, latest: { no: 1 } });
});

/** Lets rows of manifests fail as they do on a full disk, for as long as `isFull` says. */
function fillDisk(isFull: () => boolean): void {
  const { prepare } = Connection.prototype;
  const spy = vi.spyOn(Connection.prototype, 'prepare').mockImplementation(function (this: never, sql: string) {
    const statement: { run(...values: unknown[]): unknown } = prepare.call(this, sql);
    if (!sql.includes('INSERT INTO publish_files')) return statement as never;
    const run = (...values: unknown[]) => {
      if (isFull()) throw new Connection.SqliteError('database or disk is full', 'SQLITE_FULL');
      return statement.run(...values);
    };
    return Object.assign(Object.create(statement) as object, { run }) as never;
  });
  onTestFinished(() => spy.mockRestore());
}

const refused = { reason: 'unavailable', message: expect.stringMatching(/no space is left/) };

test('a full disk refuses a page and a version, and leaves nothing of either', async () => {
  let isFull = true;
  fillDisk(() => isFull);
  const { run } = await workspace({ '/site/index.html': 'a' });
  await expect(fixture.publish(run)).rejects.toMatchObject(refused);
  const tables = () => ['publish_pages', 'publish_versions', 'publish_files'].map(fixture.count);
  expect(tables()).toEqual([0, 0, 0]);
  isFull = false;
  const { id, key } = await fixture.publish(run);
  isFull = true;
  await expect(fixture.release(id, run)).rejects.toMatchObject(refused);
  expect([await fixture.page(key), tables()]).toMatchObject([{ versionCount: 1, latest: { no: 1 } }, [1, 1, 1]]);
  expect(fixture.committed.filter(({ type }) => type === 'publish_page.published')).toHaveLength(1);
});

test('a disk that fills while a large version is copied leaves a draft, which the sweeper removes', async () => {
  let rows = 0;
  fillDisk(() => (rows += 1) > 400);
  const many = filesOf('/index.html', ...Array.from({ length: 800 }, (_, index) => `/${index}`));
  const run = await fixture.workspace(many);
  await expect(fixture.publish(run, { entryPath: '/index.html' })).rejects.toMatchObject(refused);
  expect([fixture.abandoned, fixture.count('publish_pages'), fixture.count('publish_files')]).toEqual([[1], 0, 250]);
  await sweep();
  expect(['publish_versions', 'publish_files', 'publish_removals'].map(fixture.count)).toEqual([0, 0, 0]);
});
