// A workspace that moves: what a run finds at another node is what was recorded, and nothing else.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { ErrandError } from '../../../../src/domain/errors.ts';
import type { ClaimedRun } from '../../../../src/store/lifecycle/start-run.ts';
import { storageAway, S3Error } from '../../../../src/files/blobs/s3/s3-error.ts';
import { large } from '../../../support/files/snapshot-fixture.ts';
import { type NodeFixture, type TwoNodes, twoNodes } from '../../../support/files/two-nodes.ts';
import { aStep, fenceOf, FREE } from '../../../support/store/store-fixture.ts';
import { waitFor } from '../../../support/time/wait-for.ts';

let fixture: TwoNodes;

beforeEach(async () => {
  fixture = await twoNodes();
});

/** A turn at a node: its workspace is prepared, the files are changed, and what it left is known. */
async function turn(
  node: NodeFixture,
  files: Readonly<Record<string, string | null>>,
  sessionId: string | null = null,
) {
  const run = await node.begin(sessionId);
  const baseline = node.collector.baselineOf(run);
  expect(await baseline.prepare()).toEqual({ kind: 'ready', hasNotes: false });
  await baseline.take();
  node.write(run, files);
  await fixture.end(run);
  node.collector.wake(run.sessionSeq);
  const own = await waitFor(async () => {
    const found = await fixture.artifactsOf(run);
    return found.status === 'pending' ? null : found;
  });
  return { run, own };
}

/** Prepares the workspace of the session's next run at a node. */
async function prepared(node: NodeFixture, { sessionId }: Pick<ClaimedRun, 'sessionId'>) {
  const run = await node.begin(sessionId);
  const result = await node.collector.baselineOf(run).prepare();
  return { run, result, files: filesOf(node, run) };
}

/** All regular files and links of a workspace, with their contents. */
function filesOf({ workspaces }: NodeFixture, { sessionId }: Pick<ClaimedRun, 'sessionId'>): Record<string, string> {
  const root = workspaces.pathOf(sessionId);
  const found: Record<string, string> = {};
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) found[path.slice(root.length)] = readFileSync(path, 'utf8');
    else if (!entry.isDirectory()) found[path.slice(root.length)] = '';
  }
  return found;
}

const nodeOf = (run: Pick<ClaimedRun, 'sessionSeq'>) =>
  fixture.rows<{ node: string }>(`SELECT workspace_node AS node FROM sessions WHERE seq = ${run.sessionSeq}`)[0]!.node;

test('a run whose files have no room asks for it, and finds them once there is', async () => {
  const { run } = await turn(fixture.north, { 'a.txt': large('one'), 'b.txt': 'two' });
  const { south } = fixture;
  const wanted: number[] = [];
  let keepFreeMb = 2 ** 40;
  const collector = fixture.collect({
    ...south.parts,
    settings: () => ({ ...south.parts.settings(), disk: { ...south.parts.settings().disk, keepFreeMb } }),
    wantsRoom: (bytes) => {
      wanted.push(bytes);
      keepFreeMb = 0;
    },
  });
  const preparing = collector.baselineOf(await south.begin(run.sessionId)).prepare();
  await waitFor(() => wanted.length > 0);
  const result = await waitFor(async () => {
    fixture.clock.advance(5_000);
    return Promise.race([preparing, Promise.resolve(null)]);
  });
  expect(result).toEqual({ kind: 'ready', hasNotes: false });
  expect(wanted).toEqual([large('one').length + 3]);
  expect(filesOf(south, run)).toEqual({ '/a.txt': large('one'), '/b.txt': 'two' });
});

test('the next run finds at another node what the last one has left, large files and small ones', async () => {
  const { north, south } = fixture;
  const files = { 'a.txt': 'one', 'deep/er/b.txt': large('two'), 'deep/c.txt': '' };
  const { run } = await turn(north, files);
  const second = await turn(south, { 'a.txt': 'changed', 'deep/c.txt': null }, run.sessionId);
  expect(nodeOf(run)).toBe('south');
  expect(second.own.files).toMatchObject([{ path: '/a.txt', change: 'modified' }]);
  expect((await fixture.exportOf(run)).files.map(({ path }) => path)).toEqual(['/a.txt', '/deep/er/b.txt']);
  // And back, where an old copy is.
  const third = await prepared(north, run);
  expect(third.files).toEqual({ '/a.txt': 'changed', '/deep/er/b.txt': large('two') });
  expect(nodeOf(run)).toBe('north');
  expect(existsSync(join(north.workspaces.pathOf(run.sessionId), 'deep/er'))).toBe(true);
});

test('what is unchanged in an old copy is neither read again nor written', async () => {
  const { north, south } = fixture;
  const { run } = await turn(north, { 'a.txt': large('one'), 'b.txt': 'two' });
  await turn(south, { 'b.txt': 'new' }, run.sessionId);
  const kept = join(north.workspaces.pathOf(run.sessionId), 'a.txt');
  const { ino } = statSync(kept);
  const { files } = await prepared(north, run);
  expect(files).toEqual({ '/a.txt': large('one'), '/b.txt': 'new' });
  expect(statSync(kept).ino).toBe(ino);
});

describe('what isn’t contents', () => {
  /** A turn at the north that leaves an executable file, links and an empty folder, as a command does. */
  async function withExtras() {
    const { north, south } = fixture;
    const run = await north.begin();
    north.write(run, { 'bin/tool': 'run me', 'a.txt': 'one', 'in/b.txt': large('two') });
    const root = north.workspaces.pathOf(run.sessionId);
    chmodSync(join(root, 'bin/tool'), 0o755);
    symlinkSync('bin/tool', join(root, 'link'));
    symlinkSync('../in', join(root, 'bin/folder'));
    symlinkSync(fixture.directory, join(root, 'out'));
    mkdirSync(join(root, 'none/here'), { recursive: true });
    await fixture.end(run);
    north.collector.wake(run.sessionSeq);
    await waitFor(async () => (await fixture.artifactsOf(run)).status === 'ready');
    return { run, north, south, root, there: south.workspaces.pathOf(run.sessionId) };
  }

  test('moves as well, but links that lead out; clients see files only', async () => {
    const { run, south, there } = await withExtras();
    expect((await fixture.exportOf(run)).files.map(({ path }) => path)).toEqual(['/a.txt', '/bin/tool', '/in/b.txt']);
    const { token } = await fixture.store.artifacts.findWorkspace(run.sessionSeq);
    const next = await south.begin(run.sessionId);
    const baseline = south.collector.baselineOf(next);
    await baseline.prepare();
    const modes = ['bin/tool', 'a.txt'].map((path) => statSync(join(there, path)).mode & 0o777);
    expect(modes).toEqual([0o755, 0o644]);
    expect(['link', 'bin/folder'].map((path) => readlinkSync(join(there, path)))).toEqual(['bin/tool', '../in']);
    expect(readdirSync(join(there, 'none/here'))).toEqual([]);
    expect(readdirSync(there).toSorted()).toEqual(['a.txt', 'bin', 'in', 'link', 'none']);
    await baseline.take();
    expect((await fixture.store.artifacts.findWorkspace(run.sessionSeq)).token).toBe(token);
  });

  test('is put right in an old copy, and what is right stays', async () => {
    const { run, north, south, root, there } = await withExtras();
    const next = await south.begin(run.sessionId);
    await south.collector.baselineOf(next).prepare();
    chmodSync(join(there, 'bin/tool'), 0o600);
    chmodSync(join(there, 'a.txt'), 0o700);
    rmSync(join(there, 'link'));
    symlinkSync('in', join(there, 'link'));
    rmSync(join(there, 'none'), { recursive: true });
    await fixture.end(next);
    south.collector.wake(run.sessionSeq);
    await waitFor(async () => (await fixture.artifactsOf(next)).status === 'ready');
    const { ino } = lstatSync(join(root, 'bin/folder'));
    await prepared(north, run);
    expect(['bin/tool', 'a.txt'].map((path) => statSync(join(root, path)).mode & 0o111)).toEqual([0, 0o111]);
    expect(readlinkSync(join(root, 'link'))).toBe('in');
    expect(lstatSync(join(root, 'bin/folder')).ino).toBe(ino);
    expect(readdirSync(root).toSorted()).toEqual(['a.txt', 'bin', 'in', 'link']);
  });

  test('a link where a file or a folder with files is recorded now is not written through', async () => {
    const { run, north, south, root, there } = await withExtras();
    const next = await south.begin(run.sessionId);
    await south.collector.baselineOf(next).prepare();
    rmSync(join(there, 'link'));
    rmSync(join(there, 'bin/folder'));
    south.write(next, { link: 'a file', 'bin/folder/new.txt': 'new' });
    await fixture.end(next);
    south.collector.wake(run.sessionSeq);
    await waitFor(async () => (await fixture.artifactsOf(next)).status === 'ready');
    const { files } = await prepared(north, run);
    expect(files).toMatchObject({ '/link': 'a file', '/bin/folder/new.txt': 'new', '/bin/tool': 'run me' });
    expect(readdirSync(join(root, 'in'))).toEqual(['b.txt']);
  });
});

test('the first look afterwards finds nothing that differs', async () => {
  const { north, south } = fixture;
  const { run } = await turn(north, { 'a.txt': 'one', 'b/c.txt': large('two') });
  const { token } = await fixture.store.artifacts.findWorkspace(run.sessionSeq);
  const next = await south.begin(run.sessionId);
  const baseline = south.collector.baselineOf(next);
  await baseline.prepare();
  await baseline.take();
  expect((await fixture.store.artifacts.findWorkspace(run.sessionSeq)).token).toBe(token);
});

describe('an old copy', () => {
  async function withOldCopy(make: (root: string) => void) {
    const { north, south } = fixture;
    const { run } = await turn(north, { 'a.txt': 'one', 'in/b.txt': 'two' });
    await turn(south, { 'in/b.txt': 'new' }, run.sessionId);
    make(north.workspaces.pathOf(run.sessionId));
    return prepared(north, run);
  }
  const RECORDED = { '/a.txt': 'one', '/in/b.txt': 'new' };

  test('loses what was laid there by hand, and links, which are not followed', async () => {
    const outside = join(fixture.directory, 'outside.txt');
    writeFileSync(outside, 'safe');
    const { files } = await withOldCopy((root) => {
      writeFileSync(join(root, 'by-hand.txt'), 'hand');
      symlinkSync(outside, join(root, 'link'));
      symlinkSync(fixture.directory, join(root, 'folder'));
      mkdirSync(join(root, 'more/and/more'), { recursive: true });
      writeFileSync(join(root, 'more/and/x'), 'x');
    });
    expect(files).toEqual(RECORDED);
    expect(readFileSync(outside, 'utf8')).toBe('safe');
  });

  test('with a link in the place of a folder is not written through it', async () => {
    const outside = join(fixture.directory, 'elsewhere');
    mkdirSync(outside);
    const { files } = await withOldCopy((root) => {
      rmSync(join(root, 'in'), { recursive: true });
      symlinkSync(outside, join(root, 'in'));
    });
    expect(files).toEqual(RECORDED);
    expect(readdirSync(outside)).toEqual([]);
  });

  test('with a folder in the place of a file, and a file in that of a folder', async () => {
    const { files } = await withOldCopy((root) => {
      rmSync(join(root, 'a.txt'));
      mkdirSync(join(root, 'a.txt/deep'), { recursive: true });
      writeFileSync(join(root, 'a.txt/deep/x'), 'x');
      rmSync(join(root, 'in'), { recursive: true });
      writeFileSync(join(root, 'in'), 'no folder');
    });
    expect(files).toEqual(RECORDED);
  });

  test('that is closed, or has folders that are, is laid out anew', async () => {
    const { files } = await withOldCopy((root) => {
      mkdirSync(join(root, 'closed/inner'), { recursive: true });
      chmodSync(join(root, 'closed'), 0);
      chmodSync(root, 0o500);
    });
    expect(files).toEqual(RECORDED);
  });

  test('of which nothing is recorded any more is emptied', async () => {
    const { north, south } = fixture;
    const { run } = await turn(north, { 'a.txt': 'one' });
    await turn(south, { 'a.txt': null }, run.sessionId);
    expect((await prepared(north, run)).files).toEqual({});
  });
});

test('an agent that goes on elsewhere is told which of its calls have left what is gone', async () => {
  const { north, south } = fixture;
  const { run } = await turn(north, { 'a.txt': 'one' });
  const lost = await north.begin(run.sessionId);
  const calls = [{ id: 'c', name: 'write_file', input: { path: 'b.txt' } }];
  await fixture.store.runs.recordStep(fenceOf(lost), aStep({ calls }), FREE);
  north.write(lost, { 'b.txt': 'two' });
  await north.lose();
  const [again] = await fixture.claim(1, { node: 'south' });
  expect(await south.collector.baselineOf(again!).prepare()).toEqual({ kind: 'ready', hasNotes: true });
  expect(filesOf(south, again!)).toEqual({ '/a.txt': 'one' });
  const [note] = await fixture.store.artifacts.listWorkspaceNotes(run.sessionSeq);
  expect(note).toMatchObject({ runSeq: again!.seq, step: 1 });
  expect(note!.text).toContain('- writes b.txt (step 1)');
  // At its next attempt it is still told.
  await fixture.store.runs.interrupt(fenceOf(again!), 'crash');
  const [third] = await fixture.claim(1, { node: 'south' });
  expect(await south.collector.baselineOf(third!).prepare()).toEqual({ kind: 'ready', hasNotes: true });
});

describe('the attachments of an earlier turn', () => {
  /** A turn with an attachment, which is in the workspace, whose run ends; its node is lost before it is collected. */
  async function lostTurn(sessionId: string | null, id: string, bytes: string) {
    const { north } = fixture;
    const hold = fixture.blobs.hold();
    const sha256 = await hold.put(Buffer.from(bytes));
    const path = `attachments/${id}/a`;
    const attachment = { id, name: `${id}.txt`, path, mimeType: 'text/plain', size: bytes.length, sha256 };
    const content = [{ type: 'attachment', attachmentId: id, media: 'file' } as const];
    const contents = await hold.contents.read([sha256]);
    await fixture.accept({ sessionId, content, attachments: [attachment], contents });
    hold.release();
    const run = (await fixture.claim(1, { node: 'north' }))[0]!;
    const { attachments } = await fixture.store.turns.get(run.seq, 1);
    const options = { quotaBytes: 2 ** 30, hasBegun: false };
    expect(await north.workspaces.placeUploads(run.sessionId, attachments, options)).toBe(true);
    return run;
  }

  test('are laid out again when its run was lost before it was collected, and are no artifacts of the next run', async () => {
    const { north, south } = fixture;
    const { run } = await turn(north, { 'a.txt': 'one' });
    const lost = await lostTurn(run.sessionId, 'small', 'small');
    await fixture.end(lost);
    const other = await lostTurn(run.sessionId, 'large', large('upload'));
    await fixture.end(other);
    await north.lose();
    const next = await south.begin(run.sessionId);
    const baseline = south.collector.baselineOf(next);
    expect(await baseline.prepare()).toMatchObject({ kind: 'ready' });
    const uploads = { '/uploads/small.txt': 'small', '/uploads/large.txt': large('upload') };
    expect(filesOf(south, next)).toEqual({ '/a.txt': 'one', ...uploads });
    await baseline.take();
    await fixture.end(next);
    south.collector.wake(run.sessionSeq);
    const own = await waitFor(async () => {
      const found = await fixture.artifactsOf(next);
      return found.status === 'pending' ? null : found;
    });
    expect(own).toMatchObject({ status: 'ready', files: [] });
    const whole = await fixture.exportOf(next);
    expect(whole.files.map(({ path }) => path)).toEqual(['/a.txt', ...Object.keys(uploads).sort()]);
  });

  test('are laid out when nothing else was ever recorded of the session', async () => {
    const { north, south } = fixture;
    const lost = await lostTurn(null, 'first', 'first');
    await fixture.end(lost);
    await north.lose();
    expect((await prepared(south, lost)).files).toEqual({ '/uploads/first.txt': 'first' });
  });

  test('stay as agents have left them since they were recorded', async () => {
    const { north, south } = fixture;
    const first = await lostTurn(null, 'given', 'given');
    north.write(first, { 'uploads/given.txt': null, 'b.txt': 'two' });
    await fixture.end(first);
    north.collector.wake(first.sessionSeq);
    await waitFor(async () => (await fixture.artifactsOf(first)).status === 'ready');
    await fixture.end(await north.begin(first.sessionId));
    await north.lose();
    expect((await prepared(south, first)).files).toEqual({ '/b.txt': 'two' });
  });
});

test('a session without files costs nothing', async () => {
  const { north, south } = fixture;
  const first = await north.begin();
  await fixture.end(first, undefined, { untouched: true });
  const next = await south.begin(first.sessionId);
  expect(await south.collector.baselineOf(next).prepare()).toEqual({ kind: 'ready', hasNotes: false });
  expect(existsSync(south.workspaces.pathOf(first.sessionId))).toBe(false);
  expect(nodeOf(next)).toBe('south');
});

test('a directory that was lost is laid out again where it was', async () => {
  const { north } = fixture;
  const { run } = await turn(north, { 'a.txt': 'one' });
  rmSync(north.workspaces.pathOf(run.sessionId), { recursive: true });
  expect((await prepared(north, run)).files).toEqual({ '/a.txt': 'one' });
});

test('a content that is lost for good fails the run by the name of its file, and nothing is left half', async () => {
  const { north, south } = fixture;
  const { run } = await turn(north, { 'a.txt': 'one', 'b.txt': large('two') });
  const { sha256 } = (await fixture.exportOf(run)).files.find(({ path }) => path === '/b.txt')!;
  rmSync(join(fixture.directory, 'blobs', sha256.slice(0, 2), sha256));
  const next = await south.begin(run.sessionId);
  const message = 'The workspace of the session cannot be restored: the content of /b.txt is lost.';
  expect(await south.collector.baselineOf(next).prepare()).toMatchObject({ kind: 'failed', error: { message } });
  expect(nodeOf(run)).toBe('north');
  expect(readdirSync(join(south.directory, 'workspaces'))).toEqual([]);
});

test('while the bucket is away, a run waits; it goes back to the queue when that lasts, and is called off at once', async () => {
  const { north, south } = fixture;
  const { run } = await turn(north, { 'b.txt': large('two') });
  let asked = 0;
  const away = storageAway(new S3Error('Away.', { status: null, code: null, isPassing: true }));
  const collector = fixture.collect({
    ...south.parts,
    snapshotThread: {
      ...south.snapshotThread,
      layOut: (request) =>
        south.snapshotThread.layOut({
          ...request,
          bring: async () => {
            asked += 1;
            throw away;
          },
        }),
    },
  });
  const next = await south.begin(run.sessionId);
  const waiting = collector.baselineOf(next).prepare();
  await waitFor(() => {
    fixture.clock.advance(100);
    return asked > 2;
  });
  const result = await waitFor(async () => {
    fixture.clock.advance(5_000);
    return Promise.race([waiting, new Promise<null>((resolve) => void setImmediate(() => resolve(null)))]);
  });
  expect(result).toEqual({ kind: 'away', why: away.message });
  const baseline = collector.baselineOf(next);
  const called = baseline.prepare();
  const before = asked;
  await waitFor(() => asked > before);
  baseline.abort();
  expect(await called).toEqual({ kind: 'ready', hasNotes: false });
  expect(nodeOf(run)).toBe('north');
});

test('without room on the disk, nothing is written', async () => {
  const { north, south } = fixture;
  const { run } = await turn(north, { 'b.txt': large('two') });
  const settings = { ...fixture.settings(), disk: { ...fixture.settings().disk, keepFreeMb: 2 ** 40 } };
  const collector = fixture.collect({ ...south.parts, settings: () => settings });
  const baseline = collector.baselineOf(await south.begin(run.sessionId));
  const waiting = baseline.prepare();
  await waitFor(() => existsSync(join(south.directory, 'workspaces')));
  baseline.abort();
  await waiting;
  expect(existsSync(south.workspaces.pathOf(run.sessionId))).toBe(false);
  expect(nodeOf(run)).toBe('north');
});

test('an attempt that has lost its run moves nothing', async () => {
  const { north, south } = fixture;
  const { run } = await turn(north, { 'a.txt': 'one' });
  const next = await south.begin(run.sessionId);
  await fixture.store.runs.stopSession(next.sessionSeq, 'user_requested_stop');
  expect(await south.collector.baselineOf(next).prepare()).toEqual({ kind: 'fenced' });
  expect(nodeOf(run)).toBe('north');
});

test('an error that will not pass is none to wait for', async () => {
  const { north, south } = fixture;
  const { run } = await turn(north, { 'a.txt': 'one' });
  const layOut = async () => {
    throw new ErrandError('unavailable', 'The work was lost with its thread.');
  };
  const collector = fixture.collect({ ...south.parts, snapshotThread: { ...south.snapshotThread, layOut } });
  await expect(collector.baselineOf(await south.begin(run.sessionId)).prepare()).rejects.toThrow(
    'lost with its thread',
  );
});
