// Paths that are longer than a system call takes: nothing that a command can make keeps a backup from being restored.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { restore } from '../../src/backups/restore.ts';
import { spaceOf, sumOf } from '../../src/backups/summary.ts';
import { removeTree } from '../../src/disk/remove-beneath.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { openStore } from '../support/store/open-store.ts';
import { type HandmadeEntry, makeByHand } from '../support/backups/handmade.ts';
import { installation, SEAL_KEY, take } from '../support/backups/installation.ts';
import { verdictOf, requestOf } from '../support/backups/requests.ts';
import { makeChain, namesOf, readChain } from '../support/files/chain.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

const isRoot = process.getuid?.() === 0;

/** An installation with a session, and a target; what Node.js can't remove is removed in the end. */
async function fixtureWithSession() {
  const fixture = await installation();
  const { sessionId } = await fixture.addSession('some text');
  const root = temporaryDirectory();
  const target = join(root, ...namesOf(2, 200));
  mkdirSync(target, { recursive: true });
  const restored = join(target, 'data', 'workspaces', sessionId);
  const workspace = join(fixture.dataDir, 'workspaces', sessionId);
  onTestFinished(async () => {
    for (const directory of [workspace, join(target, 'data')]) await removeTree(directory);
  });
  return { ...fixture, sessionId, workspace, target, restored };
}

const CHAINS = [
  ['of 4,027 bytes', [...namesOf(15, 255), '7'.repeat(187)]],
  ['of 255 folders', namesOf(255, 1)],
] as const;

test.each(CHAINS)('a path %s is restored into a directory with a long path of its own', async (_, names) => {
  const { task, repository, workspace, target, restored, sessionId } = await fixtureWithSession();
  makeChain(workspace, names);
  const manifest = await take(task());
  expect([manifest.left_out, manifest.left_out_files]).toEqual([0, []]);
  const { faults, unrestorable } = await verdictOf(repository, manifest.id);
  expect([faults, unrestorable.count]).toEqual([[], 0]);
  const service = isRoot ? { uid: 4_242, gid: 4_242 } : null;
  expect((await restore(requestOf(repository, target, { service }))).count).toBe(0);
  expect(readChain(restored, names)).toBe('at the end');
  expect(readFileSync(join(restored, 'notes', 'n.txt'), 'utf8')).toBe(`notes of ${sessionId}`);
});

test.each([
  ['of 5,100 bytes', namesOf(20, 255), 4_096],
  ['of 2,000 folders', namesOf(2_000, 1), 514],
  ['of 5,000 folders and 10,000 bytes', namesOf(5_000, 1), 514],
])('what has a path %s is named and left out, and the rest is whole', async (_, names, reached) => {
  const { task, repository, workspace, target, restored, sessionId } = await fixtureWithSession();
  makeChain(workspace, names);
  const manifest = await take(task());
  expect(manifest.left_out).toBe(1);
  const [{ path, why } = { path: '', why: '' }] = manifest.left_out_files!;
  expect(path.startsWith(`${sessionId}/0`)).toBe(true);
  expect(path.length).toBeLessThan(200);
  expect(why).toBe('its path is longer than 4096 bytes or has more than 256 folders');
  const verdict = await verdictOf(repository, manifest.id);
  expect(verdict).toMatchObject({ faults: [], leftOut: { count: 1, named: [{ path }] }, unrestorable: { count: 0 } });
  expect((await restore(requestOf(repository, target))).count).toBe(0);
  expect(readFileSync(join(restored, 'notes', 'n.txt'), 'utf8')).toBe(`notes of ${sessionId}`);
  const kept = names.slice(0, Math.floor(reached / (names[0]!.length + 1)));
  expect(() => readChain(restored, kept.slice(0, 200))).toThrow(/ENOENT.*\/f/);
});

test('names that are not UTF-8 are left out, each by its name', async () => {
  const { task, workspace } = await fixtureWithSession();
  for (const byte of [0xfe, 0xff])
    writeFileSync(Buffer.concat([Buffer.from(`${workspace}/a`), Buffer.from([byte])]), '');
  writeFileSync(join(workspace, 'a\ufffd'), 'this one is');
  const { left_out, left_out_files, workspaces } = await take(task());
  expect(left_out).toBe(2);
  expect(left_out_files!.map(({ why }) => why)).toEqual(Array(2).fill('its name is not UTF-8'));
  expect(workspaces?.files).toBe(2);
});

test('holes of a file need no space for the restore, and are holes again', async () => {
  const { task, repository, workspace, target, restored } = await fixtureWithSession();
  writeFileSync(join(workspace, 'sparse'), 'begins');
  truncateSync(join(workspace, 'sparse'), 64 * 1_048_576);
  const manifest = await take(task());
  expect(sumOf(manifest).bytes - spaceOf(manifest)).toBe(63 * 1_048_576);
  await restore(requestOf(repository, target));
  const { size, blocks } = statSync(join(restored, 'sparse'));
  expect([size, blocks * 512 < 4 * 1_048_576]).toEqual([64 * 1_048_576, true]);
  expect(readFileSync(join(restored, 'sparse')).equals(readFileSync(join(workspace, 'sparse')))).toBe(true);
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
const file = (path: string): HandmadeEntry => ({ kind: 'workspace', path: `${SESSION}${path}`, content: 'x' });
const long = `/${'n'.repeat(256)}`;

test.each<[string, readonly HandmadeEntry[], number, RegExp]>([
  ['a name that no file system takes', [file(long)], 1, /name is too long/],
  ['a folder that no file system takes', [file(`${long}/a`), file(`${long}/b`)], 2, /name is too long/],
  ['a name that comes twice', [file('/a'), file('/a')], 1, /another file of that name/],
])('%s is named by verification and by the restore, which restores the rest', async (_, entries, count, why) => {
  const repository = join(temporaryDirectory(), 'repository');
  const id = await makeByHand({ repository, database, entries: [file('/0'), ...entries, file('/z')] });
  const verdict = await verdictOf(repository, id);
  expect(verdict.faults).toEqual([]);
  const target = temporaryDirectory();
  const leftOut = await restore(requestOf(repository, target));
  for (const found of [verdict.unrestorable, leftOut]) {
    expect(found.count).toBe(count);
    expect(found.named[0]!.why).toMatch(why);
    expect(found.named[0]!.path.length).toBeLessThan(200);
  }
  const workspace = join(target, 'data', 'workspaces', SESSION);
  for (const name of ['0', 'z']) expect(readFileSync(join(workspace, name), 'utf8')).toBe('x');
  expect(existsSync(join(target, 'data', 'restore-incomplete'))).toBe(false);
});

test('verification leaves nothing in its scratch directory', async () => {
  const { task, repository, workspace } = await fixtureWithSession();
  makeChain(workspace, CHAINS[0][1]);
  const { id } = await take(task());
  const scratch = temporaryDirectory();
  expect((await verdictOf(repository, id, SEAL_KEY, scratch)).faults).toEqual([]);
  expect(readdirSync(scratch)).toEqual([]);
});

test('what is wrong with a file is said with its path shortened, and without control characters', async () => {
  const repository = join(temporaryDirectory(), 'repository');
  const damaged: HandmadeEntry = { kind: 'workspace', path: `${SESSION}/\u001b[31m${'n'.repeat(250)}`, size: 1 };
  const id = await makeByHand({ repository, database, entries: [{ ...damaged, objects: ['ab'.repeat(32)] }] });
  const [fault = ''] = (await verdictOf(repository, id)).faults;
  expect(fault).toContain(String.raw`workspace "${SESSION}/\u001b[31mnnn`);
  expect(fault).not.toContain('n'.repeat(200));
});
