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
import { artifactFixture } from '../support/files/artifact-fixture.ts';
import { openBlobsInFiles } from '../support/files/blobs-in-files.ts';
import { waitFor } from '../support/time/wait-for.ts';

async function orphanFixture() {
  const fixture = await artifactFixture();
  const collector = fixture.collect();
  const run = await fixture.begin();
  fixture.write(run, { 'tide.txt': 'high' });
  await fixture.end(run);
  collector.wake(run.sessionSeq);
  await waitFor(async () => (await fixture.exportOf(run)).archive !== null);
  const dataDir = dirname(dirname(fixture.workspaces.pathOf(run.sessionId)));
  // Of the system's clock, by which files have their times: two hours on.
  const later = { ...systemClock, now: () => Date.now() + 2 * ORPHAN_AGE_MS };
  const parts = { ...fixture, dataDir, clock: later, log: makeLog({ level: 'fatal' }) };
  const files = await openBlobsInFiles(join(dataDir, 'blobs'));
  const blob = async (content: string) => {
    const hold = fixture.blobs.hold();
    const key = await files.hold().put(Buffer.from(content));
    hold.add(key);
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
  return { ...fixture, parts, run, blob, workspace, sweep };
}

test('what no row names is counted, and goes; what sessions have, and what someone holds, stays', async () => {
  const fixture = await orphanFixture();
  const before = fixture.blobKeys();
  const [orphan, held] = [await fixture.blob('nobody’s'), await fixture.blob('about to be recorded')];
  orphan.release();
  const [one, retired] = [fixture.workspace(newId()), fixture.workspace(`.retired-${newId()}`)];
  const foreign = fixture.workspace('notes of an administrator');
  const report = await makeOrphans(fixture.parts).report();
  expect(report).toMatchObject({ blobs: 1, bytes: Buffer.byteLength('nobody’s'), workspaces: 2, isAtLeast: false });
  expect(report.examples).toContainEqual({ kind: 'blob', name: orphan.key, bytes: report.bytes });
  expect(await fixture.sweep()).toBe(3);
  expect([orphan.path, one, retired].filter((path) => existsSync(path))).toEqual([]);
  expect([held.path, foreign, fixture.workspaces.pathOf(fixture.run.sessionId)].every((path) => existsSync(path))).toBe(
    true,
  );
  expect(fixture.blobKeys()).toEqual([...before, held.key].sort());
  expect(await makeOrphans(fixture.parts).report()).toMatchObject({ blobs: 0, workspaces: 0 });
});

test('what is younger than an hour stays: its row may be on the way', async () => {
  const fixture = await orphanFixture();
  const orphan = await fixture.blob('nobody’s');
  orphan.release();
  fixture.workspace(newId());
  // A time in the past that someone has set does not make it old.
  utimesSync(orphan.path, 1, 1);
  const now = makeOrphans({ ...fixture.parts, clock: systemClock });
  expect(await now.report()).toMatchObject({ blobs: 0, workspaces: 0 });
});

test('files of a deleted session are left to its clean-up, and found when they come back after it', async () => {
  const fixture = await orphanFixture();
  const { sessionId, sessionSeq } = fixture.run;
  await fixture.store.sessions.deleteSession(sessionSeq);
  expect(await makeOrphans(fixture.parts).report()).toMatchObject({ blobs: 0, workspaces: 0 });
  const root = fixture.workspaces.pathOf(sessionId);
  renameSync(root, `${root}.aside`);
  let after: number | null = 0;
  while (after !== null) after = await fixture.store.erasures.eraseRuns(sessionSeq, after);
  while (await fixture.store.erasures.eraseSession(sessionSeq));
  for (let keys: readonly string[] | null = []; keys !== null; )
    keys = await fixture.store.erasures.finishCleanup(sessionSeq);
  renameSync(`${root}.aside`, root);
  expect(await fixture.sweep()).toBeGreaterThan(1);
  expect([fixture.blobKeys(), existsSync(root)]).toEqual([[], false]);
});

test('a small blob that no row lists is counted, and goes, unless someone holds it', async () => {
  const fixture = await orphanFixture();
  const before = fixture.blobKeys();
  const [left, held] = ['a', 'b'].map((digit) => digit.repeat(64));
  for (const key of [left, held]) fixture.change(`INSERT INTO small_blobs (key, bytes) VALUES ('${key}', X'00')`);
  fixture.blobs.hold().add(held!);
  const report = await makeOrphans(fixture.parts).report();
  expect(report).toMatchObject({ blobs: 2, bytes: 2, workspaces: 0 });
  expect(report.examples).toContainEqual({ kind: 'row', name: left, bytes: 1 });
  expect(await fixture.sweep()).toBe(1);
  expect(fixture.blobKeys()).toEqual([...before, held!].sort());
});
