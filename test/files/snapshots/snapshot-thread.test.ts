// Snapshots of workspaces: what they hold, what hostile ones can't do, and that nothing half-done stays.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { TEMPORARY_PREFIX } from '../../../src/disk/replace-beneath.ts';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { isNoSpace } from '../../../src/files/blobs/no-space.ts';
import { removeBeneath } from '../../../src/disk/remove-beneath.ts';
import {
  snapshotHouse,
  type SnapshotHouse,
  LIMITS,
  makeFolderOf,
  NOTHING,
  sha256,
} from '../../support/files/snapshot-house.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const isRoot = process.getuid?.() === 0;

function write(house: SnapshotHouse, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [path, content] of Object.entries(files)) writeFileSync(makeFolderOf(join(house.root, path)), content);
}

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

/** The snapshot thread that most tests share. */
let shared: SnapshotHouse;
const ends: (() => void | Promise<void>)[] = [];
beforeAll(async () => {
  shared = await snapshotHouse({ of: { onTestFinished: (end) => void ends.unshift(end) } });
});
afterAll(async () => {
  for (const end of ends) await end();
});

describe('what a snapshot holds', () => {
  test('regular files in order of their paths, with their bytes as blobs, each content once', async () => {
    const house = await snapshotHouse({ beside: shared });
    write(house, {
      'b.txt': 'same',
      'a/z.txt': 'same',
      'a/b/c.txt': 'deep',
      'a-b.txt': 'x',
      'a.txt': '',
      'é\n.txt': 'odd',
    });
    const { files, skipped } = await house.snapshot();
    expect(files).toEqual([
      { path: '/a-b.txt', size: 1, sha256: sha256('x') },
      { path: '/a.txt', size: 0, sha256: sha256('') },
      { path: '/a/b/c.txt', size: 4, sha256: sha256('deep') },
      { path: '/a/z.txt', size: 4, sha256: sha256('same') },
      { path: '/b.txt', size: 4, sha256: sha256('same') },
      { path: '/é\n.txt', size: 3, sha256: sha256('odd') },
    ]);
    expect(files.map(({ path }) => path)).toEqual(files.map(({ path }) => path).sort());
    expect(skipped).toEqual(NOTHING);
    for (const file of files) expect(sha256(await house.blobs.read(file.sha256))).toBe(file.sha256);
    expect(house.incoming()).toEqual([]);
    expect(new Set(house.hold.release())).toEqual(new Set(files.map((file) => file.sha256)));
  });

  test('without a hold nothing is stored', async () => {
    const house = await snapshotHouse({ beside: shared });
    write(house, { 'a.txt': 'only looked at' });
    const { files } = await house.snapshot({ hold: null });
    expect(files).toEqual([{ path: '/a.txt', size: 14, sha256: sha256('only looked at') }]);
    expect(house.hasBlob(sha256('only looked at'))).toBe(false);
  });

  test('a workspace that is not there is empty', async () => {
    const house = await snapshotHouse({ beside: shared });
    expect(await house.snapshot({ root: join(house.root, 'none') })).toEqual({ files: [], skipped: NOTHING });
  });

  test('what the daemon itself puts there is left out, and what only looks like it is not', async () => {
    const house = await snapshotHouse({ beside: shared });
    const half = `${TEMPORARY_PREFIX}0198c0de-0000-7000-8000-000000000001`;
    write(house, {
      [half]: 'half',
      [`in/${half}`]: 'half',
      '.errand/out.txt': 'by-product',
      'in/.errand/kept': 'kept',
    });
    write(house, { [`${TEMPORARY_PREFIX}mine`]: 'mine' });
    const { files, skipped } = await house.snapshot();
    expect(files.map(({ path }) => path)).toEqual([`/${TEMPORARY_PREFIX}mine`, '/in/.errand/kept']);
    expect(skipped).toEqual(NOTHING);
  });

  test('a large file of many chunks arrives complete', async () => {
    const house = await snapshotHouse({ beside: shared });
    const bytes = Buffer.alloc(5_000_003, 'tides and ');
    write(house, { 'large.bin': bytes });
    const { files } = await house.snapshot();
    expect(files).toEqual([{ path: '/large.bin', size: bytes.length, sha256: sha256(bytes) }]);
    expect(house.blobBytes(files[0]!.sha256).equals(bytes)).toBe(true);
  });
});

describe('what was hashed before', { concurrent: true }, () => {
  test('an unchanged file keeps its hash unread, and every way of changing one is detected', async (of) => {
    const house = await snapshotHouse({ of, beside: shared });
    const names = ['same', 'content', 'content-and-times', 'replaced', 'touched', 'moved'];
    write(house, Object.fromEntries(names.map((name) => [name, `old ${name}`])));
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
    expect(Object.fromEntries(files.map((file) => [file.path, file.sha256]))).toEqual({
      '/same': 'f'.repeat(64),
      '/content': sha256('new content'),
      '/content-and-times': sha256('NEW content-and-times'),
      '/replaced': sha256('new replaced'),
      '/touched': sha256('old touched'),
      '/moved-away': sha256('old moved'),
    });
  });

  test('a file changed just before it was hashed is hashed again: its time may not show the next change', async (of) => {
    const house = await snapshotHouse({ of, beside: shared });
    write(house, { 'a.txt': 'one' });
    await house.snapshot({ hold: null });
    // No modification time shows it.
    forgeHashes(house, sha256('none'));
    expect((await house.snapshot({ hold: null })).files).toMatchObject([{ sha256: sha256('one') }]);
  });

  test('a hash whose blob is gone is not enough when bytes are to be stored', async (of) => {
    const house = await snapshotHouse({ of, beside: shared });
    write(house, { 'a.txt': 'wanted' });
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

  test.for([
    ['nothing', ''],
    ['half of it', '{"version":1,"files":[["/a.t'],
    ['another version', '{"version":2,"files":[]}'],
    ['no list', '{"version":1}'],
    ['another thing', '[[]]'],
  ])('%s in the file of hashes counts as none', async ([, text], of) => {
    const house = await snapshotHouse({ of, beside: shared });
    write(house, { 'a.txt': 'one' });
    writeFileSync(house.hashedPath, text!);
    expect((await house.snapshot()).files).toEqual([{ path: '/a.txt', size: 3, sha256: sha256('one') }]);
  });

  test('is forgotten with its session', async (of) => {
    const house = await snapshotHouse({ of, beside: shared });
    write(house, { 'a.txt': 'one' });
    await house.snapshot();
    expect(existsSync(house.hashedPath)).toBe(true);
    await house.snapshotThread.forget(house.sessionId);
    expect(existsSync(house.hashedPath)).toBe(false);
    await house.snapshotThread.forget(house.sessionId);
  });
});

/** Makes folders in folders, longer paths than a system call may name, with a file in each. */
function fillDeeper(root: string, name: string, levels: number): void {
  onTestFinished(async () => void (await removeBeneath(root, name)));
  let folder = openSync(root, 'r');
  for (let level = 0; level < levels; level += 1) {
    const inner = `/proc/self/fd/${folder}/${name}`;
    mkdirSync(inner);
    writeFileSync(`${inner}/file`, 'x');
    const next = openSync(inner, 'r');
    closeSync(folder);
    folder = next;
  }
  closeSync(folder);
}

describe('hostile workspaces', () => {
  test('pipes, sockets, links of all kinds and odd names are passed over and counted', async () => {
    const house = await snapshotHouse({ beside: shared });
    const at = (name: string) => join(house.root, name);
    write(house, { 'good.txt': 'good', 'folder/in.txt': 'in' });
    execFileSync('mkfifo', [at('pipe')]);
    const server = createServer().listen(at('socket'));
    onTestFinished(() => void server.close());
    await waitFor(() => existsSync(at('socket')));
    symlinkSync('loop', at('loop'));
    symlinkSync('/', at('to-root'));
    symlinkSync('/etc/passwd', at('to-file'));
    symlinkSync('folder', at('to-folder'));
    symlinkSync('nowhere', at('to-nowhere'));
    linkSync(at('good.txt'), at('hard.txt'));
    writeFileSync(Buffer.concat([Buffer.from(`${house.root}/bad-`), Buffer.from([0xff, 0xfe])]), 'x');
    mkdirSync(Buffer.concat([Buffer.from(`${house.root}/bad-folder-`), Buffer.from([0x80])]));
    const { files, skipped } = await house.snapshot();
    expect(files.map(({ path }) => path)).toEqual(['/folder/in.txt', '/good.txt', '/hard.txt']);
    expect(skipped).toEqual({ ...NOTHING, links: 5, special: 2, notUtf8: 2 });
  });

  test.runIf(isRoot)(
    "devices are not touched, and a hard link to another user's file is not followed out",
    async () => {
      const house = await snapshotHouse({ beside: shared });
      const secret = join(temporaryDirectory(), 'secret');
      writeFileSync(secret, 'of the daemon');
      chownSync(house.root, 61_234, 61_234);
      linkSync(secret, join(house.root, 'hard'));
      execFileSync('mknod', [join(house.root, 'device'), 'c', '1', '5']);
      const { files, skipped } = await house.snapshot();
      expect(files).toEqual([]);
      expect(skipped).toEqual({ ...NOTHING, links: 1, special: 1 });
      expect(house.hasBlob(sha256('of the daemon'))).toBe(false);
    },
  );

  test('a file of a terabyte that is all hole is too large, unread; a smaller one is stored with its holes', async () => {
    const house = await snapshotHouse({ beside: shared });
    writeFileSync(join(house.root, 'terabyte'), '');
    truncateSync(join(house.root, 'terabyte'), 2 ** 40);
    const sparse = openSync(join(house.root, 'sparse'), 'w');
    writeSync(sparse, 'begin', 0);
    writeSync(sparse, 'middle', 20_000_000);
    closeSync(sparse);
    truncateSync(join(house.root, 'sparse'), 40_000_000);
    const { files, skipped } = await house.snapshot();
    expect(skipped).toEqual({ ...NOTHING, tooLarge: 1 });
    const kept = house.pathOf(files[0]!.sha256);
    expect(readFileSync(kept).equals(readFileSync(join(house.root, 'sparse')))).toBe(true);
    expect(lstatSync(kept).blocks * 512).toBeLessThan(1_000_000);
  });

  test('files that together exceed the limit of a workspace are skipped unread, and smaller ones still stored', async () => {
    const house = await snapshotHouse({ beside: shared });
    write(house, { 'a.txt': 'x'.repeat(600), 'b.txt': 'y'.repeat(600), 'c.txt': 'z'.repeat(300) });
    const { files, skipped } = await house.snapshot({ limits: { ...LIMITS, maxTotalBytes: 1_000 } });
    expect(files.map(({ path }) => path)).toEqual(['/a.txt', '/c.txt']);
    expect(skipped).toEqual({ ...NOTHING, tooLarge: 1 });
  });

  test('folders below the depth limit, paths beyond what can be named, and files beyond their number are counted', async () => {
    const house = await snapshotHouse({ beside: shared });
    const deep = Array.from({ length: 200 }, () => 'd').join('/');
    write(house, { [`${deep}/deep.txt`]: 'deep', 'shallow.txt': 'x' });
    const all = await house.snapshot({ limits: { ...LIMITS, maxDepth: 200 } });
    expect(all.files.map(({ path }) => path)).toEqual([`/${deep}/deep.txt`, '/shallow.txt']);
    expect(await house.snapshot({ limits: { ...LIMITS, maxDepth: 199 } })).toMatchObject({
      files: [{ path: '/shallow.txt' }],
      skipped: { ...NOTHING, tooDeep: 1 },
    });
    fillDeeper(house.root, 'n'.repeat(200), 30);
    const long = await house.snapshot({ limits: { ...LIMITS, maxDepth: 200 } });
    expect(long.files.filter(({ path }) => path.startsWith('/n'))).toHaveLength(20);
    expect(long.skipped).toEqual({ ...NOTHING, tooDeep: 1 });
    const few = await house.snapshot({ limits: { ...LIMITS, maxFiles: 3, maxDepth: 200 } });
    expect(few.files).toHaveLength(3);
    expect(few.skipped.tooMany).toBe(19);
  });

  test.skipIf(isRoot)('what may not be read is counted', async () => {
    const house = await snapshotHouse({ beside: shared });
    write(house, { 'closed.txt': 'x', 'folder/in.txt': 'x' });
    chmodSync(join(house.root, 'closed.txt'), 0);
    chmodSync(join(house.root, 'folder'), 0);
    onTestFinished(() => chmodSync(join(house.root, 'folder'), 0o700));
    expect(await house.snapshot()).toEqual({ files: [], skipped: { ...NOTHING, unreadable: 2 } });
  });

  test('some thousand files are all there, and the main thread turns meanwhile', async () => {
    const house = await snapshotHouse({ beside: shared });
    const all: Record<string, string> = {};
    for (let i = 0; i < 2_500; i += 1) all[`d${i % 37}/e${i % 11}/f${i}`] = String(i % 100);
    write(house, all);
    // CPU time of its own work between two turns: other load on this machine does not count.
    let longest = 0;
    let last = process.threadCpuUsage();
    const timer = setInterval(() => {
      const { user, system } = process.threadCpuUsage(last);
      longest = Math.max(longest, user + system);
      last = process.threadCpuUsage();
    }, 1);
    const { files } = await house.snapshot();
    clearInterval(timer);
    expect(files).toHaveLength(2_500);
    expect(longest).toBeGreaterThan(0);
    expect(longest / 1_000).toBeLessThan(100);
  });

  test('folders and files swapped for links while snapshots are taken never let anything from outside in', async () => {
    const outside = temporaryDirectory({ 'in/file.txt': 'OUTSIDE', 'file.txt': 'OUTSIDE' });
    const house = await snapshotHouse({ beside: shared });
    write(house, { 'a/in/file.txt': 'inside', 'b/file.txt': 'inside' });
    const swapping = new Worker(
      `const { workerData } = require('node:worker_threads');
       const fs = require('node:fs');
       const { root, outside, stop } = workerData;
       const swap = (name, target) => {
         fs.renameSync(root + '/' + name, root + '/' + name + '.away');
         fs.symlinkSync(target, root + '/' + name);
         fs.unlinkSync(root + '/' + name);
         fs.renameSync(root + '/' + name + '.away', root + '/' + name);
       };
       while (Atomics.load(stop, 0) === 0) {
         swap('a', outside);
         swap('a/in', outside + '/in');
         swap('b/file.txt', outside + '/file.txt');
       }`,
      { eval: true, workerData: { root: house.root, outside, stop: new Int32Array(new SharedArrayBuffer(4)) } },
    );
    onTestFinished(async () => void (await swapping.terminate()));
    const seen = { files: 0, links: 0, missing: 0 };
    // Both sides of the race must be seen, or it would prove nothing.
    for (let i = 0; i < 100 || ((seen.files === 0 || seen.missing === 0) && i < 1_000); i += 1) {
      const { files, skipped } = await house.snapshot();
      expect(files.map((file) => file.sha256)).not.toContain(sha256('OUTSIDE'));
      seen.files += files.length;
      seen.links += skipped.links;
      seen.missing += Number(files.length < 2);
    }
    expect(seen.files).toBeGreaterThan(0);
    expect(seen.missing).toBeGreaterThan(0);
    expect(house.hasBlob(sha256('OUTSIDE'))).toBe(false);
  });

  test.each([
    ['grows', `fs.writeSync(file, more, 0, 1)`],
    ['is written over', `fs.writeSync(file, more, 0, more.length, (at = (at + 65_536) % 20_000_000))`],
  ])('a file that %s while it is read is kept whole as it was, or left out and counted', async (_what, step) => {
    const house = await snapshotHouse({ beside: shared });
    write(house, { 'moving.bin': Buffer.alloc(20_000_000, 'x') });
    const writing = new Worker(
      `const { workerData } = require('node:worker_threads');
       const fs = require('node:fs');
       const file = fs.openSync(workerData.path, workerData.flags);
       const more = Buffer.alloc(1_000, 'more');
       let at = 0;
       const until = Date.now() + 30_000;
       const pause = new Int32Array(new SharedArrayBuffer(4));
       // So seldom that it hits the time of reading, and not that between finding a file and opening it.
       while (Date.now() < until) { ${step}; Atomics.wait(pause, 0, 0, 2); }`,
      { eval: true, workerData: { path: join(house.root, 'moving.bin'), flags: step.includes('at') ? 'r+' : 'a' } },
    );
    onTestFinished(async () => void (await writing.terminate()));
    const modified = statSync(join(house.root, 'moving.bin')).mtimeMs;
    await waitFor(() => statSync(join(house.root, 'moving.bin')).mtimeMs > modified);
    let unreadable = 0;
    for (let i = 0; i < 10; i += 1) {
      const { files, skipped } = await house.snapshot({ hold: house.blobs.hold() });
      expect(files.length + skipped.unreadable).toBe(1);
      for (const file of files) expect(sha256(house.blobBytes(file.sha256))).toBe(file.sha256);
      unreadable += skipped.unreadable;
    }
    // Most of the time goes into reading, and that is when the change has to be noticed.
    expect(unreadable).toBeGreaterThan(5);
  });
});

describe('orders that fail', () => {
  test('a deadline ends the order with words, leaves nothing behind, and the next one works', async () => {
    const house = await snapshotHouse();
    write(house, Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f${i}`, 'x'.repeat(i)])));
    await expect(house.snapshot({ deadlineMs: 1 })).rejects.toMatchObject({
      reason: 'unavailable',
      message: 'It exceeded its time limit.',
    });
    expect(house.incoming()).toEqual([]);
    expect((await house.snapshot()).files).toHaveLength(300);
  });

  test('a thread that hangs is ended with its orders in progress; another one does the waiting and later ones', async () => {
    let asked = 0;
    const clock: Clock = {
      ...systemClock,
      // The grace of the first order is over at once.
      after: (delayMs, action) => systemClock.after(delayMs > 60_000 && (asked += 1) === 1 ? 0 : delayMs, action),
    };
    const house = await snapshotHouse({ clock });
    write(house, { 'large.bin': Buffer.alloc(60_000_000, 'x') });
    const orders = Array.from({ length: 6 }, (_, i) =>
      house.snapshot({ sessionId: `s${i}`, deadlineMs: 90_000 }).then(
        ({ files }) => files.length,
        (error: Error) => error.message,
      ),
    );
    const ends = await Promise.all(orders);
    expect(ends.slice(4)).toEqual([1, 1]);
    expect(new Set(ends.slice(0, 4))).toEqual(new Set(['The work was lost with its thread.']));
    await waitFor(() => house.incoming().length === 0);
    expect((await house.snapshot()).files).toHaveLength(1);
  });

  test('an order can be cancelled while it waits, while it is at work and before', async () => {
    const house = await snapshotHouse();
    write(house, { 'large.bin': Buffer.alloc(60_000_000, 'x') });
    const controllers = Array.from({ length: 6 }, () => new AbortController());
    const orders = controllers.map(({ signal }, i) => house.snapshot({ sessionId: `s${i}`, signal }));
    const ends = Promise.allSettled(orders);
    await waitFor(() => house.incoming().length === 4);
    controllers[1]!.abort();
    controllers[5]!.abort();
    expect((await ends).map((end) => end.status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
    ]);
    const done = house.snapshot({ signal: AbortSignal.abort() });
    await expect(done).rejects.toMatchObject({ reason: 'unavailable', message: 'It was cancelled.' });
    expect(house.incoming()).toEqual([]);
  });

  test('once it is stopped, orders in progress and new ones are refused', async () => {
    const house = await snapshotHouse();
    write(house, { 'large.bin': Buffer.alloc(60_000_000, 'x') });
    const orders = Array.from({ length: 6 }, (_, i) => house.snapshot({ sessionId: `s${i}` }));
    const ends = Promise.allSettled(orders);
    await waitFor(() => house.incoming().length === 4);
    await house.snapshotThread.stop();
    expect((await ends).map(({ status }) => status)).toEqual(Array(6).fill('rejected'));
    await expect(house.snapshot()).rejects.toMatchObject({ reason: 'unavailable' });
  });

  test('a blob that vanishes under a known hash makes the order fail instead of naming bytes that are not there', async () => {
    const house = await snapshotHouse();
    write(house, { 'a.txt': 'one' });
    const { files } = await house.snapshot();
    rmSync(house.pathOf(files[0]!.sha256));
    const packed = house.snapshotThread.packTarGz({ files, hold: house.hold, deadlineMs: 5_000 });
    await expect(packed).rejects.toMatchObject({ message: '/a.txt no longer exists.' });
  });
});

describe.skipIf(!isRoot)('a full disk (needs root to mount a small one)', () => {
  test('is reported as such, leaves nothing half-written, and harms no existing blob', async () => {
    const directory = temporaryDirectory();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'none', directory]);
    onTestFinished(() => void execFileSync('umount', ['-l', directory]));
    const house = await snapshotHouse({ directory });
    const root = temporaryDirectory();
    const random = randomBytes(5_000_000);
    writeFileSync(join(root, 'first.bin'), random);
    const { files } = await house.snapshot({ root });
    expect(files).toHaveLength(1);
    const full = { reason: 'unavailable', message: 'There is no space left on the disk.' };
    writeFileSync(join(root, 'second.bin'), randomBytes(5_000_000));
    await expect(house.snapshot({ root })).rejects.toSatisfy(isNoSpace);
    await expect(house.snapshot({ root })).rejects.toMatchObject(full);
    const order = { files, hold: house.hold, deadlineMs: 30_000 };
    await expect(house.snapshotThread.packTarGz(order)).rejects.toMatchObject(full);
    await expect(house.snapshotThread.packZip(order)).rejects.toSatisfy(isNoSpace);
    expect(house.incoming()).toEqual([]);
    expect(house.blobBytes(sha256(random)).equals(random)).toBe(true);
    rmSync(join(root, 'second.bin'));
    expect((await house.snapshot({ root })).files).toEqual(files);
  });
});
