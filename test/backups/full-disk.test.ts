// Disks that are full, or fill up at any step of a backup, a restore, a verification or a removal. Real ones, of a few megabytes.
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listIds } from '../../src/backups/repository/repository.ts';
import { prune } from '../../src/backups/prune.ts';
import { restore } from '../../src/backups/restore.ts';
import { openSource } from '../../src/backups/source.ts';
import { verify } from '../../src/backups/verify.ts';
import { requireRestored } from '../../src/files/restore-marker.ts';
import { backupsOf } from '../support/backups/backups-of.ts';
import { filesIn, installation, take } from '../support/backups/installation.ts';
import { verdictOf, requestOf } from '../support/backups/requests.ts';
import { canMount, type SmallDisk, smallDisk } from '../support/files/small-disk.ts';

if (!canMount) process.stderr.write('SKIPPED: full disks of backups. Mounting needs root and CAP_SYS_ADMIN.\n');

const DISK_MB = 16;
const STEP_BYTES = 160 * 1_024;

/**
 * Does the work again and again, each time with a little more space and without what the last time has made, until it succeeds.
 * Every failure has to say that there was no space. Returns how many there were.
 */
async function growing(disk: SmallDisk, work: () => Promise<unknown>, failed: () => void): Promise<number> {
  for (let failures = 0; ; failures += 1) {
    rmSync(join(disk.path, 'made'), { recursive: true, force: true });
    disk.leave(failures * STEP_BYTES);
    try {
      await work();
      return failures;
    } catch (error) {
      expect(String(error)).toMatch(/There is no space left/);
      failed();
    }
  }
}

describe.skipIf(!canMount)('a disk of its own', () => {
  test('a backup that meets a full disk at any step leaves none, and the next one is whole', async () => {
    const disk = smallDisk(DISK_MB);
    const repository = join(disk.path, 'made');
    const { backups, held } = await backupsOf();
    let id = '';
    const make = () => {
      id = backups.newId();
      return backups.take({ id, to: repository, workspaces: true, passphrase: null });
    };
    const failures = await growing(disk, make, () => {
      expect([listIds(repository), existsSync(join(repository, 'incoming')), held.now]).toEqual([[], false, 0]);
    });
    expect(failures).toBeGreaterThan(5);
    expect(listIds(repository)).toEqual([id]);
    expect((await verdictOf(repository, id, null)).faults).toEqual([]);
  });

  test('an archive that meets a full disk leaves its installation as it was', async () => {
    const disk = smallDisk(DISK_MB);
    const { backups, held, staging, fixture } = await backupsOf({}, disk.path);
    const make = () =>
      backups.take({ id: backups.newId(), to: async () => undefined, workspaces: true, passphrase: null });
    const failures = await growing(disk, make, () => {
      expect([existsSync(staging), held.now]).toEqual([false, 0]);
    });
    expect(failures).toBeGreaterThan(2);
    disk.leave(4 * 1_048_576);
    expect(await fixture.makeKey()).toMatchObject({ id: expect.any(String) as string });
    expect(fixture.rows('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });

  test('a restore that meets a full disk at any step leaves nothing that a daemon starts on', async () => {
    const disk = smallDisk(DISK_MB);
    const fixture = await installation();
    await fixture.addSession('some text');
    fixture.put(join(fixture.configDir, 'errand.yaml'), 'listen: 127.0.0.1:1\n');
    await take(fixture.task());
    const before = filesIn(fixture.repository);
    const target = join(disk.path, 'made');
    const request = requestOf(fixture.repository, target, { masterKey: Buffer.alloc(32), paused: true });
    // As if others took the space meanwhile: it is checked before.
    const none = { files: 0, bytes: 0 };
    const { manifest } = request;
    const small = { ...manifest, database: none, blobs: none, workspaces: none, configuration: none };
    const make = () => restore({ ...request, manifest: small });
    const failures = await growing(disk, make, () => {
      if (existsSync(join(target, 'data', 'errand.db')))
        expect(() => requireRestored(join(target, 'data'))).toThrow('did not complete');
    });
    expect(failures).toBeGreaterThan(5);
    requireRestored(join(target, 'data'));
    expect(filesIn(fixture.repository)).toEqual(before);
  });

  test('a verification that meets a full disk says so, rather than that the backup is damaged', async () => {
    const disk = smallDisk(DISK_MB);
    const fixture = await installation();
    await fixture.addSession('some text');
    const { id } = await take(fixture.task());
    const scratch = join(disk.path, 'made');
    const source = openSource(fixture.repository);
    const rest = { source, id, sealKey: null, onProgress: () => undefined, signal: new AbortController().signal };
    let faults: readonly string[] = ['none yet'];
    const make = async () => {
      mkdirSync(scratch);
      ({ faults } = await verify({ ...rest, scratch }));
    };
    expect(await growing(disk, make, () => undefined)).toBeGreaterThan(2);
    expect(faults).toEqual([]);
  });

  test('old backups, and what a failed one has left, are removed from a full disk', async () => {
    const disk = smallDisk(DISK_MB);
    const fixture = await installation();
    const repository = join(disk.path, 'repository');
    for (const text of ['one', 'two']) {
      await fixture.addSession(text);
      await take(fixture.task({ repository, staging: join(repository, 'incoming') }));
    }
    fixture.put(join(repository, 'objects', 'ab', 'ab'.repeat(32)), 'orphan');
    disk.leave(0);
    const later = fixture.fixture.clock.now() + 30 * 86_400_000;
    const { removed, kept, objects } = await prune(repository, { days: 1, atLeast: 1 }, later);
    expect([removed.length, kept, objects > 2]).toEqual([1, 1, true]);
    expect(readdirSync(join(repository, 'backups'))).toHaveLength(1);
    expect((await verdictOf(repository, listIds(repository)[0]!)).faults).toEqual([]);
  });
});
