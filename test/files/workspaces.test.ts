import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readDirectoryBeneath } from '../../src/disk/list-beneath.ts';
import type { Attachment } from '../../src/domain/sessions/content.ts';
import { openBlobsInFiles } from '../support/files/blobs-in-files.ts';
import { makeWorkspaces } from '../../src/files/workspaces.ts';
import { makeChain, namesOf } from '../support/files/chain.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

async function fixture() {
  const directory = temporaryDirectory();
  const blobs = await openBlobsInFiles(join(directory, 'blobs'));
  const workspaces = makeWorkspaces({ directory: join(directory, 'workspaces'), blobs, owner: null });
  const root = workspaces.pathOf('s1');
  mkdirSync(root, { recursive: true });
  const sha256 = await blobs.hold().put(Buffer.from('a,b\n1,2\n'));
  const csv: Attachment = {
    id: 'a1',
    name: 'data.csv',
    path: 'attachments/a1/data.csv',
    workspacePath: '/uploads/data.csv',
    mimeType: 'text/csv',
    size: 8,
    sha256,
  };
  return { directory, blobs, workspaces, root, csv };
}

test('attachments are placed in the workspace, and stay as the agent left them', async () => {
  const { workspaces, root, csv } = await fixture();
  await workspaces.placeUploads('s1', [csv], { quotaBytes: 2 ** 30, hasBegun: false });
  const path = join(root, 'uploads/data.csv');
  expect(readFileSync(path, 'utf8')).toBe('a,b\n1,2\n');
  writeFileSync(path, 'changed');
  await workspaces.placeUploads('s1', [csv], { quotaBytes: 2 ** 30, hasBegun: true });
  expect(readFileSync(path, 'utf8')).toBe('changed');
});

test('an attachment that a power failure has emptied, cut or filled with zeros is written again before its run starts', async () => {
  const { workspaces, root, csv } = await fixture();
  const path = join(root, 'uploads/data.csv');
  mkdirSync(join(root, 'uploads'));
  for (const torn of ['', 'a,b\n', '\0'.repeat(8)]) {
    writeFileSync(path, torn);
    await workspaces.placeUploads('s1', [csv], { quotaBytes: 2 ** 30, hasBegun: false });
    expect(readFileSync(path, 'utf8')).toBe('a,b\n1,2\n');
  }
  const before = lstatSync(path).ino;
  await workspaces.placeUploads('s1', [csv], { quotaBytes: 2 ** 30, hasBegun: false });
  expect(lstatSync(path).ino).toBe(before);
});

test('attachments that would exceed the workspace’s limit are not placed', async () => {
  const { workspaces, root, csv } = await fixture();
  expect(await workspaces.placeUploads('s1', [csv], { quotaBytes: 7, hasBegun: false })).toBe(false);
  expect(readdirSync(join(root, 'uploads'))).toEqual([]);
});

test('attachments go from file to file, and their bytes not through the daemon', async () => {
  const { directory, root, blobs, csv } = await fixture();
  const read = async () => Promise.reject(new Error('A blob was read.'));
  const workspaces = makeWorkspaces({
    directory: join(directory, 'workspaces'),
    blobs: { ...blobs, read },
    owner: null,
  });
  await workspaces.placeUploads('s1', [csv], { quotaBytes: 2 ** 30, hasBegun: false });
  const path = join(root, 'uploads/data.csv');
  expect([readFileSync(path, 'utf8'), lstatSync(path).mode & 0o777]).toEqual(['a,b\n1,2\n', 0o644]);
  expect(await blobs.read(csv.sha256)).toEqual(readFileSync(path));
});

test('an attachment whose blob is missing leaves no partial file', async () => {
  const { workspaces, root, csv } = await fixture();
  const lost = { ...csv, sha256: '0'.repeat(64) };
  await expect(workspaces.placeUploads('s1', [lost], { quotaBytes: 2 ** 30, hasBegun: false })).rejects.toMatchObject({
    reason: 'not_found',
  });
  expect(readdirSync(join(root, 'uploads'))).toEqual([]);
});

test('a link that the agent put where uploads go is not followed', async () => {
  const { directory, workspaces, root, csv } = await fixture();
  mkdirSync(join(directory, 'outside'));
  symlinkSync(join(directory, 'outside'), join(root, 'uploads'));
  await expect(workspaces.placeUploads('s1', [csv], { quotaBytes: 2 ** 30, hasBegun: false })).rejects.toMatchObject({
    reason: 'bad_request',
  });
  expect(() => readFileSync(join(directory, 'outside/data.csv'))).toThrow(/ENOENT/);
});

test('a workspace that a command closed, and whose worker was lost, is open again, and can be removed', async () => {
  const { workspaces, root } = await fixture();
  mkdirSync(join(root, 'closed/inner'), { recursive: true });
  writeFileSync(join(root, 'closed/inner/file'), 'x');
  chmodSync(join(root, 'closed/inner'), 0);
  chmodSync(join(root, 'closed'), 0);
  chmodSync(root, 0);
  await workspaces.tidy('s1');
  expect(lstatSync(root).mode & 0o777).toBe(0o700);
  chmodSync(root, 0);
  await workspaces.remove('s1');
  expect(existsSync(root)).toBe(false);
});

test('what a lost worker left half-written goes, at any depth, and everything else stays', async () => {
  const { workspaces, root } = await fixture();
  const temporary = `.errand-tmp-${randomUUID()}`;
  mkdirSync(join(root, 'deep/er'), { recursive: true });
  for (const path of [temporary, `deep/er/${temporary}`, 'deep/er/kept', '.errand-tmp-notes'])
    writeFileSync(join(root, path), 'x');
  await workspaces.tidy('s1');
  expect(readdirSync(root, { recursive: true }).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
    '.errand-tmp-notes',
    'deep',
    'deep/er',
    'deep/er/kept',
  ]);
  await expect(workspaces.tidy('a-session-without-a-workspace')).resolves.toBeUndefined();
});

test('what was left half-written goes where its path is longer than one that can be asked for', async () => {
  const { workspaces, root } = await fixture();
  const names = [...namesOf(15, 255), '7'.repeat(250)];
  makeChain(root, names, { name: `.errand-tmp-${randomUUID()}` });
  await workspaces.tidy('s1');
  expect(await readDirectoryBeneath(root, names.join('/'))).toEqual({ entries: [], more: false });
});
