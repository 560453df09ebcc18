// Files that no row names: found beside those that are needed, and removed by a pass that someone asked for.
import { existsSync, mkdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { blobPath } from '../../src/files/blobs/blob-place.ts';
import { ORPHAN_AGE_MS } from '../../src/files/orphans.ts';
import { makeLog } from '../../src/log/log.ts';
import { makeOrphans } from '../../src/retention/orphans.ts';
import { removeDue } from '../../src/retention/pass.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { artifactHouse } from '../support/files/artifact-house.ts';
import { waitFor } from '../support/time/wait-for.ts';

async function orphanHouse() {
  const house = await artifactHouse();
  const collector = house.collect();
  const run = await house.begin();
  house.write(run, { 'tide.txt': 'high' });
  await house.end(run);
  collector.wake(run.sessionSeq);
  await waitFor(async () => (await house.exportOf(run)).archive !== null);
  const dataDir = dirname(dirname(house.workspaces.pathOf(run.sessionId)));
  // Of the system's clock, by which files have their times: two hours on.
  const later = { ...systemClock, now: () => Date.now() + 2 * ORPHAN_AGE_MS };
  const parts = { ...house, dataDir, clock: later, log: makeLog({ level: 'fatal' }) };
  const blob = async (content: string) => {
    const hold = house.blobs.hold();
    const key = await hold.put(Buffer.from(content));
    return { key, release: () => void hold.release(), path: blobPath(join(dataDir, 'blobs'), key) };
  };
  const workspace = (name: string) => {
    mkdirSync(join(dataDir, 'workspaces', name), { recursive: true });
    writeFileSync(join(dataDir, 'workspaces', name, 'a.txt'), 'one');
    return join(dataDir, 'workspaces', name);
  };
  const told: Record<string, number> = {};
  const sweep = async () => {
    const { signal: stopping } = new AbortController();
    await removeDue([makeOrphans(parts).due()], {
      clock: systemClock,
      stopping,
      told: (kind, rows) => void (told[kind] = (told[kind] ?? 0) + rows),
    });
    return told['orphans'];
  };
  return { ...house, parts, run, blob, workspace, sweep };
}

test('what no row names is counted, and goes; what sessions have, and what someone holds, stays', async () => {
  const house = await orphanHouse();
  const before = house.blobKeys();
  const [orphan, held] = [await house.blob('nobody’s'), await house.blob('about to be recorded')];
  orphan.release();
  const [one, retired] = [house.workspace(newId()), house.workspace(`.retired-${newId()}`)];
  const foreign = house.workspace('notes of an administrator');
  const report = await makeOrphans(house.parts).report();
  expect(report).toMatchObject({ blobs: 1, bytes: Buffer.byteLength('nobody’s'), workspaces: 2, isAtLeast: false });
  expect(report.examples).toContainEqual({ kind: 'blob', name: orphan.key, bytes: report.bytes });
  expect(await house.sweep()).toBe(3);
  expect([orphan.path, one, retired].filter((path) => existsSync(path))).toEqual([]);
  expect([held.path, foreign, house.workspaces.pathOf(house.run.sessionId)].every((path) => existsSync(path))).toBe(
    true,
  );
  expect(house.blobKeys()).toEqual([...before, held.key].sort());
  expect(await makeOrphans(house.parts).report()).toMatchObject({ blobs: 0, workspaces: 0 });
});

test('what is younger than an hour stays: its row may be on the way', async () => {
  const house = await orphanHouse();
  const orphan = await house.blob('nobody’s');
  orphan.release();
  house.workspace(newId());
  // A time in the past that someone has set does not make it old.
  utimesSync(orphan.path, 1, 1);
  const now = makeOrphans({ ...house.parts, clock: systemClock });
  expect(await now.report()).toMatchObject({ blobs: 0, workspaces: 0 });
});

test('files of a deleted session are left to its clean-up, and found when they come back after it', async () => {
  const house = await orphanHouse();
  const { sessionId, sessionSeq } = house.run;
  await house.store.sessions.deleteSession(sessionSeq);
  expect(await makeOrphans(house.parts).report()).toMatchObject({ blobs: 0, workspaces: 0 });
  const root = house.workspaces.pathOf(sessionId);
  renameSync(root, `${root}.aside`);
  let after: number | null = 0;
  while (after !== null) after = await house.store.erasures.eraseRuns(sessionSeq, after);
  while (await house.store.erasures.eraseSession(sessionSeq));
  for (let keys: readonly string[] | null = []; keys !== null; )
    keys = await house.store.erasures.finishCleanup(sessionSeq);
  renameSync(`${root}.aside`, root);
  expect(await house.sweep()).toBeGreaterThan(1);
  expect([house.blobKeys(), existsSync(root)]).toEqual([[], false]);
});
