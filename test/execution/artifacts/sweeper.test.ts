// The clean-up after deleted sessions: what goes, what stays, and that nothing outside is ever touched.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, expect, test, vi } from 'vitest';
import { makeBlobRemoval } from '../../../src/execution/artifacts/artifact-parts.ts';
import { makeOrphanedBlobs } from '../../../src/execution/artifacts/orphaned-blobs.ts';
import { makeSweeper } from '../../../src/execution/artifacts/sweeper.ts';
import { type BlobStore, openBlobStore } from '../../../src/files/blobs/blobs.ts';
import { makeWorkspaces } from '../../../src/files/workspaces.ts';
import { makeLog } from '../../../src/log/log.ts';
import { fenceOf, storeHouse } from '../../support/store/store-house.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { longestTurnMsOf } from '../../support/time/cpu-time.ts';
import { waitFor } from '../../support/time/wait-for.ts';

async function sweepHouse() {
  const house = await storeHouse();
  const directory = temporaryDirectory({ 'outside/kept.txt': 'kept' });
  const workspacesDirectory = join(directory, 'workspaces');
  mkdirSync(workspacesDirectory);
  const forgotten: string[] = [];
  const blobs: BlobStore = await openBlobStore(join(directory, 'blobs'));
  const parts = {
    store: house.store,
    blobs,
    snapshotThread: { forget: async (sessionId: string) => void forgotten.push(sessionId) },
    workspaces: makeWorkspaces({ directory: workspacesDirectory, blobs, owner: null }),
    beforeErasing: async () => undefined,
    clock: house.clock,
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
    ...house,
    parts,
    blobs,
    sweeper,
    forgotten,
    put,
    attach,
    outside: join(directory, 'outside'),
    workspaceOf: (sessionId: string) => join(workspacesDirectory, sessionId),
    left: () => house.store.sessions.listCleanups(0, 100),
    hasBlob: (key: string) => existsSync(join(directory, 'blobs', key.slice(0, 2), key)),
  };
}

test('workspace and blobs go, but not what links lead to and not the blobs that others refer to', async () => {
  const house = await sweepHouse();
  const [own, shared] = [await house.put('own'), await house.put('shared')];
  const gone = await house.accept({ attachments: [house.attach('a', own), house.attach('b', shared)] });
  const stays = await house.accept({ attachments: [house.attach('c', shared)] });
  for (const { sessionId } of [gone, stays]) {
    mkdirSync(join(house.workspaceOf(sessionId), 'deep/er'), { recursive: true });
    writeFileSync(join(house.workspaceOf(sessionId), 'deep/er/file'), 'x');
    symlinkSync(house.outside, join(house.workspaceOf(sessionId), 'link'));
  }
  await house.store.sessions.deleteSession(gone.sessionSeq);
  house.sweeper.wake();
  await waitFor(async () => (await house.left()).length === 0);
  expect(existsSync(house.workspaceOf(gone.sessionId))).toBe(false);
  expect(existsSync(house.workspaceOf(stays.sessionId))).toBe(true);
  expect([house.hasBlob(own), house.hasBlob(shared)]).toEqual([false, true]);
  expect(readFileSync(join(house.outside, 'kept.txt'), 'utf8')).toBe('kept');
  await house.store.sessions.deleteSession(stays.sessionSeq);
  house.sweeper.wake();
  await waitFor(async () => (await house.left()).length === 0);
  expect(house.hasBlob(shared)).toBe(false);
});

test('a workspace that is itself a link is unlinked, and what it leads to stays', async () => {
  const house = await sweepHouse();
  const { sessionSeq, sessionId } = await house.accept();
  symlinkSync(house.outside, house.workspaceOf(sessionId));
  await house.store.sessions.deleteSession(sessionSeq);
  house.sweeper.wake();
  await waitFor(async () => (await house.left()).length === 0);
  expect(existsSync(house.workspaceOf(sessionId))).toBe(false);
  expect(readFileSync(join(house.outside, 'kept.txt'), 'utf8')).toBe('kept');
});

test('a blob that a turn being accepted has put stays, and the clean-up is tried again after a minute', async () => {
  const house = await sweepHouse();
  const key = await house.put('wanted');
  const { sessionSeq } = await house.accept({ attachments: [house.attach('a', key)] });
  const hold = house.blobs.hold();
  await hold.put(Buffer.from('wanted'));
  await house.store.sessions.deleteSession(sessionSeq);
  house.sweeper.wake();
  await house.sweeper.stop();
  expect([house.hasBlob(key), (await house.left()).length]).toEqual([true, 1]);
  const later = makeSweeper(house.parts);
  onTestFinished(() => later.stop());
  later.wake();
  // The hold is released once the turn refers to the blob: then it is in use, and the clean-up is complete.
  await house.accept({ attachments: [house.attach('b', key)] });
  hold.release();
  await waitFor(async () => {
    house.clock.advance(60_000);
    return (await house.left()).length === 0;
  });
  expect(house.hasBlob(key)).toBe(true);
});

test('what fails does not keep the others from being cleaned up, and is tried again', async () => {
  const house = await sweepHouse();
  const [first, second] = [await house.accept(), await house.accept()];
  for (const { sessionSeq } of [first, second]) await house.store.sessions.deleteSession(sessionSeq);
  let failing = true;
  const { workspaces } = house.parts;
  const sweeper = makeSweeper({
    ...house.parts,
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
  await waitFor(async () => (await house.left()).length === 1);
  expect(await house.left()).toMatchObject([{ sessionId: first.sessionId }]);
  failing = false;
  await waitFor(async () => {
    house.clock.advance(60_000);
    return (await house.left()).length === 0;
  });
});

test('more clean-ups than a page holds are all done', async () => {
  const house = await sweepHouse();
  const runs = await Promise.all(Array.from({ length: 120 }, () => house.accept()));
  await Promise.all(runs.map(({ sessionSeq }) => house.store.sessions.deleteSession(sessionSeq)));
  house.sweeper.wake();
  await waitFor(async () => (await house.left()).length === 0);
});

test('blobs that a crash left without a row go after a start; those in use or held stay', async () => {
  const house = await sweepHouse();
  const [used, left] = [await house.put('used'), await house.put('left')];
  await house.accept({ attachments: [house.attach('a', used)] });
  const hold = house.blobs.hold();
  const held = await hold.put(Buffer.from('held'));
  const orphanedBlobs = makeOrphanedBlobs(house.parts);
  onTestFinished(orphanedBlobs.stop);
  orphanedBlobs.wake();
  await waitFor(() => !house.hasBlob(left));
  expect([house.hasBlob(used), house.hasBlob(held)]).toEqual([true, true]);
  hold.release();
});

test('keys behind one that fails are removed with the next ones, and the one that fails is in nobody’s way', async () => {
  const house = await sweepHouse();
  const keys = await Promise.all(['a', 'b', 'c'].map(house.put));
  vi.spyOn(house.store.sessions, 'isBlobInUse').mockImplementation(async (key) => {
    if (key === keys[0]) throw new Error('stuck');
    return false;
  });
  const removal = makeBlobRemoval(house);
  await expect(removal.remove(keys)).rejects.toThrow('stuck');
  await removal.remove([]);
  expect(keys.map(house.hasBlob)).toEqual([true, false, false]);
});

test('what was hashed of a deleted session is forgotten', async () => {
  const house = await sweepHouse();
  const { sessionSeq, sessionId } = await house.accept();
  await house.store.sessions.deleteSession(sessionSeq);
  house.sweeper.wake();
  await waitFor(async () => (await house.left()).length === 0);
  expect(house.forgotten).toEqual([sessionId]);
});

test('the end of a hold on blobs triggers the clean-ups only when one was left over', async () => {
  const house = await sweepHouse();
  const looked = vi.spyOn(house.store.sessions, 'listCleanups');
  house.sweeper.wake();
  await waitFor(() => looked.mock.calls.length === 1);
  await house.sweeper.stop();
  const sweeper = makeSweeper(house.parts);
  onTestFinished(() => sweeper.stop());
  for (let run = 0; run < 5; run += 1) sweeper.notice('blobs released');
  expect(looked).toHaveBeenCalledTimes(1);

  const key = await house.put('wanted');
  const { sessionSeq } = await house.accept({ attachments: [house.attach('a', key)] });
  const hold = house.blobs.hold();
  hold.add(key);
  await house.store.sessions.deleteSession(sessionSeq);
  sweeper.wake();
  await waitFor(() => house.forgotten.length === 1);
  expect(house.hasBlob(key)).toBe(true);
  hold.release();
  sweeper.notice('blobs released');
  await waitFor(() => !house.hasBlob(key));
});

test('texts of a deleted session and text that was thrown away leave the database with a sweep', async () => {
  const house = await sweepHouse();
  const { runs, sessions } = house.store;
  const [gone, stays] = [await house.accept(), await house.accept()];
  for (const run of await house.claim(2)) {
    const text = run.seq === gone.seq ? 'Ushant' : 'Brest';
    await runs.appendStream(fenceOf(run), [
      { type: 'content_block_start', payload: { index: 0 } },
      { type: 'content_block_delta', payload: { index: 0, text } },
    ]);
    await runs.interrupt(fenceOf(run), 'crash');
  }
  await sessions.deleteSession(gone.sessionSeq);
  house.sweeper.wake();
  const holding = (text: string) => house.rows(`SELECT 1 FROM events WHERE instr(payload, '${text}')`).length;
  await waitFor(async () => (await house.left()).length === 0);
  expect([holding('Ushant'), holding('Brest')]).toEqual([0, 1]);
  // A reader who rejoins within a day gets what others have seen.
  await waitFor(() => {
    house.clock.advance(3_600_000);
    return holding('Brest') === 0;
  });
  const contents = house.rows('SELECT run_seq, content FROM messages ORDER BY run_seq');
  expect(contents).toEqual([
    { run_seq: gone.seq, content: '[]' },
    { run_seq: stays.seq, content: expect.stringContaining('tides') as string },
  ]);
});

test('a session of very many files, also of the same content, is cleaned up in short turns', {
  timeout: 120_000,
}, async () => {
  const house = await sweepHouse();
  const { sessionSeq } = await house.accept();
  for (const [folder, content] of [
    ['different', "printf('%064x', i)"],
    ['same', "printf('%064x', 0)"],
  ])
    house.change(`WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 100000)
      INSERT INTO workspace_files (session_seq, path, sha256, size)
      SELECT ${sessionSeq}, '/${folder}/' || printf('%06d', i), ${content}, 1 FROM numbers`);
  await house.store.sessions.deleteSession(sessionSeq);
  const erased: number[] = [];
  const { finishCleanup } = house.store.erasures;
  vi.spyOn(house.store.erasures, 'finishCleanup').mockImplementation(async (seq) => {
    const keys = await finishCleanup(seq);
    erased.push(keys?.length ?? 0);
    return keys;
  });
  const longest = await longestTurnMsOf(async () => {
    house.sweeper.wake();
    await waitFor(async () => (await house.left()).length === 0, { everyMs: 100 });
  });
  expect(house.rows('SELECT 1 FROM workspace_files')).toEqual([]);
  expect(Math.max(...erased)).toBe(1_000);
  expect(longest).toBeLessThan(50);
});

test('while a backup holds all blobs, the rows of a deleted session stay but for a few', async () => {
  const house = await sweepHouse();
  const sessions = await Promise.all(Array.from({ length: 3 }, () => house.accept()));
  for (const { sessionSeq } of sessions) {
    house.change(`WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 2500)
      INSERT INTO workspace_files (session_seq, path, sha256, size)
      SELECT ${sessionSeq}, '/' || i, printf('%064x', i), 1 FROM numbers`);
    await house.store.sessions.deleteSession(sessionSeq);
  }
  const backup = house.blobs.holdRest();
  const removed = vi.spyOn(house.blobs, 'removeUnless');
  house.sweeper.wake();
  await waitFor(() => house.forgotten.length === 3);
  await waitFor(() => removed.mock.calls.length === 3_000);
  expect(house.rows('SELECT 1 FROM workspace_files')).toHaveLength(3 * 1_500);
  expect(await house.left()).toHaveLength(3);
  backup.release();
  house.sweeper.notice('blobs released');
  await waitFor(async () => (await house.left()).length === 0);
});

test('a start continues the clean-ups that an earlier process has left', async () => {
  const house = await sweepHouse();
  const { sessionSeq } = await house.accept();
  await house.store.sessions.deleteSession(sessionSeq);
  house.sweeper.wake();
  await waitFor(async () => (await house.left()).length === 0);
});
