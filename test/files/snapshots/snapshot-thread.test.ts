// Snapshots of workspaces: what they hold, and that nothing half-done stays.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { TEMPORARY_PREFIX } from '../../../src/disk/replace-beneath.ts';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { isNoSpace } from '../../../src/files/blobs/no-space.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import {
  large,
  snapshotFixture,
  NOTHING,
  sha256,
  shareSnapshotFixture,
  write,
  LIMITS,
  type SnapshotFixture,
} from '../../support/files/snapshot-fixture.ts';

const isRoot = process.getuid?.() === 0;

const shared = shareSnapshotFixture();

describe('what a snapshot holds', () => {
  test('regular files in order of their paths, with their bytes as blobs, each content once', async () => {
    const fixture = await snapshotFixture({ beside: shared() });
    write(fixture, {
      'b.txt': 'same',
      'a/z.txt': 'same',
      'a/b/c.txt': 'deep',
      'a-b.txt': 'x',
      'a.txt': '',
      'é\n.txt': 'odd',
    });
    const { files, skipped } = await fixture.snapshot();
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
    for (const file of files) expect(sha256(await fixture.blobs.read(file.sha256))).toBe(file.sha256);
    expect(fixture.incoming()).toEqual([]);
    expect(new Set(fixture.hold.release())).toEqual(new Set(files.map((file) => file.sha256)));
  });

  test('without a hold nothing is stored', async () => {
    const fixture = await snapshotFixture({ beside: shared() });
    write(fixture, { 'a.txt': 'only looked at' });
    const { files } = await fixture.snapshot({ hold: null });
    expect(files).toEqual([{ path: '/a.txt', size: 14, sha256: sha256('only looked at') }]);
    expect(fixture.hasBlob(sha256('only looked at'))).toBe(false);
  });

  test('a workspace that is not there is empty', async () => {
    const fixture = await snapshotFixture({ beside: shared() });
    expect(await fixture.snapshot({ root: join(fixture.root, 'none') })).toEqual({
      files: [],
      skipped: NOTHING,
      isComplete: true,
      token: expect.any(String),
      gone: [],
    });
  });

  test('what the daemon itself puts there is left out, and what only looks like it is not', async () => {
    const fixture = await snapshotFixture({ beside: shared() });
    const half = `${TEMPORARY_PREFIX}0198c0de-0000-7000-8000-000000000001`;
    write(fixture, {
      [half]: 'half',
      [`in/${half}`]: 'half',
      '.errand/out.txt': 'by-product',
      'in/.errand/kept': 'kept',
    });
    write(fixture, { [`${TEMPORARY_PREFIX}mine`]: 'mine' });
    const { files, skipped } = await fixture.snapshot();
    expect(files.map(({ path }) => path)).toEqual([`/${TEMPORARY_PREFIX}mine`, '/in/.errand/kept']);
    expect(skipped).toEqual(NOTHING);
  });

  test('bytes whose blob is removed before they are held are stored again', async () => {
    const fixture = await snapshotFixture({ beside: shared() });
    write(fixture, { 'a.txt': large('soon gone'), 'b.txt': 'stays' });
    let removals = 0;
    const hold = {
      ...fixture.hold,
      add: (key: string) => {
        if (key === sha256(large('soon gone')) && (removals += 1) === 1) rmSync(fixture.pathOf(key));
        fixture.hold.add(key);
      },
    };
    const { files } = await fixture.snapshot({ hold });
    expect(files.map(({ path }) => path)).toEqual(['/a.txt', '/b.txt']);
    expect(fixture.hasBlob(sha256(large('soon gone')))).toBe(true);
    expect(removals).toBe(2);
  });

  test('a large file of many chunks arrives complete', async () => {
    const fixture = await snapshotFixture({ beside: shared() });
    const bytes = Buffer.alloc(5_000_003, 'tides and ');
    write(fixture, { 'large.bin': bytes });
    const { files } = await fixture.snapshot();
    expect(files).toEqual([{ path: '/large.bin', size: bytes.length, sha256: sha256(bytes) }]);
    expect((await fixture.blobBytes(files[0]!.sha256)).equals(bytes)).toBe(true);
  });
});

test.each(['a snapshot', 'a small archive'])(
  '%s waits for none of the large archives that are packed',
  async (kind) => {
    const fixture = await snapshotFixture({ beside: shared() });
    write(fixture, { 'a.txt': 'small', 'large.bin': randomBytes(20_000_000) });
    const { files } = await fixture.snapshot();
    const [hold, leaving] = [fixture.blobs.hold(), new AbortController()];
    const request = { files, hold, deadlineMs: 60_000, signal: leaving.signal };
    const packs = Array.from({ length: 6 }, () => fixture.snapshotThread.packZip(request));
    const other =
      kind === 'a snapshot'
        ? fixture.snapshot({ sessionId: 'another' })
        : fixture.snapshotThread.packTarGz({ files: files.slice(0, 1), hold, deadlineMs: 60_000 });
    const first = await Promise.race([other.then(() => 'other'), ...packs.map(async (one) => (await one).key)]);
    expect(first).toBe('other');
    leaving.abort();
    await Promise.allSettled(packs);
  },
);

/** Takes a file of a terabyte, for as long as that takes. */
const ENDLESS = { limits: { ...LIMITS, maxFileBytes: 2 ** 41, maxTotalBytes: 2 ** 41 }, deadlineMs: 200_000 };

/** A file whose end no snapshot comes to, and that takes no space. Returns what makes it a short one. */
function writeEndless(fixture: SnapshotFixture): () => void {
  write(fixture, { 'endless.bin': '' });
  const path = join(fixture.root, 'endless.bin');
  truncateSync(path, 2 ** 40);
  return () => truncateSync(path, 1_000);
}

describe('requests that fail', () => {
  test('a deadline ends the request with words, leaves nothing behind, and the next one works', async () => {
    const fixture = await snapshotFixture();
    write(fixture, Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f${i}`, 'x'.repeat(i)])));
    await expect(fixture.snapshot({ deadlineMs: 1 })).rejects.toMatchObject({
      reason: 'unavailable',
      message: 'It exceeded its time limit.',
    });
    expect(fixture.incoming()).toEqual([]);
    expect((await fixture.snapshot()).files).toHaveLength(300);
  });

  test('a thread that hangs is ended with the request that hangs; another one does those that were beside it, waiting and later ones', async () => {
    let asked = 0;
    const clock: Clock = {
      ...systemClock,
      // The grace of the first request is over at once.
      after: (delayMs, action) => systemClock.after(delayMs > 60_000 && (asked += 1) === 1 ? 0 : delayMs, action),
    };
    const fixture = await snapshotFixture({ clock });
    write(fixture, { 'large.bin': Buffer.alloc(60_000_000, 'x') });
    const requests = Array.from({ length: 6 }, (_, i) =>
      fixture.snapshot({ sessionId: `s${i}`, deadlineMs: 90_000 }).then(
        ({ files }) => files.length,
        (error: Error) => error.message,
      ),
    );
    const ends = await Promise.all(requests);
    expect(ends).toEqual(['The work was lost with its thread.', 1, 1, 1, 1, 1]);
    await waitFor(() => fixture.incoming().length === 0);
    expect((await fixture.snapshot()).files).toHaveLength(1);
  });

  test('a request can be cancelled while it waits, while it is at work and before', async () => {
    const fixture = await snapshotFixture();
    const shorten = writeEndless(fixture);
    const controllers = Array.from({ length: 6 }, () => new AbortController());
    const requests = controllers.map(({ signal }, i) => fixture.snapshot({ ...ENDLESS, sessionId: `s${i}`, signal }));
    const ends = Promise.allSettled(requests);
    await waitFor(() => fixture.incoming().length === 4);
    controllers[1]!.abort();
    controllers[5]!.abort();
    await Promise.allSettled([requests[1], requests[5]]);
    shorten();
    expect((await ends).map((end) => end.status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
    ]);
    const done = fixture.snapshot({ signal: AbortSignal.abort() });
    await expect(done).rejects.toMatchObject({ reason: 'unavailable', message: 'It was cancelled.' });
    expect(fixture.incoming()).toEqual([]);
  });

  test('once it is stopped, requests in progress and new ones are refused', async () => {
    const fixture = await snapshotFixture();
    writeEndless(fixture);
    const requests = Array.from({ length: 6 }, (_, i) => fixture.snapshot({ ...ENDLESS, sessionId: `s${i}` }));
    const ends = Promise.allSettled(requests);
    await waitFor(() => fixture.incoming().length === 4);
    await fixture.snapshotThread.stop();
    expect((await ends).map(({ status }) => status)).toEqual(Array(6).fill('rejected'));
    await expect(fixture.snapshot()).rejects.toMatchObject({ reason: 'unavailable' });
  });

  test('a blob that vanishes under a known hash makes the request fail instead of naming bytes that are not there', async () => {
    const fixture = await snapshotFixture();
    write(fixture, { 'a.txt': large('one') });
    const { files } = await fixture.snapshot();
    rmSync(fixture.pathOf(files[0]!.sha256));
    const packed = fixture.snapshotThread.packTarGz({ files, hold: fixture.hold, deadlineMs: 5_000 });
    await expect(packed).rejects.toMatchObject({ message: '/a.txt no longer exists.' });
  });
});

describe.skipIf(!isRoot)('a full disk (needs root to mount a small one)', () => {
  test('is reported as such, leaves nothing half-written, and harms no existing blob', async () => {
    const directory = temporaryDirectory();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'none', directory]);
    onTestFinished(() => void execFileSync('umount', ['-l', directory]));
    const fixture = await snapshotFixture({ directory });
    const root = temporaryDirectory();
    const random = randomBytes(5_000_000);
    writeFileSync(join(root, 'first.bin'), random);
    const { files } = await fixture.snapshot({ root });
    expect(files).toHaveLength(1);
    const full = { reason: 'unavailable', message: 'There is no space left on the disk.' };
    writeFileSync(join(root, 'second.bin'), randomBytes(5_000_000));
    await expect(fixture.snapshot({ root })).rejects.toSatisfy(isNoSpace);
    await expect(fixture.snapshot({ root })).rejects.toMatchObject(full);
    const request = { files, hold: fixture.hold, deadlineMs: 30_000 };
    await expect(fixture.snapshotThread.packTarGz(request)).rejects.toMatchObject(full);
    await expect(fixture.snapshotThread.packZip(request)).rejects.toSatisfy(isNoSpace);
    expect(fixture.incoming()).toEqual([]);
    expect((await fixture.blobBytes(sha256(random))).equals(random)).toBe(true);
    rmSync(join(root, 'second.bin'));
    expect((await fixture.snapshot({ root })).files).toEqual(files);
  });
});
