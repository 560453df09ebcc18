// What hostile workspaces can't do to a snapshot.
import { execFileSync } from 'node:child_process';
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
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test } from 'vitest';
import { removeBeneath } from '../../../src/disk/remove-beneath.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import {
  snapshotFixture,
  LIMITS,
  NOTHING,
  sha256,
  shareSnapshotFixture,
  write,
} from '../../support/files/snapshot-fixture.ts';

const isRoot = process.getuid?.() === 0;

const shared = shareSnapshotFixture();

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
  test('pipes, sockets, links of all kinds and odd names are passed over and counted', {
    tags: ['E5-kinds'],
  }, async () => {
    const fixture = await snapshotFixture({ beside: shared() });
    const at = (name: string) => join(fixture.root, name);
    write(fixture, { 'good.txt': 'good', 'folder/in.txt': 'in' });
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
    writeFileSync(Buffer.concat([Buffer.from(`${fixture.root}/bad-`), Buffer.from([0xff, 0xfe])]), 'x');
    mkdirSync(Buffer.concat([Buffer.from(`${fixture.root}/bad-folder-`), Buffer.from([0x80])]));
    const { files, skipped } = await fixture.snapshot();
    expect(files.map(({ path }) => path)).toEqual(['/folder/in.txt', '/good.txt', '/hard.txt']);
    expect(skipped).toEqual({ ...NOTHING, links: 5, special: 2, notUtf8: 2 });
  });

  test.runIf(isRoot)(
    "devices are not touched, and a hard link to another user's file is not followed out",
    { tags: ['E5-kinds'] },
    async () => {
      const fixture = await snapshotFixture({ beside: shared() });
      const secret = join(temporaryDirectory(), 'secret');
      writeFileSync(secret, 'of the daemon');
      chownSync(fixture.root, 61_234, 61_234);
      linkSync(secret, join(fixture.root, 'hard'));
      execFileSync('mknod', [join(fixture.root, 'device'), 'c', '1', '5']);
      const { files, skipped } = await fixture.snapshot();
      expect(files).toEqual([]);
      expect(skipped).toEqual({ ...NOTHING, links: 1, special: 1 });
      expect(fixture.hasBlob(sha256('of the daemon'))).toBe(false);
    },
  );

  test('a file of a terabyte that is all hole is too large, unread; a smaller one is stored with its holes', async () => {
    const fixture = await snapshotFixture({ beside: shared() });
    writeFileSync(join(fixture.root, 'terabyte'), '');
    truncateSync(join(fixture.root, 'terabyte'), 2 ** 40);
    const sparse = openSync(join(fixture.root, 'sparse'), 'w');
    writeSync(sparse, 'begin', 0);
    writeSync(sparse, 'middle', 20_000_000);
    closeSync(sparse);
    truncateSync(join(fixture.root, 'sparse'), 40_000_000);
    const { files, skipped } = await fixture.snapshot();
    expect(skipped).toEqual({ ...NOTHING, tooLarge: 1 });
    const kept = fixture.pathOf(files[0]!.sha256);
    expect(readFileSync(kept).equals(readFileSync(join(fixture.root, 'sparse')))).toBe(true);
    expect(lstatSync(kept).blocks * 512).toBeLessThan(1_000_000);
  });

  test('files that together exceed the limit of a workspace are skipped unread, and smaller ones still stored', async () => {
    const fixture = await snapshotFixture({ beside: shared() });
    write(fixture, { 'a.txt': 'x'.repeat(600), 'b.txt': 'y'.repeat(600), 'c.txt': 'z'.repeat(300) });
    const { files, skipped } = await fixture.snapshot({ limits: { ...LIMITS, maxTotalBytes: 1_000 } });
    expect(files.map(({ path }) => path)).toEqual(['/a.txt', '/c.txt']);
    expect(skipped).toEqual({ ...NOTHING, tooLarge: 1 });
  });

  test('folders below the depth limit, paths beyond what can be named, and files beyond their number are counted', async () => {
    const fixture = await snapshotFixture({ beside: shared() });
    const deep = Array.from({ length: 200 }, () => 'd').join('/');
    write(fixture, { [`${deep}/deep.txt`]: 'deep', 'shallow.txt': 'x' });
    const all = await fixture.snapshot({ limits: { ...LIMITS, maxDepth: 200 } });
    expect(all.files.map(({ path }) => path)).toEqual([`/${deep}/deep.txt`, '/shallow.txt']);
    expect(await fixture.snapshot({ limits: { ...LIMITS, maxDepth: 199 } })).toMatchObject({
      files: [{ path: '/shallow.txt' }],
      skipped: { ...NOTHING, tooDeep: 1 },
    });
    fillDeeper(fixture.root, 'n'.repeat(200), 30);
    const long = await fixture.snapshot({ limits: { ...LIMITS, maxDepth: 200 } });
    expect(long.files.filter(({ path }) => path.startsWith('/n'))).toHaveLength(20);
    expect(long.skipped).toEqual({ ...NOTHING, tooDeep: 1 });
    const few = await fixture.snapshot({ limits: { ...LIMITS, maxFiles: 3, maxDepth: 200 } });
    expect(few.files).toHaveLength(3);
    expect(few.skipped.tooMany).toBe(19);
  });

  test('a folder with a long path may not have so many files that their paths fill the memory', async () => {
    const fixture = await snapshotFixture({ beside: shared() });
    const folder = `${'d'.repeat(200)}/`.repeat(18);
    const names = Array.from({ length: 320 }, (_, at) => `${folder}${String(at).padStart(200, '0')}`);
    write(fixture, Object.fromEntries(names.map((name) => [name, ''])));
    const { files, skipped } = await fixture.snapshot({ limits: { ...LIMITS, maxFiles: names.length } });
    const fitting = Math.floor((names.length * 256 + 1_048_576) / `/${names[0]}`.length);
    expect(fitting).toBeLessThan(names.length);
    expect(files).toHaveLength(fitting);
    expect(skipped).toEqual({ ...NOTHING, tooMany: names.length - fitting });
  });

  test.skipIf(isRoot)('what may not be read is counted', async () => {
    const fixture = await snapshotFixture({ beside: shared() });
    write(fixture, { 'closed.txt': 'x', 'folder/in.txt': 'x' });
    chmodSync(join(fixture.root, 'closed.txt'), 0);
    chmodSync(join(fixture.root, 'folder'), 0);
    onTestFinished(() => chmodSync(join(fixture.root, 'folder'), 0o700));
    expect(await fixture.snapshot()).toEqual({ files: [], skipped: { ...NOTHING, unreadable: 2 } });
  });

  test('some thousand files are all there, and the main thread turns meanwhile', async () => {
    const fixture = await snapshotFixture({ beside: shared() });
    const all: Record<string, string> = {};
    for (let i = 0; i < 2_500; i += 1) all[`d${i % 37}/e${i % 11}/f${i}`] = String(i % 100);
    write(fixture, all);
    // CPU time of its own work between two turns: other load on this machine does not count.
    let longest = 0;
    let last = process.threadCpuUsage();
    const timer = setInterval(() => {
      const { user, system } = process.threadCpuUsage(last);
      longest = Math.max(longest, user + system);
      last = process.threadCpuUsage();
    }, 1);
    const { files } = await fixture.snapshot();
    clearInterval(timer);
    expect(files).toHaveLength(2_500);
    expect(longest).toBeGreaterThan(0);
    expect(longest / 1_000).toBeLessThan(100);
  });

  test('folders and files swapped for links while snapshots are taken never let anything from outside in', async () => {
    const outside = temporaryDirectory({ 'in/file.txt': 'OUTSIDE', 'file.txt': 'OUTSIDE' });
    const fixture = await snapshotFixture({ beside: shared() });
    write(fixture, { 'a/in/file.txt': 'inside', 'b/file.txt': 'inside' });
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
      { eval: true, workerData: { root: fixture.root, outside, stop: new Int32Array(new SharedArrayBuffer(4)) } },
    );
    onTestFinished(async () => void (await swapping.terminate()));
    const seen = { files: 0, links: 0, missing: 0 };
    // Both sides of the race must be seen, or it would prove nothing.
    for (let i = 0; i < 100 || ((seen.files === 0 || seen.missing === 0) && i < 1_000); i += 1) {
      const { files, skipped } = await fixture.snapshot();
      expect(files.map((file) => file.sha256)).not.toContain(sha256('OUTSIDE'));
      seen.files += files.length;
      seen.links += skipped.links;
      seen.missing += Number(files.length < 2);
    }
    expect(seen.files).toBeGreaterThan(0);
    expect(seen.missing).toBeGreaterThan(0);
    expect(fixture.hasBlob(sha256('OUTSIDE'))).toBe(false);
  });

  test.each([
    ['grows', `fs.writeSync(file, more, 0, 1)`],
    ['is written over', `fs.writeSync(file, more, 0, more.length, (at = (at + 65_536) % 20_000_000))`],
  ])('a file that %s while it is read is kept whole as it was, or left out and counted', async (_what, step) => {
    const fixture = await snapshotFixture({ beside: shared() });
    write(fixture, { 'moving.bin': Buffer.alloc(20_000_000, 'x') });
    const steps = new Int32Array(new SharedArrayBuffer(4));
    const writing = new Worker(
      `const { workerData } = require('node:worker_threads');
       const fs = require('node:fs');
       const file = fs.openSync(workerData.path, workerData.flags);
       const more = Buffer.alloc(1_000, 'more');
       let at = 0;
       const pause = new Int32Array(new SharedArrayBuffer(4));
       // So seldom that it hits the time of reading, and not that between finding a file and opening it.
       for (;;) { ${step}; Atomics.add(workerData.steps, 0, 1); Atomics.wait(pause, 0, 0, 2); }`,
      {
        eval: true,
        workerData: { path: join(fixture.root, 'moving.bin'), flags: step.includes('at') ? 'r+' : 'a', steps },
      },
    );
    onTestFinished(async () => void (await writing.terminate()));
    const modified = statSync(join(fixture.root, 'moving.bin')).mtimeMs;
    await waitFor(() => statSync(join(fixture.root, 'moving.bin')).mtimeMs > modified);
    let [tries, unreadable] = [0, 0];
    // Those count in which it was written all the time: on a busy machine, the thread that writes may get no turn in others.
    while (tries < 10) {
      const before = Atomics.load(steps, 0);
      const { files, skipped } = await fixture.snapshot({ hold: fixture.blobs.hold() });
      expect(files.length + skipped.unreadable).toBe(1);
      for (const file of files) expect(sha256(await fixture.blobBytes(file.sha256))).toBe(file.sha256);
      if (Atomics.load(steps, 0) - before < 3) continue;
      tries += 1;
      unreadable += skipped.unreadable;
    }
    // Most of the time goes into reading, and that is when the change has to be noticed.
    expect(unreadable).toBeGreaterThan(5);
  });
});
