// Archives: exactly the listed files, the same bytes each time, and an end for every stream.
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { list, type ReadEntry } from 'tar';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SnapshotFile } from '../../src/files/snapshots/snapshot.ts';
import { snapshotFixture, type SnapshotFixture, sha256 } from '../support/files/snapshot-fixture.ts';
import { waitFor } from '../support/time/wait-for.ts';

const ORDER = { deadlineMs: 30_000 };
const has = (program: string) => spawnSync(program, ['--version']).error === undefined;

/** An archive in a place of its own with a name that programs know. */
async function archiveOf(fixture: SnapshotFixture, key: string, name: string): Promise<string> {
  writeFileSync(join(fixture.directory, name), await fixture.blobs.read(key));
  return join(fixture.directory, name);
}

async function entriesOf(path: string) {
  const entries: { path: string; type: string; size: number; sha: string; mode: number; uid: number; mtime: number }[] =
    [];
  await list({
    file: path,
    strict: true,
    onReadEntry: (entry: ReadEntry) => {
      const chunks: Buffer[] = [];
      entry.on('data', (chunk) => chunks.push(chunk));
      entry.on('end', () => {
        const { type, size, mode = -1, uid = -1, mtime } = entry;
        entries.push({
          path: entry.path,
          type,
          size,
          sha: sha256(Buffer.concat(chunks)),
          mode,
          uid,
          mtime: mtime!.getTime(),
        });
      });
    },
  });
  return entries;
}

const LONG = `${'long/'.repeat(60)}${'n'.repeat(200)}.txt`;
const ODD = [
  '/c:drive.txt',
  '/note: this.txt',
  '/back\\slash.txt',
  '/...',
  '/-rf',
  '/ä ö\u{1F30A}.txt',
  '/new\nline.txt',
  `/${LONG}`,
];

/** Of every kind and of sizes around the limits. */
const contents = (): Record<string, Buffer> => ({
  '/empty.txt': Buffer.alloc(0),
  '/a/b.txt': Buffer.from('b'),
  '/a/block.bin': Buffer.alloc(512, 1),
  '/a/over.bin': Buffer.alloc(513, 2),
  '/large.bin': Buffer.concat([randomBytes(100_000), Buffer.alloc(900_000, 3)]),
  '/photo.PNG': randomBytes(300_000),
  ...Object.fromEntries(ODD.map((name) => [name, Buffer.from(`content of ${name}`)])),
});

const RENAMED: Readonly<Record<string, string>> = {
  '/c:drive.txt': '/c%3Adrive.txt',
  '/note: this.txt': '/note%3A this.txt',
  '/back\\slash.txt': '/back%5Cslash.txt',
};

/** Where a file is found when an archive is unpacked, of whatever kind it is. */
const placeOf = (path: string): string => RENAMED[path] ?? path;

/** The snapshot thread that most tests share. */
let shared: SnapshotFixture;
const ends: (() => void | Promise<void>)[] = [];
beforeAll(async () => {
  shared = await snapshotFixture({ of: { onTestFinished: (end) => void ends.unshift(end) } });
});
afterAll(async () => {
  for (const end of ends) await end();
});

describe('tar.gz', () => {
  test('has exactly the listed files under their names, and no trace of times and owners', {
    tags: ['E5-archives'],
  }, async () => {
    const fixture = await snapshotFixture({ beside: shared });
    const all = contents();
    const files = await fixture.files(all);
    const { key, size } = await fixture.snapshotThread.packTarGz({ files, hold: fixture.hold, ...ORDER });
    const path = await archiveOf(fixture, key, 'a.tar.gz');
    expect(readFileSync(path)).toHaveLength(size);
    expect(sha256(readFileSync(path))).toBe(key);
    // The reader of the library does not know newlines in long names, so they are left to the program below.
    expect(await entriesOf(path)).toEqual(
      files.map((file) => ({
        path: placeOf(file.path).slice(1),
        type: 'File',
        size: file.size,
        sha: file.sha256,
        mode: 0o644,
        uid: 0,
        mtime: 0,
      })),
    );
    expect(fixture.incoming()).toEqual([]);
    expect(fixture.hold.release()).toContain(key);
  });

  test.skipIf(!has('tar'))('is read by the system’s own program', async () => {
    const fixture = await snapshotFixture({ beside: shared });
    const all = contents();
    const { key } = await fixture.snapshotThread.packTarGz({
      files: await fixture.files(all),
      hold: fixture.hold,
      ...ORDER,
    });
    const out = join(fixture.directory, 'out');
    mkdirSync(out);
    execFileSync('tar', ['xzf', await archiveOf(fixture, key, 'a.tar.gz'), '-C', out]);
    for (const [path, bytes] of Object.entries(all))
      expect([path, readFileSync(out + placeOf(path)).equals(bytes)]).toEqual([path, true]);
    const found = readdirSync(out, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(found).toHaveLength(Object.keys(all).length);
  });
});

describe('zip', () => {
  test.skipIf(!has('unzip'))('is read by the system’s own program', async () => {
    const fixture = await snapshotFixture({ beside: shared });
    const all = contents();
    const { key, size } = await fixture.snapshotThread.packZip({
      files: await fixture.files(all),
      hold: fixture.hold,
      ...ORDER,
    });
    const path = await archiveOf(fixture, key, 'a.zip');
    expect(readFileSync(path)).toHaveLength(size);
    const out = join(fixture.directory, 'out');
    mkdirSync(out);
    execFileSync('unzip', ['-q', path, '-d', out], { env: { ...process.env, LC_ALL: 'C.UTF-8' } });
    for (const [name, bytes] of Object.entries(all)) {
      // This program leaves control characters out of names.
      const place = placeOf(name).replace('\n', '');
      expect([name, readFileSync(out + place).equals(bytes)]).toEqual([name, true]);
    }
    const found = readdirSync(out, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(found).toHaveLength(Object.keys(all).length);
    expect(fixture.incoming()).toEqual([]);
  });

  test('files whose names become the same keep a name each', async () => {
    const fixture = await snapshotFixture({ beside: shared });
    const files = await fixture.files({ '/a%5Cb': 'one', '/a\\b': 'two', '/a%5Cb~': 'three' });
    const { key } = await fixture.snapshotThread.packZip({ files, hold: fixture.hold, ...ORDER });
    const names = (await fixture.blobs.read(key)).toString('latin1').match(/a%5Cb~*/g);
    expect(new Set(names)).toEqual(new Set(['a%5Cb', 'a%5Cb~', 'a%5Cb~~']));
  });
});

test('the same files give the same bytes, at another time and in another place', async () => {
  // Archives know times to two seconds.
  const time = () => Math.floor(Date.now() / 2_000);
  const keys = await Promise.all(
    [0, 1].map(async () => {
      const fixture = await snapshotFixture();
      const files = await fixture.files({ '/a.txt': 'a'.repeat(1_000_000), '/b.txt': 'b', '/c.png': 'c' });
      const packBoth = async () => [
        await fixture.snapshotThread.packTarGz({ files, hold: fixture.hold, ...ORDER }),
        await fixture.snapshotThread.packZip({ files, hold: fixture.hold, ...ORDER }),
      ];
      const first = await packBoth();
      const packedAt = time();
      await waitFor(() => time() !== packedAt);
      expect(await packBoth()).toEqual(first);
      return first.map(({ key }) => key);
    }),
  );
  expect(keys[0]).toEqual(keys[1]);
});

describe.each(['packTarGz', 'packZip'] as const)('%s', (pack) => {
  test('no files give an ordinary archive of none', async () => {
    const fixture = await snapshotFixture({ beside: shared });
    const { key } = await fixture.snapshotThread[pack]({ files: [], hold: fixture.hold, ...ORDER });
    if (pack === 'packTarGz') expect(gunzipSync(await fixture.blobs.read(key)).equals(Buffer.alloc(1_024))).toBe(true);
    else expect((await fixture.blobs.read(key)).toString('latin1')).toBe(`PK\u0005\u0006${'\0'.repeat(18)}`);
  });

  test('some thousand files, more than one message carries, are all there', async () => {
    const fixture = await snapshotFixture({ beside: shared });
    const [one] = await fixture.files({ '/one': 'same' });
    const files = Array.from({ length: 2_100 }, (_, i): SnapshotFile => ({ ...one!, path: `/d${i % 10}/f${i}` }));
    const { key } = await fixture.snapshotThread[pack]({ files, hold: fixture.hold, ...ORDER });
    if (pack === 'packTarGz') expect(await entriesOf(await archiveOf(fixture, key, 'a.tar.gz'))).toHaveLength(2_100);
    else expect((await fixture.blobs.read(key)).subarray(-12, -10).readUInt16LE()).toBe(2_100);
  });

  test.each([
    ['is gone', (path: string) => rmSync(path), 'no longer exists'],
    ['is shorter than it was', (path: string) => truncateSync(path, 400_000), 'is no longer complete'],
  ])('a blob that %s ends the order at once, and leaves neither bytes nor descriptors', async (_what, harm, words) => {
    const fixture = await snapshotFixture({ beside: shared });
    const files = await fixture.files({ '/a.txt': 'a', '/b.bin': randomBytes(3_000_000), '/c.txt': 'c' });
    await fixture.snapshotThread[pack]({ files: [files[0]!], hold: fixture.hold, ...ORDER });
    harm(fixture.pathOf(files[1]!.sha256));
    const packed = fixture.snapshotThread[pack]({ files, hold: fixture.hold, ...ORDER });
    await expect(packed).rejects.toMatchObject({ reason: 'unavailable', message: `/b.bin ${words}.` });
    expect(fixture.incoming()).toEqual([]);
    await waitFor(() => openFiles(fixture.blobsDir) === 0);
    await fixture.snapshotThread[pack]({ files: [files[2]!], hold: fixture.hold, ...ORDER });
  });

  test('a deadline and a cancellation in the middle leave neither bytes nor descriptors', {
    tags: ['E5-archives'],
  }, async () => {
    const fixture = await snapshotFixture({ beside: shared });
    const files = await fixture.files({ '/a.bin': randomBytes(60_000_000) });
    const late = fixture.snapshotThread[pack]({ files, hold: fixture.hold, deadlineMs: 150 });
    await expect(late).rejects.toMatchObject({ reason: 'unavailable', message: 'It exceeded its time limit.' });
    const controller = new AbortController();
    // Minutes of work, so that it is at it until then; of bytes that shrink.
    const [piece] = await fixture.files({ '/piece.txt': Buffer.alloc(20_000_000, 'tides ') });
    const many = Array.from({ length: 2_000 }, (_, i) => ({ ...piece!, path: `/p${i}.txt` }));
    const order = { files: many, hold: fixture.hold, deadlineMs: 200_000, signal: controller.signal };
    const packed = fixture.snapshotThread[pack](order);
    const ended = expect(packed).rejects.toMatchObject({ message: 'It was cancelled.' });
    await waitFor(() => fixture.incoming().length === 1);
    controller.abort();
    await ended;
    expect(fixture.incoming()).toEqual([]);
    await waitFor(() => openFiles(fixture.blobsDir) === 0);
    await fixture.snapshotThread[pack]({ files: await fixture.files({ '/b.txt': 'b' }), hold: fixture.hold, ...ORDER });
  });

  test('memory stays flat while much more is packed than it could hold', async () => {
    const fixture = await snapshotFixture({ beside: shared });
    const [piece] = await fixture.files({ '/piece.bin': Buffer.alloc(20_000_000, 'tides ') });
    const files = Array.from({ length: 8 }, (_, i) => ({ ...piece!, path: `/p${i}.bin` }));
    await fixture.snapshotThread[pack]({ files: files.slice(0, 2), hold: fixture.hold, ...ORDER });
    const before = process.memoryUsage().rss;
    let most = 0;
    const timer = setInterval(() => void (most = Math.max(most, process.memoryUsage().rss)), 5);
    await fixture.snapshotThread[pack]({ files, hold: fixture.hold, ...ORDER });
    clearInterval(timer);
    expect(most - before).toBeLessThan(100_000_000);
  });
});

/** Descriptors of this process, threads and all, that lead to files below a directory. */
function openFiles(directory: string): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(directory);
    } catch {
      return false;
    }
  }).length;
}
