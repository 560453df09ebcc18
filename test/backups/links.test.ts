// Links, folders and modes in backups: kept as they are, and never a way out of the directory that is restored.
import {
  chmodSync,
  type Dirent,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { restore } from '../../src/backups/restore.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { openStore } from '../support/store/open-store.ts';
import { type HandmadeEntry, makeByHand } from '../support/backups/handmade.ts';
import { installation, take } from '../support/backups/installation.ts';
import { verdictOf, requestOf } from '../support/backups/requests.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

/** Node's own recursion follows links. */
function* entriesBelow(directory: string): Generator<Dirent> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    yield entry;
    if (entry.isDirectory()) yield* entriesBelow(join(directory, entry.name));
  }
}

/** Everything below a directory that isn't a regular file, with its mode or its target, and its time. */
function othersIn(directory: string): Record<string, string> {
  const entries = [...entriesBelow(directory)].filter((entry) => !entry.isFile());
  const found = entries.map(({ parentPath, name }): [string, string] => {
    const path = join(parentPath, name);
    const { mode, mtimeMs } = lstatSync(path);
    const said = lstatSync(path).isSymbolicLink() ? readlinkSync(path) : (mode & 0o7777).toString(8);
    return [path.slice(directory.length + 1), `${said} ${Math.floor(mtimeMs / 1_000)}`];
  });
  return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}

test('links, empty folders and modes are restored as they were; what links lead to is not read', async () => {
  const fixture = await installation();
  const { sessionId } = await fixture.addSession('some text');
  const workspace = join(fixture.dataDir, 'workspaces', sessionId);
  for (const folder of ['empty', 'closed/within', 'z']) mkdirSync(join(workspace, folder), { recursive: true });
  for (const [name, target] of [
    ['to-file', 'notes/n.txt'],
    ['to-folder', './notes'],
    ['dangling', 'nowhere/at all'],
    ['outside', '/etc/passwd'],
    ['loop', 'loop'],
    ['closed/up', '../..'],
  ] as const)
    symlinkSync(target, join(workspace, name));
  fixture.put(join(fixture.configDir, 'experts', 'a.md'), '# A\n');
  symlinkSync('experts/a.md', join(fixture.configDir, 'b.md'));
  utimesSync(join(workspace, 'empty'), 1_000_000, 1_000_000);
  chmodSync(join(workspace, 'z'), 0o7_711);
  chmodSync(join(workspace, 'closed'), 0o500);
  chmodSync(workspace, 0o700);
  const manifest = await take(fixture.task());
  expect(manifest).toMatchObject({
    left_out: 0,
    workspaces: { files: 1, links: 6, folders: 6 },
    configuration: { files: 1, links: 1, folders: 1 },
  });
  expect((await verdictOf(fixture.repository, manifest.id)).faults).toEqual([]);
  const target = temporaryDirectory();
  await restore(requestOf(fixture.repository, target));
  const restored = othersIn(join(target, 'data', 'workspaces'));
  // Permissions alone: no rights of other users.
  chmodSync(join(workspace, 'z'), 0o711);
  expect(restored).toEqual(othersIn(join(fixture.dataDir, 'workspaces')));
  expect(othersIn(join(target, 'config'))).toEqual(othersIn(fixture.configDir));
});

const ends: (() => void | Promise<void>)[] = [];
let database = '';
beforeAll(async () => {
  database = join(temporaryDirectory({}, { onTestFinished: (end) => void ends.push(end) }), 'errand.db');
  await openStore(database, systemClock).close();
});
afterAll(async () => {
  for (const end of ends) await end();
});

const SESSION = '6f1c0d3e-8f43-4b0e-9b55-6f0f6f0f6f0f';
const link = (path: string, target?: string): HandmadeEntry => ({
  kind: 'workspace',
  path: `${SESSION}${path}`,
  type: 'link',
  ...(target !== undefined && { target }),
});

test.each<[string, (outside: string) => readonly HandmadeEntry[]]>([
  ['a file', (to) => [link('/a', to), { kind: 'workspace', path: `${SESSION}/a/b`, content: 'x' }]],
  ['a folder', (to) => [link('/a', to), { kind: 'workspace', path: `${SESSION}/a/b`, type: 'folder' }]],
  ['the mode of a folder', (to) => [link('/a', to), { kind: 'workspace', path: `${SESSION}/a`, type: 'folder' }]],
  ['a link', (to) => [link('/a', to), link('/a/b', '/etc')]],
  ['a workspace', (to) => [link('', to)]],
  ['a folder above', () => [link('/..', 'x')]],
  ['the data directory', () => [{ kind: 'configuration', path: '/../x', type: 'folder' }]],
])('a forged list writes %s nowhere else', async (_, entriesFor) => {
  const repository = join(temporaryDirectory(), 'repository');
  const outside = temporaryDirectory();
  const before = lstatSync(outside).mode;
  await makeByHand({ repository, database, entries: entriesFor(outside) });
  await expect(restore(requestOf(repository, temporaryDirectory()))).rejects.toThrow(/^The list of files has a path/);
  expect([readdirSync(outside), lstatSync(outside).mode]).toEqual([[], before]);
});

test.each<[string, HandmadeEntry]>([
  ['a link without a target', link('/a')],
  ['a link with content', { ...link('/a', 'x'), content: 'y' }],
  ['a target that no link can have', link('/a', 'x'.repeat(4_096))],
  ['a folder with a target', { kind: 'workspace', path: `${SESSION}/a`, type: 'folder', target: 'x' }],
  ['a blob that is a link', { kind: 'blob', path: 'ab'.repeat(32), type: 'link', target: 'x' }],
])('%s is found by verification and not restored', async (_, entry) => {
  const repository = join(temporaryDirectory(), 'repository');
  const id = await makeByHand({ repository, database, entries: [entry] });
  expect((await verdictOf(repository, id)).faults.join()).toMatch(/The list of files has a path that is not allowed/);
  const target = temporaryDirectory();
  await expect(restore(requestOf(repository, target))).rejects.toThrow('is not allowed');
  expect(existsSync(join(target, 'data', 'workspaces', SESSION, 'a'))).toBe(false);
});

test('a list that lacks a link is found by its numbers', async () => {
  const repository = join(temporaryDirectory(), 'repository');
  const facts = { workspaces: { files: 0, bytes: 0, links: 1, folders: 0 } };
  const id = await makeByHand({ repository, database, facts });
  expect((await verdictOf(repository, id)).faults.join()).toContain(
    'The list has 1 files, links and folders, and the manifest says 2.',
  );
});
