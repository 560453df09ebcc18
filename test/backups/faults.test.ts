// Backups that were altered, that were interrupted, and repositories that are full.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readManifest } from '../../src/backups/repository/manifest.ts';
import { listIds, manifestPath, objectsOf, openRepository } from '../../src/backups/repository/repository.ts';
import { prune } from '../../src/backups/prune.ts';
import type { Sink } from '../../src/backups/repository/sink.ts';
import { openSource } from '../../src/backups/source.ts';
import { filesIn, type Installation, installation, take } from '../support/backups/installation.ts';
import { verdictOf } from '../support/backups/requests.ts';

const DAY_MS = 86_400_000;

async function small(): Promise<Installation> {
  const fixture = await installation();
  await fixture.addSession('some text');
  fixture.put(join(fixture.configDir, 'errand.yaml'), 'listen: 127.0.0.1:1\n');
  return fixture;
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at]! ^= 0x01;
  writeFileSync(path, bytes);
}

test('a manifest with any byte altered is refused', async () => {
  const fixture = await small();
  const { id } = await take(fixture.task());
  const path = manifestPath(fixture.repository, id);
  const whole = readFileSync(path);
  for (let at = 0; at < whole.length; at += 1) {
    const altered = Buffer.from(whole);
    altered[at]! ^= 0x01;
    expect(() => readManifest(altered.toString(), id), `byte ${at}`).toThrow(/altered|format/);
  }
  expect(openSource(fixture.repository).manifest(id).id).toBe(id);
  flip(path, whole.length >> 1);
  expect(() => openSource(fixture.repository).manifest(id)).toThrow(/altered/);
});

test('a manifest that was forged with its hash is noticed by the seal', async () => {
  const fixture = await small();
  const { id } = await take(fixture.task());
  expect((await verdictOf(fixture.repository, id, Buffer.alloc(32, 8))).faults).toEqual([
    'The manifest was sealed by another installation, or it was forged.',
  ]);
  expect(await verdictOf(fixture.repository, id, null)).toMatchObject({ faults: [], isSealVerified: false });
});

test('every object that is altered, cut short or missing is found', async () => {
  const fixture = await small();
  const { id } = await take(fixture.task());
  const objects = objectsOf(fixture.repository);
  const paths = Object.keys(filesIn(objects)).map((name) => join(objects, name));
  expect(paths.length).toBeGreaterThan(4);
  for (const path of paths) {
    const whole = readFileSync(path);
    for (const harm of [
      () => flip(path, whole.length >> 1),
      () => writeFileSync(path, whole.subarray(0, -1)),
      () => rmSync(path),
    ]) {
      harm();
      const { faults } = await verdictOf(fixture.repository, id);
      expect(faults.length, path).toBeGreaterThan(0);
      writeFileSync(path, whole);
    }
  }
  expect((await verdictOf(fixture.repository, id)).faults).toEqual([]);
});

test('the next backup replaces an object that was cut short', async () => {
  const fixture = await small();
  const first = await take(fixture.task());
  const path = join(objectsOf(fixture.repository), first.list[0]!.slice(0, 2), first.list[0]!);
  writeFileSync(path, '');
  const second = await take(fixture.task());
  expect(second.list[0]).toBe(first.list[0]);
  expect((await verdictOf(fixture.repository, first.id)).faults).toEqual([]);
});

/** Every place where a write may fail: before each piece, and before the manifest. */
const failing =
  (at: number) =>
  (own: Sink): Sink => {
    let left = at;
    const count = () => {
      left -= 1;
      if (left < 0) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    };
    return {
      put: async (piece) => {
        count();
        return own.put(piece);
      },
      finish: async (id, manifest) => {
        count();
        await own.finish(id, manifest);
      },
    };
  };

test('a backup that ends at any step leaves none, and the next one is whole', async () => {
  const fixture = await small();
  for (let at = 0; ; at += 1) {
    const before = listIds(fixture.repository);
    try {
      await take(fixture.task(), { sink: failing(at) });
      expect(at).toBeGreaterThan(4);
      break;
    } catch (error) {
      expect(String(error)).toContain('ENOSPC');
    }
    expect(listIds(fixture.repository)).toEqual(before);
  }
  const { id } = await take(fixture.task());
  expect((await verdictOf(fixture.repository, id)).faults).toEqual([]);
});

test('what a killed backup has left is given back by the next removal, and listed nowhere', async () => {
  const fixture = await small();
  const { id } = await take(fixture.task());
  fixture.put(join(fixture.repository, 'incoming', '7'), 'half');
  fixture.put(join(fixture.repository, 'objects', 'ab', 'ab'.repeat(32)), 'orphan');
  fixture.put(join(fixture.repository, 'backups', '20260309T033000Z-000000.json.new'), '{');
  expect(openSource(fixture.repository).ids).toEqual([id]);
  const pruned = await prune(fixture.repository, { days: 1, atLeast: 1 }, fixture.fixture.clock.now());
  expect(pruned).toMatchObject({ removed: [], kept: 1, objects: 1, bytes: 6 });
  expect(readdirSync(join(fixture.repository, 'incoming'))).toEqual([]);
  expect((await verdictOf(fixture.repository, id)).faults).toEqual([]);
});

test('old backups are removed with what they alone have; the newest stay, however old', async () => {
  const fixture = await small();
  const first = await take(fixture.task());
  fixture.put(join(fixture.configDir, 'errand.yaml'), 'listen: 127.0.0.1:2\n');
  const second = await take(fixture.task());
  const later = Date.parse('2026-03-02T03:30:00Z') + 30 * DAY_MS;
  const pruned = await prune(fixture.repository, { days: 14, atLeast: 1 }, later);
  expect(pruned.removed).toEqual([first.id]);
  expect(pruned.objects).toBeGreaterThan(0);
  expect((await verdictOf(fixture.repository, second.id)).faults).toEqual([]);
  expect(await prune(fixture.repository, { days: 14, atLeast: 1 }, later)).toMatchObject({ removed: [], objects: 0 });
});

test('nothing is removed while a manifest that stays cannot be read', async () => {
  const fixture = await small();
  const { id } = await take(fixture.task());
  writeFileSync(manifestPath(fixture.repository, id), '{}');
  const before = filesIn(objectsOf(fixture.repository));
  await expect(prune(fixture.repository, { days: 0, atLeast: 1 }, Date.now())).rejects.toThrow('was altered');
  expect(filesIn(objectsOf(fixture.repository))).toEqual(before);
});

test('a repository that is in use is refused', async () => {
  const fixture = await small();
  const lock = openRepository(fixture.repository);
  await expect(take(fixture.task())).rejects.toThrow('Another backup or a removal of backups is in progress');
  lock.release();
  await take(fixture.task());
});

test('an unknown backup and a missing directory are told apart', async () => {
  const fixture = await small();
  expect(() => openSource(join(fixture.root, 'nowhere'))).toThrow('does not exist');
  await take(fixture.task());
  await expect(verdictOf(fixture.repository, '20260302T033000Z-ffffff')).rejects.toThrow('There is no backup');
  expect(existsSync(fixture.repository)).toBe(true);
});
