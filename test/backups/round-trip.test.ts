// What a backup has is what a restore writes.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, utimesSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { restore } from '../../src/backups/restore.ts';
import { PHASES, type Progress } from '../../src/backups/thread-messages.ts';
import { openSource } from '../../src/backups/source.ts';
import { makeTarSink } from '../../src/backups/archive/tar-sink.ts';
import { takeBackup } from '../../src/backups/take-backup.ts';
import { requireRestored } from '../../src/files/restore-marker.ts';
import { lockDataDirectory } from '../../src/store/engine/sqlite/file/lock.ts';
import type { Store } from '../../src/store/open-store.ts';
import { openStore } from '../support/store/open-store.ts';
import { filesIn, type Installation, installation, NO_PACE, take } from '../support/backups/installation.ts';
import { verdictOf, requestOf } from '../support/backups/requests.ts';
import { aTask } from '../support/store/schedules.ts';
import { aWebhook } from '../support/store/webhooks.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

async function furnished(): Promise<Installation & { readonly sessionId: string }> {
  const fixture = await installation();
  const { sessionId } = await fixture.addSession('some text');
  await fixture.addSession(Buffer.alloc(2_500_000, 'large '));
  const workspace = join(fixture.dataDir, 'workspaces', sessionId);
  fixture.put(join(workspace, 'run.sh'), 'echo');
  chmodSync(join(workspace, 'run.sh'), 0o755);
  utimesSync(join(workspace, 'run.sh'), 1_000_000, 1_000_000);
  fixture.put(join(workspace, 'empty'), '');
  fixture.put(join(fixture.configDir, 'errand.yaml'), 'listen: 127.0.0.1:1\n');
  fixture.put(join(fixture.configDir, 'experts', 'a.md'), '# A\n');
  return { ...fixture, sessionId };
}

test('a restored directory has the files, modes and times of the original, and its rows', async () => {
  const fixture = await furnished();
  const manifest = await take(fixture.task());
  expect(await verdictOf(fixture.repository, manifest.id)).toMatchObject({
    faults: [],
    isSealVerified: true,
    files: 9,
  });
  const target = temporaryDirectory();
  await restore(requestOf(fixture.repository, target));
  for (const part of ['workspaces', 'blobs'])
    expect(filesIn(join(target, 'data', part))).toEqual(
      part === 'blobs'
        ? Object.fromEntries(
            Object.entries(filesIn(join(fixture.dataDir, part))).map(([name, file]) => [
              name,
              file.replace(/^644/, '600'),
            ]),
          )
        : filesIn(join(fixture.dataDir, part)),
    );
  expect(filesIn(join(target, 'config'))).toEqual(filesIn(fixture.configDir));
  expect(statSync(join(target, 'data', 'workspaces', fixture.sessionId, 'run.sh')).mtimeMs).toBe(1_000_000_000);
  requireRestored(join(target, 'data'));
  const store = openStore(join(target, 'data', 'errand.db'), fixture.fixture.clock);
  expect(await store.users.list('', 100)).toEqual(await fixture.fixture.store.users.list('', 100));
  await store.close();
});

test('its progress names each phase as it begins, and counts every byte', async () => {
  const fixture = await furnished();
  const seen: Progress[] = [];
  const manifest = await take(fixture.task(), { progress: (now) => void seen.push(now) });
  expect([...new Set(seen.map(({ phase }) => phase))]).toEqual([...PHASES]);
  expect(seen.find(({ phase }) => phase === 'workspaces')).toMatchObject({ done: 0, total: 2 });
  const { database, blobs, workspaces, configuration } = manifest;
  expect(seen.at(-1)!.bytes).toBe(database.bytes + blobs.bytes + workspaces!.bytes + configuration.bytes);
  expect(seen.every(({ bytes }, i) => bytes >= (seen[i - 1]?.bytes ?? 0))).toBe(true);
});

test('a second backup adds only what has changed', async () => {
  const fixture = await furnished();
  const first = await take(fixture.task());
  await fixture.addSession('one more');
  const second = await take(fixture.task());
  expect(first.added.bytes).toBeGreaterThan(2_500_000);
  expect(second.added.bytes).toBeLessThan(1_000_000);
  expect(await verdictOf(fixture.repository, first.id)).toMatchObject({ faults: [] });
  expect(await verdictOf(fixture.repository, second.id)).toMatchObject({ faults: [] });
});

test('an archive is verified and restored like a directory', async () => {
  const fixture = await furnished();
  const chunks: Uint8Array[] = [];
  const sink = makeTarSink(async (bytes) => void chunks.push(bytes));
  const staging = temporaryDirectory();
  const parts = {
    sink,
    pace: NO_PACE,
    requireSpace: () => undefined,
    progress: () => undefined,
    passed: () => undefined,
  };
  const { id } = await takeBackup(fixture.task({ repository: null, staging }), parts);
  const archive = join(fixture.root, 'a.tar');
  writeFileSync(archive, Buffer.concat(chunks));
  expect(await verdictOf(archive, id)).toMatchObject({ faults: [] });
  const target = temporaryDirectory();
  await restore(requestOf(archive, target));
  expect(filesIn(join(target, 'config'))).toEqual(filesIn(fixture.configDir));
  writeFileSync(archive, Buffer.concat(chunks).subarray(0, -2_000));
  expect(() => openSource(archive)).toThrow('it is cut off');
});

test('rows that are written while the database is copied are not in the backup, and hold nothing up', async () => {
  const fixture = await furnished();
  let added = 0;
  const progress = ({ phase }: { phase: string }) => {
    if (phase !== 'database') return;
    added += 1;
    void fixture.fixture.makeKey();
  };
  const { id } = await take(fixture.task(), { progress });
  expect(added).toBeGreaterThan(0);
  expect(await verdictOf(fixture.repository, id)).toMatchObject({ faults: [] });
});

test('special files are counted, and not copied', async () => {
  const fixture = await furnished();
  const path = join(fixture.dataDir, 'workspaces', fixture.sessionId, 'socket');
  const server = createServer().listen(path);
  await once(server, 'listening');
  const { left_out, workspaces } = await take(fixture.task());
  server.close();
  expect([left_out, workspaces?.files]).toEqual([1, 4]);
});

test('a workspace that its agent has replaced or closed is counted, and harms no other', async () => {
  const fixture = await furnished();
  const replaced = join(fixture.dataDir, 'workspaces', fixture.sessionId);
  rmSync(replaced, { recursive: true });
  symlinkSync('/etc', replaced);
  const { left_out, workspaces } = await take(fixture.task());
  expect([left_out, workspaces?.files]).toEqual([1, 1]);
});

test('the master key is not in a backup, even where it is among the configuration', async () => {
  const fixture = await furnished();
  fixture.put(join(fixture.configDir, 'master.key'), 'k'.repeat(32));
  await take(fixture.task({ except: [join(fixture.configDir, 'master.key')] }));
  const target = temporaryDirectory();
  await restore(requestOf(fixture.repository, target));
  expect(existsSync(join(target, 'config', 'master.key'))).toBe(false);
});

test('a blob whose bytes are gone is counted in the backup, and found by its verification', async () => {
  const fixture = await furnished();
  const { sha256 } = await fixture.addSession('to be lost');
  rmSync(join(fixture.dataDir, 'blobs', sha256.slice(0, 2), sha256));
  const { id, missing_blobs } = await take(fixture.task());
  expect(missing_blobs).toBe(1);
  expect((await verdictOf(fixture.repository, id)).faults).toEqual([
    `The blob ${sha256} is missing, which the database names.`,
  ]);
});

test('a small blob is in the database of a backup alone, and is verified there', async () => {
  const fixture = await furnished();
  const keys = [await fixture.addRow('a row'), await fixture.addRow('another row'), await fixture.addRow('shortened')];
  const manifest = await take(fixture.task());
  expect(manifest).toMatchObject({ blobs: { files: 2 }, missing_blobs: 0 });
  expect(await verdictOf(fixture.repository, manifest.id)).toMatchObject({ faults: [] });
  const target = temporaryDirectory();
  await restore(requestOf(fixture.repository, target));
  const store = openStore(join(target, 'data', 'errand.db'), fixture.fixture.clock);
  expect((await store.smallBlobs.find(keys[0]!))?.toString()).toBe('a row');
  await store.close();
  fixture.fixture.change(`UPDATE small_blobs SET bytes = CAST('altered row' AS BLOB) WHERE key = '${keys[1]}'`);
  fixture.fixture.change(`UPDATE small_blobs SET bytes = CAST('short' AS BLOB) WHERE key = '${keys[2]}'`);
  fixture.fixture.change(`DELETE FROM small_blobs WHERE key = '${keys[0]}'`);
  const { id, missing_blobs } = await take(fixture.task());
  expect(missing_blobs).toBe(1);
  expect((await verdictOf(fixture.repository, id)).faults.toSorted()).toEqual(
    [
      `The blob ${keys[0]} is missing, which the database names.`,
      `The blob ${keys[1]} has other content.`,
      `The blob ${keys[2]} has 5 bytes, and its row says 9.`,
    ].toSorted(),
  );
});

test('a backup that is taken while small blobs come and go has all that its rows name', async () => {
  const fixture = await furnished();
  const { store } = fixture.fixture;
  const keys = await Promise.all(Array.from({ length: 5 }, (_, at) => fixture.addRow(`row ${at}`)));
  let made = 0;
  const rest = async () => {
    keys.push(await fixture.addRow(`while it is taken ${(made += 1)}`));
    const gone = keys.shift()!;
    fixture.fixture.change(`DELETE FROM attachments WHERE sha256 = '${gone}'`);
    expect(await store.smallBlobs.remove(gone, () => false)).toBe(true);
  };
  const manifest = await take(fixture.task(), { pace: { ...NO_PACE, rest } });
  expect(made).toBeGreaterThan(5);
  expect(manifest).toMatchObject({ blobs: { files: 2 }, missing_blobs: 0 });
  expect(await verdictOf(fixture.repository, manifest.id)).toMatchObject({ faults: [] });
});

test.each(['data', 'config'])('nothing is restored where the directory %s has content', async (name) => {
  const fixture = await furnished();
  await take(fixture.task());
  const target = temporaryDirectory({ [`${name}/x`]: 'x' });
  await expect(restore(requestOf(fixture.repository, target))).rejects.toThrow('is not an empty directory');
  expect(filesIn(target)).toEqual({ [`${name}/x`]: '644 x' });
});

test('a directory that has nothing but the lock of a killed restore is empty', async () => {
  const fixture = await furnished();
  await take(fixture.task());
  const target = temporaryDirectory();
  mkdirSync(join(target, 'data'));
  lockDataDirectory(join(target, 'data')).release();
  expect(Object.keys(filesIn(target))).toEqual(['data/errand.lock']);
  await restore(requestOf(fixture.repository, target));
  expect(() => requireRestored(join(target, 'data'))).not.toThrow();
  expect(existsSync(join(target, 'data', 'errand.db'))).toBe(true);
});

test('a restore that did not complete leaves a directory that no daemon starts on', async () => {
  const fixture = await furnished();
  await take(fixture.task());
  const target = temporaryDirectory();
  const request = requestOf(fixture.repository, target);
  let read = 0;
  const full = (key: string) => {
    read += 1;
    if (read === 12) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    return request.source.read(key);
  };
  await expect(restore({ ...request, source: { ...request.source, read: full } })).rejects.toThrow(
    'There is no space left',
  );
  expect(() => requireRestored(join(target, 'data'))).toThrow('did not complete');
  await expect(restore(requestOf(fixture.repository, target))).rejects.toThrow(
    'did not complete. Remove the directory first',
  );
});

test('a restore that needs more space than there is writes nothing', async () => {
  const fixture = await furnished();
  await take(fixture.task());
  const target = temporaryDirectory();
  const request = requestOf(fixture.repository, target);
  const { manifest } = request;
  const huge = { ...manifest, blobs: { files: 1, bytes: 2 ** 50 } };
  await expect(restore({ ...request, manifest: huge })).rejects.toThrow(/^The backup needs \d+ MB/);
  expect(filesIn(target)).toEqual({});
});

test('a paused copy delivers and fires nothing', async () => {
  const fixture = await furnished();
  const { store } = fixture.fixture;
  const [user] = await store.users.list('', 100);
  await store.webhooks.create(aWebhook());
  await store.schedules.create(aTask(user!.seq));
  const all = { ownerScope: null, userSeq: null, enabled: true, name: null, limit: 9, offset: 0 };
  const enabledIn = async ({ webhooks, schedules }: Store) => [
    (await webhooks.list(all)).total,
    (await schedules.list(all)).total,
  ];
  expect(await enabledIn(store)).toEqual([1, 1]);
  await take(fixture.task());
  const target = temporaryDirectory();
  await restore(requestOf(fixture.repository, target, { paused: true }));
  const copy = openStore(join(target, 'data', 'errand.db'), fixture.fixture.clock);
  expect(await enabledIn(copy)).toEqual([0, 0]);
  await copy.close();
});

test('a repository has nothing but backups', async () => {
  const fixture = await furnished();
  mkdirSync(fixture.repository);
  fixture.put(join(fixture.repository, 'thesis.txt'), 'precious');
  await expect(take(fixture.task())).rejects.toThrow('is no directory for backups: it contains "thesis.txt"');
});

test('while the log of the database is large, its copy does not rest', async () => {
  const fixture = await furnished();
  const rests: (number | undefined)[] = [];
  const pace = { ...NO_PACE, restHere: (longestMs?: number) => void rests.push(longestMs) };
  await take(fixture.task(), { pace });
  expect(new Set(rests)).toEqual(new Set([undefined]));
  // In one connection of its own: the daemon has not looked at the log yet.
  fixture.fixture.change(`CREATE TABLE noise AS SELECT randomblob(${70 * 1_048_576}) AS bytes`);
  rests.length = 0;
  await take(fixture.task(), { pace });
  expect(new Set(rests)).toEqual(new Set([0]));
});

test('of files in a bucket, a backup has the rows, and what is restored removes nothing of the bucket', async () => {
  const fixture = await furnished();
  await fixture.fixture.store.objects.setLocation('s3://files/');
  const manifest = await take(fixture.task());
  expect(manifest).toMatchObject({ bucket: 's3://files/', blobs: { files: 0 }, missing_blobs: 0 });
  expect((await verdictOf(fixture.repository, manifest.id)).faults).toEqual([]);
  const target = temporaryDirectory();
  await restore(requestOf(fixture.repository, target));
  const store = openStore(join(target, 'data', 'errand.db'), fixture.fixture.clock);
  expect(await store.objects.getLocation()).toEqual({ name: 's3://files/', isShared: true });
  await store.close();
});
