import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeTree } from '../../src/disk/remove-beneath.ts';
import { makeTemporaryFolder, removeOrphanedFolders } from '../../src/disk/temporary-folder.ts';
import { makeChain, namesOf } from '../support/files/chain.ts';

test('folders of a process that has ended are removed, and those of a live one stay', async () => {
  const own = await makeTemporaryFolder('check');
  onTestFinished(() => rmSync(own, { recursive: true, force: true }));
  const place = dirname(own);
  const gone = String(spawnSync('true').pid);
  const [, , namespace, pid, start] = basename(own).split('-');
  expect(pid).toBe(String(process.pid));
  const of = (...parts: (string | undefined)[]) => join(place, `errand-check-${parts.join('-')}-left`);
  const orphaned = [of(namespace, gone, start), of(namespace, pid, '1')];
  const kept = [of('1', gone, start), own];
  for (const folder of [...orphaned, ...kept]) {
    mkdirSync(folder, { recursive: true });
    onTestFinished(() => removeTree(folder));
    writeFileSync(join(folder, 'file'), 'x');
    // What a command has made there may have a longer path than a system call takes.
    if (!kept.includes(folder)) makeChain(folder, namesOf(20, 255));
  }
  await removeOrphanedFolders();
  expect([orphaned.map((folder) => existsSync(folder)), kept.map((folder) => existsSync(folder))]).toEqual([
    [false, false],
    [true, true],
  ]);
});
