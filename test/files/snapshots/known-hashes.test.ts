// Hashes that a snapshot knows from before: an unchanged file is not read again.
import { existsSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { waitFor } from '../../support/time/wait-for.ts';
import {
  snapshotHouse,
  type SnapshotHouse,
  sha256,
  shareSnapshotHouse,
  write,
} from '../../support/files/snapshot-house.ts';

const shared = shareSnapshotHouse();

/** Waits until the files' changes are old enough for their hashes to be cached. */
async function settle(house: SnapshotHouse, ...paths: readonly string[]): Promise<void> {
  await waitFor(() => paths.every((path) => Date.now() - statSync(join(house.root, path)).ctimeMs > 2_100));
}

/** Replaces each cached hash by another, so that a hash that isn't computed again is detected. */
function forgeHashes(house: SnapshotHouse, forged: string): void {
  const kept = JSON.parse(readFileSync(house.hashedPath, 'utf8')) as { files: [string, string, string, boolean][] };
  kept.files = kept.files.map(([path, identity, , settled]) => [path, identity, forged, settled]);
  writeFileSync(house.hashedPath, JSON.stringify(kept));
}

/** Hashes of few small files are not stored. */
const MANY = Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`more/${at}`, `more ${at}`]));

describe('what was hashed before', { concurrent: true }, () => {
  test('an unchanged file keeps its hash unread, and every way of changing one is detected', async (of) => {
    const house = await snapshotHouse({ of, beside: shared() });
    const names = ['same', 'content', 'content-and-times', 'replaced', 'touched', 'moved'];
    write(house, { ...MANY, ...Object.fromEntries(names.map((name) => [name, `old ${name}`])) });
    const times = statSync(join(house.root, 'content-and-times'));
    await settle(house, ...names);
    await house.snapshot({ hold: null });
    forgeHashes(house, 'f'.repeat(64));
    const at = (name: string) => join(house.root, name);
    writeFileSync(at('content'), 'new content');
    writeFileSync(at('content-and-times'), 'NEW content-and-times');
    utimesSync(at('content-and-times'), times.atime, times.mtime);
    writeFileSync(at('other'), 'new replaced');
    renameSync(at('other'), at('replaced'));
    utimesSync(at('touched'), 1, 1);
    renameSync(at('moved'), at('moved-away'));
    const { files } = await house.snapshot({ hold: null });
    const hashes = files.filter(({ path }) => !path.startsWith('/more/')).map(({ path, sha256 }) => [path, sha256]);
    expect(Object.fromEntries(hashes)).toEqual({
      '/same': 'f'.repeat(64),
      '/content': sha256('new content'),
      '/content-and-times': sha256('NEW content-and-times'),
      '/replaced': sha256('new replaced'),
      '/touched': sha256('old touched'),
      '/moved-away': sha256('old moved'),
    });
  });

  test('a file changed just before it was hashed is hashed again: its time may not show the next change', async (of) => {
    const house = await snapshotHouse({ of, beside: shared() });
    write(house, MANY);
    // A machine that is busy may take longer than the step of the clock that this is about.
    await waitFor(async () => {
      const writtenAt = Date.now();
      write(house, { 'a.txt': 'one' });
      await house.snapshot({ hold: null });
      return Date.now() - writtenAt < 1_500;
    });
    // No modification time shows it.
    forgeHashes(house, sha256('none'));
    expect((await house.snapshot({ hold: null })).files[0]).toMatchObject({ sha256: sha256('one') });
  });

  test('a hash whose blob is gone is not enough when bytes are to be stored', async (of) => {
    const house = await snapshotHouse({ of, beside: shared() });
    write(house, { 'a.txt': 'wanted', ...MANY });
    await settle(house, 'a.txt');
    await house.snapshot({ hold: null });
    expect(house.hasBlob(sha256('wanted'))).toBe(false);
    await house.snapshot();
    expect(house.hasBlob(sha256('wanted'))).toBe(true);
    house.hold.release();
    await house.blobs.removeUnless(sha256('wanted'), async () => false);
    await house.snapshot({ hold: house.blobs.hold() });
    expect(house.hasBlob(sha256('wanted'))).toBe(true);
  });

  test('a blob that is removed between the look for it and its hold is stored again', async (of) => {
    const house = await snapshotHouse({ of, beside: shared() });
    // More than are reported with the end of the order.
    const files = Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`many/${at}`, `many ${at}`]));
    write(house, files);
    await settle(house, ...Object.keys(files));
    await house.snapshot();
    house.hold.release();
    const key = sha256('many 7');
    const hold = house.blobs.hold();
    let removed = 0;
    const add = (held: string) => {
      // Just before it is held, as the sweep of what a crash has left might do.
      if (held === key && (removed += 1) === 1) rmSync(house.pathOf(key));
      hold.add(held);
    };
    expect((await house.snapshot({ hold: { ...hold, add } })).files).toHaveLength(70);
    expect(removed).toBe(2);
    expect(house.hasBlob(key)).toBe(true);
  });

  test('since an earlier look, only what was read anew is reported, what is gone, and the exceptions', async (of) => {
    const house = await snapshotHouse({ of, beside: shared() });
    write(house, { ...MANY, changed: 'one', gone: 'one', recorded: 'other bytes' });
    await settle(house, ...Object.keys(MANY), 'changed', 'gone', 'recorded');
    const { token, gone } = await house.snapshot();
    expect(gone).toBeNull();
    const unchanged = await house.snapshot({ since: { token: token!, except: [] } });
    expect(unchanged).toMatchObject({ files: [], gone: [], token });
    write(house, { changed: 'two', new: 'three' });
    rmSync(join(house.root, 'gone'));
    // As after a record of something else at that path, when nothing refers to its bytes any more.
    rmSync(house.pathOf(sha256('other bytes')));
    const since = { token: token!, except: ['/recorded', '/none'] };
    const { files, ...rest } = await house.snapshot({ since });
    expect(files.map(({ path }) => path)).toEqual(['/changed', '/new', '/recorded']);
    expect(rest).toMatchObject({ gone: ['/gone'], isWhole: true, names: { count: 11 } });
    expect(house.hasBlob(sha256('other bytes'))).toBe(true);
    // The hashes are those of the last look now.
    expect(rest.token).not.toBe(token);
    const again = await house.snapshot({ since });
    expect([again.files.length, again.gone]).toEqual([11, null]);
  });

  test.for([
    ['nothing', ''],
    ['half of it', '{"version":1,"files":[["/a.t'],
    ['another version', '{"version":2,"files":[]}'],
    ['no list', '{"version":1}'],
    ['another thing', '[[]]'],
  ])('%s in the file of hashes counts as none', async ([, text], of) => {
    const house = await snapshotHouse({ of, beside: shared() });
    write(house, { 'a.txt': 'one' });
    writeFileSync(house.hashedPath, text!);
    expect((await house.snapshot()).files).toEqual([{ path: '/a.txt', size: 3, sha256: sha256('one') }]);
  });

  test('is forgotten with its session', async (of) => {
    const house = await snapshotHouse({ of, beside: shared() });
    write(house, { 'a.txt': 'one' });
    await house.snapshot();
    expect(existsSync(house.hashedPath)).toBe(false);
    write(house, MANY);
    await house.snapshot();
    expect(existsSync(house.hashedPath)).toBe(true);
    await house.snapshotThread.forget(house.sessionId);
    expect(existsSync(house.hashedPath)).toBe(false);
    await house.snapshotThread.forget(house.sessionId);
  });
});
