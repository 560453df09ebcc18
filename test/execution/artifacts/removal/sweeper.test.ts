// The clean-up after deleted sessions: what goes, what stays, and that nothing outside is ever touched.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, expect, test, vi } from 'vitest';
import { ErrandError } from '../../../../src/domain/errors.ts';
import { makeBlobRemoval } from '../../../../src/execution/artifacts/artifact-parts.ts';
import { makeOrphanedBlobs } from '../../../../src/execution/artifacts/removal/orphaned-blobs.ts';
import { makeSweeper } from '../../../../src/execution/artifacts/removal/sweeper.ts';
import type { BlobStore } from '../../../../src/files/blobs/blobs.ts';
import { openBlobsInFiles } from '../../../support/files/blobs-in-files.ts';
import { makeWorkspaces } from '../../../../src/files/workspaces.ts';
import { makeLog } from '../../../../src/log/log.ts';
import { fenceOf, storeFixture } from '../../../support/store/store-fixture.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { longestTurnMsOf } from '../../../support/time/cpu-time.ts';
import { waitFor } from '../../../support/time/wait-for.ts';

async function sweepFixture() {
  const fixture = await storeFixture();
  const directory = temporaryDirectory({ 'outside/kept.txt': 'kept' });
  const workspacesDirectory = join(directory, 'workspaces');
  mkdirSync(workspacesDirectory);
  const forgotten: string[] = [];
  const blobs: BlobStore = await openBlobsInFiles(join(directory, 'blobs'));
  const parts = {
    isShared: false,
    store: fixture.store,
    blobs,
    snapshotThread: { forget: async (sessionId: string) => void forgotten.push(sessionId) },
    workspaces: makeWorkspaces({ directory: workspacesDirectory, blobs, owner: null }),
    beforeErasing: async () => undefined,
    clock: fixture.clock,
    log: makeLog({ level: 'fatal' }),
  };
  const put = async (text: string) => {
    const hold = blobs.hold();
    const key = await hold.put(Buffer.from(text));
    hold.release();
    return key;
  };
  const attach = (id: string, sha256: string) => ({
    id,
    name: 'a.txt',
    path: `attachments/${id}/a.txt`,
    mimeType: 'text/plain',
    size: 1,
    sha256,
  });
  const sweeper = makeSweeper(parts);
  onTestFinished(() => sweeper.stop());
  return {
    ...fixture,
    parts,
    blobs,
    sweeper,
    forgotten,
    put,
    attach,
    outside: join(directory, 'outside'),
    workspaceOf: (sessionId: string) => join(workspacesDirectory, sessionId),
    left: () => fixture.store.sessions.listCleanups(0, 100),
    hasBlob: (key: string) => existsSync(join(directory, 'blobs', key.slice(0, 2), key)),
  };
}

test('workspace and blobs go, but not what links lead to and not the blobs that others refer to', async () => {
  const fixture = await sweepFixture();
  const [own, shared] = [await fixture.put('own'), await fixture.put('shared')];
  const gone = await fixture.accept({ attachments: [fixture.attach('a', own), fixture.attach('b', shared)] });
  const stays = await fixture.accept({ attachments: [fixture.attach('c', shared)] });
  for (const { sessionId } of [gone, stays]) {
    mkdirSync(join(fixture.workspaceOf(sessionId), 'deep/er'), { recursive: true });
    writeFileSync(join(fixture.workspaceOf(sessionId), 'deep/er/file'), 'x');
    symlinkSync(fixture.outside, join(fixture.workspaceOf(sessionId), 'link'));
  }
  await fixture.store.sessions.deleteSession(gone.sessionSeq);
  fixture.sweeper.wake();
  await waitFor(async () => (await fixture.left()).length === 0);
  expect(existsSync(fixture.workspaceOf(gone.sessionId))).toBe(false);
  expect(existsSync(fixture.workspaceOf(stays.sessionId))).toBe(true);
  expect([fixture.hasBlob(own), fixture.hasBlob(shared)]).toEqual([false, true]);
  expect(readFileSync(join(fixture.outside, 'kept.txt'), 'utf8')).toBe('kept');
  await fixture.store.sessions.deleteSession(stays.sessionSeq);
  fixture.sweeper.wake();
  await waitFor(async () => (await fixture.left()).length === 0);
  expect(fixture.hasBlob(shared)).toBe(false);
});

test('a workspace that is itself a link is unlinked, and what it leads to stays', async () => {
  const fixture = await sweepFixture();
  const { sessionSeq, sessionId } = await fixture.accept();
  symlinkSync(fixture.outside, fixture.workspaceOf(sessionId));
  await fixture.store.sessions.deleteSession(sessionSeq);
  fixture.sweeper.wake();
  await waitFor(async () => (await fixture.left()).length === 0);
  expect(existsSync(fixture.workspaceOf(sessionId))).toBe(false);
  expect(readFileSync(join(fixture.outside, 'kept.txt'), 'utf8')).toBe('kept');
});

test('a blob that a turn being accepted has put stays, and the clean-up is tried again after a minute', async () => {
  const fixture = await sweepFixture();
  const key = await fixture.put('wanted');
  const { sessionSeq } = await fixture.accept({ attachments: [fixture.attach('a', key)] });
  const hold = fixture.blobs.hold();
  await hold.put(Buffer.from('wanted'));
  await fixture.store.sessions.deleteSession(sessionSeq);
  fixture.sweeper.wake();
  await fixture.sweeper.stop();
  expect([fixture.hasBlob(key), (await fixture.left()).length]).toEqual([true, 1]);
  const later = makeSweeper(fixture.parts);
  onTestFinished(() => later.stop());
  later.wake();
  // The hold is released once the turn refers to the blob: then it is in use, and the clean-up is complete.
  await fixture.accept({ attachments: [fixture.attach('b', key)] });
  hold.release();
  await waitFor(async () => {
    fixture.clock.advance(60_000);
    return (await fixture.left()).length === 0;
  });
  expect(fixture.hasBlob(key)).toBe(true);
});

test('what fails does not keep the others from being cleaned up, and is tried again', async () => {
  const fixture = await sweepFixture();
  const [first, second] = [await fixture.accept(), await fixture.accept()];
  for (const { sessionSeq } of [first, second]) await fixture.store.sessions.deleteSession(sessionSeq);
  let failing = true;
  const { workspaces } = fixture.parts;
  const sweeper = makeSweeper({
    ...fixture.parts,
    workspaces: {
      ...workspaces,
      remove: async (sessionId) => {
        if (failing && sessionId === first.sessionId) throw new Error('The disk says no.');
        await workspaces.remove(sessionId);
      },
    },
  });
  onTestFinished(() => sweeper.stop());
  sweeper.wake();
  await waitFor(async () => (await fixture.left()).length === 1);
  expect(await fixture.left()).toMatchObject([{ sessionId: first.sessionId }]);
  failing = false;
  await waitFor(async () => {
    fixture.clock.advance(60_000);
    return (await fixture.left()).length === 0;
  });
});

test('more clean-ups than a page holds are all done', async () => {
  const fixture = await sweepFixture();
  const runs = await Promise.all(Array.from({ length: 120 }, () => fixture.accept()));
  await Promise.all(runs.map(({ sessionSeq }) => fixture.store.sessions.deleteSession(sessionSeq)));
  fixture.sweeper.wake();
  await waitFor(async () => (await fixture.left()).length === 0);
});

test('blobs that a crash left without a row go after a start; those in use or held stay', async () => {
  const fixture = await sweepFixture();
  const [used, left] = [await fixture.put('used'), await fixture.put('left')];
  await fixture.accept({ attachments: [fixture.attach('a', used)] });
  const hold = fixture.blobs.hold();
  const held = await hold.put(Buffer.from('held'));
  const orphanedBlobs = makeOrphanedBlobs({ ...fixture.parts, list: fixture.blobs.listHere });
  onTestFinished(orphanedBlobs.stop);
  orphanedBlobs.wake();
  await waitFor(() => !fixture.hasBlob(left));
  expect([fixture.hasBlob(used), fixture.hasBlob(held)]).toEqual([true, true]);
  await orphanedBlobs.settled();
  hold.release();
  await waitFor(() => {
    fixture.clock.advance(60_000);
    return !fixture.hasBlob(held);
  });
  expect(fixture.hasBlob(used)).toBe(true);
});

test('keys that are held are removed by themselves when they no longer are', async () => {
  const fixture = await sweepFixture();
  const key = await fixture.put('held');
  const hold = fixture.blobs.hold();
  hold.add(key);
  const { signal: stopping } = new AbortController();
  await makeBlobRemoval({ ...fixture.parts, store: fixture.store, stopping }).remove([key]);
  fixture.clock.advance(60_000);
  await new Promise(setImmediate);
  expect(fixture.hasBlob(key)).toBe(true);
  hold.release();
  await waitFor(() => {
    fixture.clock.advance(60_000);
    return !fixture.hasBlob(key);
  });
});

test('keys that storage refuses to remove are removed by themselves when it is back', async () => {
  const fixture = await sweepFixture();
  const keys = await Promise.all(['a', 'b'].map(fixture.put));
  const away = new ErrandError('unavailable', 'The database is not reachable.');
  vi.spyOn(fixture.store.sessions, 'isBlobInUse').mockRejectedValueOnce(away);
  const { signal: stopping } = new AbortController();
  const removal = makeBlobRemoval({ ...fixture.parts, store: fixture.store, stopping });
  await expect(removal.remove(keys)).rejects.toThrow(away);
  expect(keys.map(fixture.hasBlob)).toEqual([true, false]);
  fixture.clock.advance(5_000);
  await waitFor(() => !fixture.hasBlob(keys[0]!));
});

test('keys behind one that fails are removed, and the one that fails is in nobody’s way', async () => {
  const fixture = await sweepFixture();
  const keys = await Promise.all(['a', 'b', 'c'].map(fixture.put));
  vi.spyOn(fixture.store.sessions, 'isBlobInUse').mockImplementation(async (key) => {
    if (key === keys[0]) throw new Error('stuck');
    return false;
  });
  const { signal: stopping } = new AbortController();
  const removal = makeBlobRemoval({ ...fixture.parts, store: fixture.store, stopping });
  await expect(removal.remove(keys)).rejects.toThrow('stuck');
  await removal.remove([]);
  expect(keys.map(fixture.hasBlob)).toEqual([true, false, false]);
});

test('what was hashed of a deleted session is forgotten', async () => {
  const fixture = await sweepFixture();
  const { sessionSeq, sessionId } = await fixture.accept();
  await fixture.store.sessions.deleteSession(sessionSeq);
  fixture.sweeper.wake();
  await waitFor(async () => (await fixture.left()).length === 0);
  expect(fixture.forgotten).toEqual([sessionId]);
});

test('the end of a hold on blobs triggers the clean-ups only when one was left over', async () => {
  const fixture = await sweepFixture();
  const looked = vi.spyOn(fixture.store.sessions, 'listCleanups');
  fixture.sweeper.wake();
  await waitFor(() => looked.mock.calls.length === 1);
  await fixture.sweeper.stop();
  const sweeper = makeSweeper(fixture.parts);
  onTestFinished(() => sweeper.stop());
  for (let run = 0; run < 5; run += 1) sweeper.notice('blobs released');
  expect(looked).toHaveBeenCalledTimes(1);

  const key = await fixture.put('wanted');
  const { sessionSeq } = await fixture.accept({ attachments: [fixture.attach('a', key)] });
  const hold = fixture.blobs.hold();
  hold.add(key);
  await fixture.store.sessions.deleteSession(sessionSeq);
  sweeper.wake();
  await waitFor(() => fixture.forgotten.length === 1);
  expect(fixture.hasBlob(key)).toBe(true);
  hold.release();
  sweeper.notice('blobs released');
  await waitFor(() => !fixture.hasBlob(key));
});

test('texts of a deleted session and text that was thrown away leave the database with a sweep', async () => {
  const fixture = await sweepFixture();
  const { runs, sessions } = fixture.store;
  const [gone, stays] = [await fixture.accept(), await fixture.accept()];
  for (const run of await fixture.claim(2)) {
    const text = run.seq === gone.seq ? 'Ushant' : 'Brest';
    await runs.appendStream(fenceOf(run), [
      { type: 'content_block_start', payload: { index: 0 } },
      { type: 'content_block_delta', payload: { index: 0, text } },
    ]);
    await runs.interrupt(fenceOf(run), 'crash');
  }
  await sessions.deleteSession(gone.sessionSeq);
  fixture.sweeper.wake();
  const holding = (text: string) => fixture.rows(`SELECT 1 FROM events WHERE instr(payload, '${text}')`).length;
  await waitFor(async () => (await fixture.left()).length === 0);
  expect([holding('Ushant'), holding('Brest')]).toEqual([0, 1]);
  // A reader who rejoins within a day gets what others have seen.
  await waitFor(() => {
    fixture.clock.advance(3_600_000);
    return holding('Brest') === 0;
  });
  const contents = fixture.rows('SELECT run_seq, content FROM messages ORDER BY run_seq');
  expect(contents).toEqual([
    { run_seq: gone.seq, content: '[]' },
    { run_seq: stays.seq, content: expect.stringContaining('tides') as string },
  ]);
});

test('a session of very many files, also of the same content, is cleaned up in short turns', {
  timeout: 120_000,
}, async () => {
  const fixture = await sweepFixture();
  const { sessionSeq } = await fixture.accept();
  for (const [folder, content] of [
    ['different', "printf('%064x', i)"],
    ['same', "printf('%064x', 0)"],
  ])
    fixture.change(`WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 100000)
      INSERT INTO workspace_files (session_seq, path, sha256, size)
      SELECT ${sessionSeq}, '/${folder}/' || printf('%06d', i), ${content}, 1 FROM numbers`);
  await fixture.store.sessions.deleteSession(sessionSeq);
  const erased: number[] = [];
  const { finishCleanup } = fixture.store.erasures;
  vi.spyOn(fixture.store.erasures, 'finishCleanup').mockImplementation(async (seq) => {
    const keys = await finishCleanup(seq);
    erased.push(keys?.length ?? 0);
    return keys;
  });
  const longest = await longestTurnMsOf(async () => {
    fixture.sweeper.wake();
    await waitFor(async () => (await fixture.left()).length === 0, { everyMs: 100 });
  });
  expect(fixture.rows('SELECT 1 FROM workspace_files')).toEqual([]);
  expect(Math.max(...erased)).toBe(1_000);
  expect(longest).toBeLessThan(50);
});

test('while a backup holds all blobs, the rows of a deleted session stay but for a few', async () => {
  const fixture = await sweepFixture();
  const sessions = await Promise.all(Array.from({ length: 3 }, () => fixture.accept()));
  for (const { sessionSeq } of sessions) {
    fixture.change(`WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 2500)
      INSERT INTO workspace_files (session_seq, path, sha256, size)
      SELECT ${sessionSeq}, '/' || i, printf('%064x', i), 1 FROM numbers`);
    await fixture.store.sessions.deleteSession(sessionSeq);
  }
  const backup = fixture.blobs.holdRest();
  const removed = vi.spyOn(fixture.blobs, 'removeUnless');
  fixture.sweeper.wake();
  await waitFor(() => fixture.forgotten.length === 3);
  await waitFor(() => removed.mock.calls.length === 3_000);
  expect(fixture.rows('SELECT 1 FROM workspace_files')).toHaveLength(3 * 1_500);
  expect(await fixture.left()).toHaveLength(3);
  backup.release();
  fixture.sweeper.notice('blobs released');
  await waitFor(async () => (await fixture.left()).length === 0);
});

test('a start continues the clean-ups that an earlier process has left', async () => {
  const fixture = await sweepFixture();
  const { sessionSeq } = await fixture.accept();
  await fixture.store.sessions.deleteSession(sessionSeq);
  fixture.sweeper.wake();
  await waitFor(async () => (await fixture.left()).length === 0);
});
