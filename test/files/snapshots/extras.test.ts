// What looks find besides the contents of files: executable ones, links that stay in the workspace, and empty folders.
import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readExtras, staysInside } from '../../../src/files/snapshots/extras.ts';
import { wantedOf } from '../../../src/files/snapshots/wanted.ts';
import { NOTHING, shareSnapshotFixture, snapshotFixture, write } from '../../support/files/snapshot-fixture.ts';

const shared = shareSnapshotFixture();

async function withExtras() {
  const fixture = await snapshotFixture({ beside: shared() });
  write(fixture, { 'a/plain.txt': 'one', 'a/run.sh': 'two', 'z.txt': 'three' });
  chmodSync(join(fixture.root, 'a/run.sh'), 0o750);
  symlinkSync('run.sh', join(fixture.root, 'a/link'));
  symlinkSync('/etc/passwd', join(fixture.root, 'a/out'));
  mkdirSync(join(fixture.root, 'b/empty'), { recursive: true });
  return fixture;
}

const EXTRAS = [
  ['/a/link', 'link', 'run.sh'],
  ['/a/run.sh', 'executable'],
  ['/b/empty', 'folder'],
];

test('they are no files, links still count as left out, and those that lead out are nothing at all', async () => {
  const fixture = await withExtras();
  const { files, extras, skipped, isComplete } = await fixture.snapshot();
  expect(files.map(({ path }) => path)).toEqual(['/a/plain.txt', '/a/run.sh', '/z.txt']);
  expect(isComplete).toBe(false);
  expect(readExtras(extras!)).toEqual(EXTRAS);
  expect(skipped).toEqual({ ...NOTHING, links: 2 });
});

test('links that they have are in no way left out of a workspace; more than they hold is', async () => {
  const fixture = await snapshotFixture({ beside: shared() });
  write(fixture, { 'a.txt': 'one' });
  symlinkSync('a.txt', join(fixture.root, 'link'));
  expect(await fixture.snapshot()).toMatchObject({ skipped: { links: 1 }, isComplete: true });
  const target = 't'.repeat(3_000);
  for (let at = 0; at < 100; at += 1) symlinkSync(target, join(fixture.root, `more-${at}`));
  expect(await fixture.snapshot()).toMatchObject({ skipped: { links: 101 }, isComplete: false });
});

test('a workspace of plain files has none', async () => {
  const fixture = await snapshotFixture({ beside: shared() });
  write(fixture, { 'a.txt': 'one', 'b/c.txt': 'two' });
  expect('extras' in (await fixture.snapshot())).toBe(false);
});

test('they are reported when they differ from what is recorded, whether its look is known or not', async () => {
  const fixture = await withExtras();
  const first = await fixture.snapshot();
  const recorded = { token: first.token, extras: first.extras!, read: async () => first.files };
  for (const look of [await fixture.snapshot({ recorded }), await fixture.restarted({ recorded })])
    expect([look.files, look.gone, 'extras' in look]).toEqual([[], [], false]);
  // Only the mode of a file has changed.
  const known = await fixture.snapshot({ recorded });
  const again = { ...recorded, token: known.token };
  chmodSync(join(fixture.root, 'z.txt'), 0o700);
  for (const look of [await fixture.snapshot({ recorded: again }), await fixture.restarted({ recorded: again })]) {
    expect([look.files, look.gone]).toEqual([[], []]);
    expect(look.token).not.toBe(known.token);
    expect(readExtras(look.extras!)).toEqual([...EXTRAS, ['/z.txt', 'executable']]);
  }
  for (const name of ['a/run.sh', 'a/link', 'z.txt', 'b']) rmSync(join(fixture.root, name), { recursive: true });
  expect((await fixture.snapshot({ recorded: again })).extras).toBeNull();
});

test('what a thread of an earlier version knew of files is used, and its look is not', async () => {
  const fixture = await withExtras();
  const first = await fixture.snapshot();
  const recorded = { token: first.token, extras: null, read: async () => first.files };
  expect(readExtras((await fixture.restarted({ recorded })).extras!)).toEqual(EXTRAS);
});

test('very many are recorded up to a limit', async () => {
  const fixture = await snapshotFixture({ beside: shared() });
  const long = 'x'.repeat(200);
  for (let at = 0; at < 2_000; at += 1) mkdirSync(join(fixture.root, `${long}-${at}`));
  const { extras } = await fixture.snapshot();
  expect(extras!.length).toBeLessThanOrEqual(262_144);
  expect(readExtras(extras!).length).toBeGreaterThan(1_000);
});

test.each([
  ['/link', 'a', true],
  ['/link', './a/b/', true],
  ['/a/link', '../b', true],
  ['/a/b/link', '../../c', true],
  ['/link', '.', true],
  ['/link', '', false],
  ['/link', '/workspace/a', false],
  ['/link', '..', false],
  ['/a/link', '../../b', false],
  // The folder may be a link itself.
  ['/a/link', 'b/../c', false],
])('a link at %s to %s: it stays inside: %s', (path, target, stays) => {
  expect(staysInside(path, target)).toBe(stays);
});

test('rows that contradict each other lay nothing out through a link, or below a file', () => {
  const sha256 = 'x';
  const files = [
    { path: '/a/b', size: 1, sha256 },
    { path: '/f', size: 1, sha256 },
  ];
  const wanted = wantedOf(
    files,
    JSON.stringify([
      ['/a', 'link', 'elsewhere'],
      ['/f', 'folder'],
      ['/f/below', 'folder'],
      ['/gone', 'executable'],
      ['/l', 'link', 'x'],
      ['/l/below', 'folder'],
      ['/l/other', 'link', 'y'],
      ['/out', 'link', '../../etc'],
      ['/e/link', 'link', '../a'],
    ]),
  );
  expect([...wanted.links]).toEqual([
    ['/l', 'x'],
    ['/e/link', '../a'],
  ]);
  expect(wanted.emptyFolders).toEqual([]);
  expect([...wanted.folders]).toEqual(['/a', '/e']);
});
