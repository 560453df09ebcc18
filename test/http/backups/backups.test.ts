// Backups over HTTP: who can have them where, archives that are streamed, and readers who leave.
import { existsSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { BackupParts } from '../../../src/backups/backups.ts';
import { makeBackupJobs } from '../../../src/backups/jobs.ts';
import { listIds } from '../../../src/backups/repository/repository.ts';
import { openSource } from '../../../src/backups/source.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { makeBackupOperations } from '../../../src/operations/backups/backups.ts';
import { backupsOf } from '../../support/backups/backups-of.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { loggedLines, openFixture, send, SETTINGS } from '../../support/http/http-fixture.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const ROOT = '/api/v1/backups';

/** The real thread of backups behind the real handlers. */
async function open(over: Partial<BackupParts> = {}) {
  const logged = loggedLines();
  const { backups, ...fixture } = await backupsOf({ log: logged.log, ...over });
  const jobs = makeBackupJobs({ backups, clock: systemClock, log: logged.log });
  const settings = () => ({ backup: { ...SETTINGS.backup, directory: fixture.repository } });
  const operations = makeBackupOperations({
    backups: { jobs, prune: backups.prune },
    audit: { act: async () => undefined },
    settings,
    store: { peers: null },
    node: { list: () => [] },
  });
  const http = await openFixture({ operations, logged });
  const asAdmin = (method: string, path: string, body?: object) =>
    send(http, { method, path: `${ROOT}${path}`, as: 'admin-key', ...(body && { body }) });
  const latest = async () =>
    dataOf(await asAdmin('GET', '/latest')) as { id: string; state: string; phase: string | null };
  return { ...fixture, http, asAdmin, latest };
}

const dataOf = ({ json }: { readonly json: unknown }) => (json as { readonly data: object }).data;

type Opened = Awaited<ReturnType<typeof open>>;

const ended = ({ latest }: Opened) =>
  waitFor(async () => {
    const job = await latest();
    return job.state !== 'running' && job;
  });

/** More than what buffers between here and the thread take. Returns what removes them. */
function addLargeFiles({ dataDir }: Opened, sessionId: string): () => void {
  const folder = join(dataDir, 'workspaces', sessionId);
  const paths = Array.from({ length: 24 }, (_, i) => join(folder, `large-${i}`));
  for (const [i, path] of paths.entries()) writeFileSync(path, Buffer.alloc(1_048_576, String(i)));
  return () => paths.forEach((path) => rmSync(path));
}

/** A file that no backup comes to the end of, and that takes no space. */
function addEndlessFile({ dataDir }: Opened, sessionId: string): void {
  const path = join(dataDir, 'workspaces', sessionId, 'endless');
  writeFileSync(path, '');
  truncateSync(path, 2 ** 40);
}

/** Begins an archive, and leaves as soon as there are bytes. */
async function leaveAtFirstBytes({ http }: Opened): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const req = request({ host: '127.0.0.1', port: http.port, method: 'POST', path: `${ROOT}/archive`, agent: false });
  req.setHeader('authorization', 'Bearer admin-key');
  req.once('error', () => undefined);
  req.once('response', (res) => {
    res.once('error', () => undefined);
    res.once('data', () => {
      req.destroy();
      resolve();
    });
  });
  req.end();
  await promise;
}

test('an administrator begins a backup in the directory of the settings, and follows it', async () => {
  const fixture = await open();
  const begun = await fixture.asAdmin('POST', '', {});
  expect(begun).toMatchObject({ status: 202, json: { data: { directory: fixture.repository, state: 'running' } } });
  expect(await ended(fixture)).toMatchObject({ state: 'completed', backup: { files: 3 } });
  expect(openSource(fixture.repository).ids).toHaveLength(1);
  expect(await fixture.asAdmin('POST', '/prune', { keep_days: 0 })).toMatchObject({
    status: 200,
    json: { data: { kept: 1 } },
  });
});

test('other directories are for the operator alone, even those within the one of the settings', async () => {
  const fixture = await open();
  const repositories = [
    [`${fixture.root}/elsewhere`, 403],
    [`${fixture.repository}/below`, 403],
    [`${fixture.repository}/../elsewhere`, 403],
    ['elsewhere', 422],
  ] as const;
  for (const [directory, status] of repositories)
    for (const path of ['', '/prune']) {
      const { status: got } = await fixture.asAdmin('POST', path, { directory });
      expect([directory, path, got]).toEqual([directory, path, status]);
    }
  expect(existsSync(fixture.repository)).toBe(false);
  const elsewhere = {
    method: 'POST',
    path: ROOT,
    via: 'socket',
    body: { directory: `${fixture.root}/elsewhere` },
  } as const;
  expect((await send(fixture.http, elsewhere)).status).toBe(202);
  expect(await ended(fixture)).toMatchObject({ state: 'completed', directory: `${fixture.root}/elsewhere` });
  const within = { ...elsewhere, body: { directory: `${fixture.root}/elsewhere/objects/ab` } };
  expect((await send(fixture.http, within)).status).toBe(202);
  expect(await ended(fixture)).toMatchObject({
    state: 'failed',
    error: expect.stringContaining('is within') as string,
  });
});

test('an archive is whole, and leaves nothing in the data directory', async () => {
  const fixture = await open();
  const { status, headers, text } = await send(fixture.http, {
    method: 'POST',
    path: `${ROOT}/archive`,
    as: 'admin-key',
  });
  expect([status, headers['content-type'], headers['cache-control']]).toEqual([200, 'application/x-tar', 'no-store']);
  expect(text).toMatch(/backups\/\d{8}T\d{6}Z-[0-9a-f]{6}\.json/);
  expect(existsSync(fixture.staging)).toBe(false);
  expect(fixture.held.now).toBe(0);
});

test('a reader who leaves ends the backup: nothing is held, and the next one begins at once', async () => {
  const fixture = await open();
  const { sessionId } = await fixture.addSession('more');
  const removeLargeFiles = addLargeFiles(fixture, sessionId);
  await leaveAtFirstBytes(fixture);
  expect(await ended(fixture)).toMatchObject({ state: 'failed' });
  expect(existsSync(fixture.staging)).toBe(false);
  expect(fixture.held.now).toBe(0);
  // On a busy machine, the thread would take long for them.
  removeLargeFiles();
  expect((await fixture.asAdmin('POST', '', {})).status).toBe(202);
  expect(await ended(fixture)).toMatchObject({ state: 'completed' });
});

test('a backup is cancelled by its id, and nothing of it is listed', async () => {
  const fixture = await open();
  const { sessionId } = await fixture.addSession('more');
  addEndlessFile(fixture, sessionId);
  const begun = dataOf(await fixture.asAdmin('POST', '', {})) as { id: string };
  await waitFor(async () => (await fixture.latest()).phase !== null, { everyMs: 20 });
  expect((await fixture.asAdmin('POST', '', {})).status).toBe(409);
  expect((await fixture.asAdmin('POST', '/20260302T033000Z-000000/cancel')).status).toBe(404);
  expect(await fixture.asAdmin('POST', `/${begun.id}/cancel`)).toMatchObject({
    status: 200,
    json: { data: { state: 'failed', error: 'The backup was cancelled.' } },
  });
  expect(listIds(fixture.repository)).toEqual([]);
  expect(fixture.held.now).toBe(0);
  expect((await fixture.asAdmin('POST', `/${begun.id}/cancel`)).status).toBe(200);
});

test('a disk that is too full for the copy of the database refuses the archive, and stays as it was', async () => {
  const fixture = await open({ keepFreeBytes: () => Number.MAX_SAFE_INTEGER });
  expect(await fixture.asAdmin('POST', '/archive', {})).toMatchObject({
    status: 503,
    json: { message: "The backup would fill the daemon's own disk." },
  });
  expect(existsSync(fixture.staging)).toBe(false);
  expect(fixture.held.now).toBe(0);
});

test('a repository that cannot be written is a failed backup with its reason', async () => {
  const fixture = await open();
  writeFileSync(fixture.repository, 'a file');
  expect((await fixture.asAdmin('POST', '', {})).status).toBe(202);
  expect(await ended(fixture)).toMatchObject({
    state: 'failed',
    error: expect.stringContaining(`can't be written to ${fixture.repository}`) as string,
  });
});

test('a repository in the data directory is refused, also behind a link', async () => {
  const fixture = await open();
  const linked = temporaryDirectory();
  mkdirSync(join(fixture.dataDir, 'inner'));
  for (const directory of [join(fixture.dataDir, 'repository'), fixture.root]) {
    expect((await send(fixture.http, { method: 'POST', path: ROOT, via: 'socket', body: { directory } })).status).toBe(
      202,
    );
    expect(await ended(fixture)).toMatchObject({
      state: 'failed',
      error: expect.stringContaining("can't be made") as string,
    });
  }
  symlinkSync(join(fixture.dataDir, 'inner'), join(linked, 'link'));
  const behind = {
    method: 'POST',
    path: ROOT,
    via: 'socket',
    body: { directory: join(linked, 'link', 'repository') },
  } as const;
  expect((await send(fixture.http, behind)).status).toBe(202);
  expect(await ended(fixture)).toMatchObject({
    state: 'failed',
    error: expect.stringContaining("can't be made") as string,
  });
  expect(existsSync(join(fixture.dataDir, 'inner', 'repository'))).toBe(false);
});
