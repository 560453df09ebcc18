// What everybody may read of published pages: what is there, and what is not there any more.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { ErrandError } from '../../../src/domain/errors.ts';
import { rowsOf } from '../../../src/domain/portions.ts';
import { TREE_PATH } from '../../../src/domain/publishing/manifest.ts';
import {
  makePublicPages,
  type OpenedShare,
  type PublicPages,
  type RenderVersion,
  type VersionTree,
} from '../../../src/operations/publishing/public-pages.ts';
import { loggedLines } from '../../support/http/http-fixture.ts';
import { filesOf, publishFixture } from '../../support/store/publishing.ts';

let fixture: Awaited<ReturnType<typeof publishFixture>>;
let verbs: PublicPages;
let logged: ReturnType<typeof loggedLines>;

const PAGE = { limit: 50, offset: 0 };

beforeEach(async () => {
  fixture = await publishFixture();
  logged = loggedLines();
  verbs = makePublicPages({ store: fixture.store, blobs: fixture.blobs, clock: fixture.clock, log: logged.log });
});

/** A published folder whose blobs are there. */
async function publishSite() {
  const hold = fixture.blobs.hold();
  const contents = { '/site/index.html': '<p>Tides', '/site/a b/é%2F.txt': 'odd', '/notes.txt': 'mine' };
  const files = await Promise.all(
    Object.entries(contents).map(async ([path, text]) => ({
      path,
      size: Buffer.byteLength(text),
      sha256: await hold.put(Buffer.from(text)),
    })),
  );
  const run = await fixture.workspace(files);
  hold.release();
  return { ...(await fixture.publish(run, { tags: ['sea'], isOnBoard: false })), run, files };
}

async function textOf({ blob }: OpenedShare): Promise<string> {
  const bytes = Buffer.alloc(blob.size);
  await blob.read(bytes, 0);
  await blob.close();
  return bytes.toString();
}

test('a page has its public fields alone, on the board or not', async () => {
  const { key, shareCode } = await publishSite();
  const page = await verbs.page(key);
  expect(page).toEqual({
    key,
    name: 'Tides',
    description: null,
    category: null,
    tags: ['sea'],
    origin: 'existing_session',
    isOnBoard: false,
    isDistractionFree: false,
    createdAt: fixture.clock.now(),
    updatedAt: fixture.clock.now(),
    owner: { account: 'mara', name: 'Mara Vogt', department: 'Lab' },
    versionCount: 1,
    latest: {
      no: 1,
      shareCode,
      shareType: 'page',
      entryPath: '/site/index.html',
      fileCount: 2,
      totalSize: 11,
      publishedAt: fixture.clock.now(),
      expiresAt: null,
      isLatest: true,
      entry: { path: '/site/index.html', size: 8, sha256: expect.any(String) },
    },
    lastKnown: {
      shareCode,
      shareType: 'page',
      entryPath: '/site/index.html',
      publishedAt: fixture.clock.now(),
    },
  });
  expect(await verbs.share(shareCode)).toEqual({ page, version: page.latest });
  expect(await verbs.board(PAGE)).toEqual({ items: [], total: 0 });
});

test('the entry and the files of its folder are opened by their exact paths', async () => {
  const { shareCode } = await publishSite();
  const entry = await verbs.openEntry(shareCode);
  expect(entry).toMatchObject({ path: '/site/index.html', name: 'index.html', version: { shareType: 'page', no: 1 } });
  expect(await textOf(entry)).toBe('<p>Tides');
  expect(await textOf(await verbs.openAsset(shareCode, 'index.html'))).toBe('<p>Tides');
  expect(await textOf(await verbs.openAsset(shareCode, 'a b/é%2F.txt'))).toBe('odd');
});

test.each([
  '',
  '/',
  'a b',
  'a b/',
  'INDEX.html',
  '../notes.txt',
  '..%2fnotes.txt',
  './index.html',
  '/site/index.html',
  'a b//é%2F.txt',
  'a b/e\u0301%2F.txt',
  'index.html\u0000',
  'index.html/',
  '%',
  '_ndex.html',
])('an asset that is in no row of the manifest is not found: %j', { tags: ['F4-assets'] }, async (path) => {
  const { shareCode } = await publishSite();
  const refusal = { reason: 'not_found', message: 'File not found.', details: { why: 'file' } };
  await expect(verbs.openAsset(shareCode, path)).rejects.toMatchObject(refusal);
  expect(logged.lines).toEqual([]);
});

test('a blob that is gone is one file that is not found and one line in the log; the rest works', async () => {
  const { key, shareCode, files } = await publishSite();
  const { sha256 } = files[0]!;
  rmSync(join(fixture.directory, sha256.slice(0, 2), sha256));
  await expect(verbs.openEntry(shareCode)).rejects.toMatchObject({ reason: 'not_found', details: { why: 'file' } });
  expect(logged.lines).toMatchObject([
    {
      publish_key: key,
      share_code: shareCode,
      path: '/site/index.html',
      msg: 'the bytes of a published file are missing',
    },
  ]);
  expect(await textOf(await verbs.openAsset(shareCode, 'a b/é%2F.txt'))).toBe('odd');
  expect(await verbs.share(shareCode)).toMatchObject({ version: { no: 1 } });
});

test('unknown keys and codes are not found, without a reason', async () => {
  const { key } = await publishSite();
  const missing = [
    verbs.page('none'),
    verbs.versions('none', PAGE),
    verbs.paths('none', 1),
    verbs.share('none'),
    verbs.openEntry('none'),
    verbs.openAsset('none', 'index.html'),
    verbs.paths(key, 2),
    // Keys and codes are letters as they are.
    verbs.page(key.toUpperCase() === key ? key.toLowerCase() : key.toUpperCase()),
  ];
  for (const outcome of await Promise.allSettled(missing))
    expect(outcome).toMatchObject({ status: 'rejected', reason: { reason: 'not_found', details: {} } });
});

test('an expired share is not found from its end on, and the version before is the latest again', {
  tags: ['§4.7-checks'],
}, async () => {
  const { id, key, shareCode, run } = await publishSite();
  const second = await fixture.release(id, run);
  await fixture.store.shares.setEnd(second.shareCode, fixture.clock.now() + 1_000);
  fixture.clock.advance(999);
  expect(await verbs.share(second.shareCode)).toMatchObject({ version: { no: 2, isLatest: true } });
  fixture.clock.advance(1);
  // The sweeper has not noticed it yet.
  const ended = { reason: 'not_found', details: { why: 'expired' } };
  await expect(verbs.share(second.shareCode)).rejects.toMatchObject(ended);
  await expect(verbs.openEntry(second.shareCode)).rejects.toMatchObject(ended);
  await expect(verbs.openAsset(second.shareCode, 'index.html')).rejects.toMatchObject(ended);
  await expect(verbs.paths(key, 2)).rejects.toMatchObject({ reason: 'not_found' });
  expect(await verbs.page(key)).toMatchObject({ latest: { no: 1, shareCode } });
  expect((await verbs.versions(key, PAGE)).items).toMatchObject([{ no: 1, isLatest: true }]);
  await fixture.store.shares.setEnd(second.shareCode, null);
  expect(await verbs.share(second.shareCode)).toMatchObject({ version: { no: 2, isLatest: true } });
});

test('a withdrawn share is not found, for good', async () => {
  const { key, shareCode } = await publishSite();
  await fixture.store.shares.withdraw(shareCode);
  const gone = { reason: 'not_found', details: { why: 'withdrawn' } };
  await expect(verbs.share(shareCode)).rejects.toMatchObject(gone);
  await expect(verbs.openEntry(shareCode)).rejects.toMatchObject(gone);
  expect(await verbs.page(key)).toMatchObject({ versionCount: 0, latest: null });
  expect(await verbs.versions(key, PAGE)).toEqual({ items: [], total: 0 });
  await expect(fixture.store.shares.setEnd(shareCode, null)).rejects.toMatchObject({ reason: 'conflict' });
});

test('a deleted page is not found, nor are its shares; nobody reads why', async () => {
  const { id, key, shareCode } = await publishSite();
  await fixture.store.pages.delete(id);
  for (const verb of [verbs.page(key), verbs.share(shareCode), verbs.openEntry(shareCode), verbs.versions(key, PAGE)])
    await expect(verb).rejects.toMatchObject({ reason: 'not_found', details: {} });
});

test('two hundred versions are read in pages, by number and by time', {
  tags: ['§4.7-versions', '§4.7-dates'],
}, async () => {
  const run = await fixture.workspace(filesOf('/site/index.html'));
  const { id, key } = await fixture.publish(run);
  const first = fixture.clock.now();
  for (let no = 2; no <= 200; no += 1) {
    fixture.clock.advance(1_000);
    await fixture.release(id, run);
  }
  const page = await verbs.versions(key, { limit: 3, offset: 197 });
  expect([page.total, page.items.map(({ no }) => no)]).toEqual([200, [3, 2, 1]]);
  expect((await verbs.versions(key, { ...PAGE, no: 7 })).items).toMatchObject([{ no: 7, isLatest: false }]);
  expect(await verbs.versions(key, { ...PAGE, no: 201 })).toEqual({ items: [], total: 0 });
  const range = await verbs.versions(key, { ...PAGE, from: first + 1_000, to: first + 4_000 });
  expect([range.total, range.items.map(({ no }) => no)]).toEqual([3, [4, 3, 2]]);
  expect(await verbs.page(key)).toMatchObject({ versionCount: 200, latest: { no: 200 } });
  expect(await verbs.paths(key, 200)).toEqual(['/site/index.html']);
});

describe('the tree of a version', () => {
  /** How often it was made. */
  let made = 0;
  const render: RenderVersion = async function* (files, { no }) {
    made += 1;
    for await (const { path } of rowsOf(files)) yield `${no} ${path}\n`;
  };
  const TEXT = '1 /site/a b/é%2F.txt\n1 /site/index.html\n';
  const read = async ({ pieces }: VersionTree) => (await Array.fromAsync(pieces())).join('');

  beforeEach(() => {
    made = 0;
  });

  test('is made once, however many ask for it at a time and later, and kept as a blob', async () => {
    const { key } = await publishSite();
    const trees = await Promise.all(Array.from({ length: 20 }, async () => verbs.tree(key, 1, render)));
    trees.push(await verbs.tree(key, 1, render));
    expect(await Promise.all(trees.map(read))).toEqual(trees.map(() => TEXT));
    expect(made).toBe(1);
    const { sha256 } = trees[0]!;
    expect((await fixture.blobs.read(sha256!)).toString()).toBe(TEXT);
    expect(await fixture.store.sessions.isBlobInUse(sha256!)).toBe(true);
    expect(await verbs.paths(key, 1)).not.toContain(TREE_PATH);
  });

  test('is given back with the version', async () => {
    const { key, shareCode } = await publishSite();
    const { sha256 } = await verbs.tree(key, 1, render);
    await fixture.store.shares.withdraw(shareCode);
    while (await fixture.store.pageRemovals.clearWithdrawn());
    expect(await fixture.store.pageRemovals.listRemovals('', 99)).toContain(sha256);
    expect(await fixture.store.sessions.isBlobInUse(sha256!)).toBe(false);
  });

  test('of a version that is withdrawn while it is made is removed', async () => {
    const { key, shareCode } = await publishSite();
    const withdrawing: RenderVersion = async function* (files, version) {
      yield* render(files, version);
      await fixture.store.shares.withdraw(shareCode);
      while (await fixture.store.pageRemovals.clearWithdrawn());
    };
    const { sha256 } = await verbs.tree(key, 1, withdrawing);
    expect(await fixture.store.pageRemovals.listRemovals('', 99)).toContain(sha256);
  });

  test('is readable when it can’t be kept', async () => {
    const { key } = await publishSite();
    const full = async () => {
      throw new ErrandError('unavailable', 'The disk is full.');
    };
    const { store, clock } = fixture;
    const blobs = { ...fixture.blobs, hold: () => ({ ...fixture.blobs.hold(), put: full }) };
    const { log } = loggedLines();
    const tree = await makePublicPages({ store, blobs, clock, log }).tree(key, 1, render);
    expect([tree.sha256, await read(tree)]).toEqual([null, TEXT]);
  });
});
