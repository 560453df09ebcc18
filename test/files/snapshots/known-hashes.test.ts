// Hashes that a snapshot knows from before: an unchanged file is not read again.
import { existsSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { waitFor } from '../../support/time/wait-for.ts';
import {
  large,
  snapshotFixture,
  type SnapshotFixture,
  sha256,
  shareSnapshotFixture,
  write,
} from '../../support/files/snapshot-fixture.ts';

const shared = shareSnapshotFixture();

/** Waits until the files' changes are old enough for their hashes to be cached. */
async function settle(fixture: SnapshotFixture, ...paths: readonly string[]): Promise<void> {
  await waitFor(() => paths.every((path) => Date.now() - statSync(join(fixture.root, path)).ctimeMs > 2_100));
}

/** Replaces each stored hash by another, so that a hash that isn't computed again is detected. */
function forgeHashes(fixture: SnapshotFixture, forged: string): void {
  const kept = JSON.parse(readFileSync(fixture.manifestPath, 'utf8')) as { files: [string, string, string, boolean][] };
  kept.files = kept.files.map(([path, identity, , settled]) => [path, identity, forged, settled]);
  writeFileSync(fixture.manifestPath, JSON.stringify(kept));
}

/** The manifest of few small files is in memory only. */
const MANY = Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`more/${at}`, `more ${at}`]));

describe('what was hashed before', { concurrent: true }, () => {
  test('an unchanged file keeps its hash unread, and every way of changing one is detected', async (of) => {
    const fixture = await snapshotFixture({ of, beside: shared() });
    const names = ['same', 'content', 'content-and-times', 'replaced', 'touched', 'moved'];
    write(fixture, { ...MANY, ...Object.fromEntries(names.map((name) => [name, `old ${name}`])) });
    const times = statSync(join(fixture.root, 'content-and-times'));
    await settle(fixture, ...names);
    await fixture.snapshot({ hold: null });
    forgeHashes(fixture, 'f'.repeat(64));
    const at = (name: string) => join(fixture.root, name);
    writeFileSync(at('content'), 'new content');
    writeFileSync(at('content-and-times'), 'NEW content-and-times');
    utimesSync(at('content-and-times'), times.atime, times.mtime);
    writeFileSync(at('other'), 'new replaced');
    renameSync(at('other'), at('replaced'));
    utimesSync(at('touched'), 1, 1);
    renameSync(at('moved'), at('moved-away'));
    const { files } = await fixture.restarted({ hold: null });
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
    const fixture = await snapshotFixture({ of, beside: shared() });
    write(fixture, MANY);
    // A machine that is busy may take longer than the step of the clock that this is about.
    await waitFor(async () => {
      const writtenAt = Date.now();
      write(fixture, { 'a.txt': 'one' });
      await fixture.snapshot({ hold: null });
      return Date.now() - writtenAt < 1_500;
    });
    // No modification time shows it.
    forgeHashes(fixture, sha256('none'));
    expect((await fixture.restarted({ hold: null })).files[0]).toMatchObject({ sha256: sha256('one') });
  });

  test('a hash whose blob is gone is not enough when bytes are to be stored', async (of) => {
    const fixture = await snapshotFixture({ of, beside: shared() });
    write(fixture, { 'a.txt': large('wanted'), ...MANY });
    await settle(fixture, 'a.txt');
    await fixture.snapshot({ hold: null });
    expect(fixture.hasBlob(sha256(large('wanted')))).toBe(false);
    await fixture.snapshot();
    expect(fixture.hasBlob(sha256(large('wanted')))).toBe(true);
    fixture.hold.release();
    await fixture.blobs.removeUnless(sha256(large('wanted')), async () => false);
    await fixture.snapshot({ hold: fixture.blobs.hold() });
    expect(fixture.hasBlob(sha256(large('wanted')))).toBe(true);
  });

  test('a blob that is removed between the look for it and its hold is stored again', async (of) => {
    const fixture = await snapshotFixture({ of, beside: shared() });
    // More than are reported with the end of the order.
    const files = Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`many/${at}`, large(`many ${at}`)]));
    write(fixture, files);
    await settle(fixture, ...Object.keys(files));
    await fixture.snapshot();
    fixture.hold.release();
    const key = sha256(large('many 7'));
    const hold = fixture.blobs.hold();
    let removed = 0;
    const add = (held: string) => {
      // Just before it is held, as the sweep of what a crash has left might do.
      if (held === key && (removed += 1) === 1) rmSync(fixture.pathOf(key));
      hold.add(held);
    };
    expect((await fixture.snapshot({ hold: { ...hold, add } })).files).toHaveLength(70);
    expect(removed).toBe(2);
    expect(fixture.hasBlob(key)).toBe(true);
  });

  test('only what differs from the recorded files is reported, whether their look is known or not', async (of) => {
    const fixture = await snapshotFixture({ of, beside: shared() });
    write(fixture, { ...MANY, changed: 'one', gone: 'one', same: 'one' });
    await settle(fixture, ...Object.keys(MANY), 'changed', 'gone', 'same');
    const first = await fixture.snapshot();
    expect(first.files).toHaveLength(67);
    let reads = 0;
    const recorded = { token: first.token, extras: null, read: async () => ((reads += 1), first.files) };
    const unchanged = await fixture.snapshot({ recorded });
    expect(unchanged).toMatchObject({ files: [], gone: [], token: first.token });
    write(fixture, { changed: 'two', new: 'three', same: 'one' });
    rmSync(join(fixture.root, 'gone'));
    const known = await fixture.snapshot({ recorded });
    expect(reads).toBe(0);
    // Of that look, the thread knows nothing any more: it has seen others, or it is another thread.
    for (const look of [await fixture.snapshot({ recorded }), await fixture.restarted({ recorded }), known]) {
      expect(look.files.map(({ path }) => path)).toEqual(['/changed', '/new']);
      expect(look.gone).toEqual(['/gone']);
      expect(look.token).not.toBe(first.token);
    }
    expect(reads).toBe(2);
  });

  test('a recorded large file whose blob was lost is stored again, when its look is not known', async (of) => {
    const fixture = await snapshotFixture({ of, beside: shared() });
    write(fixture, { 'a.txt': 'not lost', 'b.txt': large('soon lost') });
    const { files } = await fixture.snapshot();
    rmSync(fixture.pathOf(sha256(large('soon lost'))));
    const again = await fixture.snapshot({ recorded: { token: null, extras: null, read: async () => files } });
    expect(again.files.map(({ path }) => path)).toEqual(['/b.txt']);
    expect(fixture.hasBlob(sha256(large('soon lost')))).toBe(true);
  });

  test('thousands of files and paths come in several messages, each once', async (of) => {
    const fixture = await snapshotFixture({ of, beside: shared() });
    const names = Array.from({ length: 3_000 }, (_, at) => `many/${String(at).padStart(4, '0')}`);
    write(fixture, Object.fromEntries(names.map((name) => [name, 'the same'])));
    const first = await fixture.snapshot();
    expect(first.files.map(({ path }) => path)).toEqual(names.map((name) => `/${name}`));
    rmSync(join(fixture.root, 'many'), { recursive: true });
    const second = await fixture.snapshot({
      recorded: { token: first.token, extras: null, read: async () => first.files },
    });
    expect(second.files).toEqual([]);
    expect(second.gone.toSorted()).toEqual(names.map((name) => `/${name}`));
  });

  test.for([
    ['nothing', ''],
    ['half of it', '{"version":1,"files":[["/a.t'],
    ['another version', '{"version":2,"files":[]}'],
    ['no list', '{"version":1}'],
    ['another thing', '[[]]'],
  ])('%s in the file of hashes counts as none', async ([, text], of) => {
    const fixture = await snapshotFixture({ of, beside: shared() });
    write(fixture, { 'a.txt': 'one' });
    writeFileSync(fixture.manifestPath, text!);
    expect((await fixture.snapshot()).files).toEqual([{ path: '/a.txt', size: 3, sha256: sha256('one') }]);
  });

  test('is forgotten with its session', async (of) => {
    const fixture = await snapshotFixture({ of, beside: shared() });
    write(fixture, { 'a.txt': 'one' });
    await fixture.snapshot();
    expect(existsSync(fixture.manifestPath)).toBe(false);
    write(fixture, MANY);
    await fixture.snapshot();
    expect(existsSync(fixture.manifestPath)).toBe(true);
    await fixture.snapshotThread.forget(fixture.sessionId);
    expect(existsSync(fixture.manifestPath)).toBe(false);
    await fixture.snapshotThread.forget(fixture.sessionId);
  });
});
