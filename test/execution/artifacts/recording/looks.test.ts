// Looks at workspaces report what differs from what is recorded, and the result is that of a comparison of all files.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { performCall } from '../../../../src/agent/loop/perform-call.ts';
import { openWorkspace } from '../../../../src/agent/loop/run-workspace.ts';
import { openChannel } from '../../../../src/agent/port/signals.ts';
import { TOOLS } from '../../../../src/agent/tools/all-tools.ts';
import type { ExecutedTool } from '../../../../src/agent/port/tool.ts';
import type { JsonObject } from '../../../../src/domain/json.ts';
import { ErrandError } from '../../../../src/domain/errors.ts';
import type { Collector } from '../../../../src/execution/artifacts/collector.ts';
import type { SnapshotRequest, SnapshotThread } from '../../../../src/files/snapshots/snapshot-thread.ts';
import { type ArtifactFixture, artifactFixture, COMPLETED } from '../../../support/files/artifact-fixture.ts';
import { fenceOf } from '../../../support/store/store-fixture.ts';
import { waitFor } from '../../../support/time/wait-for.ts';
import { makeBrief, makeRun } from '../../../agent/play-main.ts';
import { aloneOn } from '../../../agent/run-port.ts';

interface Call {
  readonly name: string;
  readonly input: JsonObject;
}

let fixture: ArtifactFixture;
let collector: Collector;
/** Whether each look was compared with the one before it, or with the recorded files. */
let looks: ('look' | 'files')[];
/** Sessions whose looks are compared with the recorded files. */
let wholly: Set<string>;

beforeEach(async () => {
  fixture = await artifactFixture();
  looks = [];
  wholly = new Set();
  const { snapshotThread } = fixture;
  const watched: SnapshotThread = {
    ...snapshotThread,
    takeSnapshot: async (order: SnapshotRequest) => {
      const recorded = order.recorded!;
      const at = looks.push('look') - 1;
      const read = async () => {
        looks[at] = 'files';
        return recorded.read();
      };
      const token = wholly.has(order.sessionId) ? null : recorded.token;
      return snapshotThread.takeSnapshot({ ...order, recorded: { ...recorded, token, read } });
    },
  };
  collector = fixture.collect({ snapshotThread: watched });
});

/** As a command would, whose effects nobody knows. */
const shell: ExecutedTool = {
  kind: 'executes',
  name: 'shell',
  description: 'Changes files.',
  inputSchema: { type: 'object' },
  execute: async ({ does, path }, { workspace }) => {
    const whole = join(workspace, path as string);
    rmSync(whole, { recursive: true, force: true });
    mkdirSync(dirname(whole), { recursive: true });
    if (does === 'write') writeFileSync(whole, 'by a command');
    if (does === 'link') symlinkSync('/etc/passwd', whole);
    if (does === 'folder') mkdirSync(whole);
    return { ok: true, output: '' };
  },
};
const ALL = [...TOOLS.filter(({ name }) => name !== 'shell'), shell];

/** A run that makes some calls, as its thread would report them. */
async function turn(calls: readonly Call[], sessionId: string | null) {
  const run = await fixture.begin(sessionId);
  const baseline = collector.baselineOf(run);
  await baseline.prepare();
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const brief = await makeBrief({ workspace: fixture.workspaces.pathOf(run.sessionId) });
  const workspace = openWorkspace(brief, async () => void (await baseline.take()));
  const worker = makeRun(brief, openChannel(aloneOn(port2)), { workspace });
  for (const { name, input } of calls)
    await performCall(worker, { tools: ALL, call: { id: 'a', name, input }, fault: undefined });
  const untouched = workspace.isUntouched();
  await fixture.store.runs.end({ ...fenceOf(run), workedMs: 0 }, COMPLETED, { untouched });
  baseline.abort();
  collector.wake(run.sessionSeq);
  const found = await waitFor(async () => {
    const [own, whole] = [await fixture.artifactsOf(run), await fixture.exportOf(run)];
    return own.status !== 'pending' && whole.status !== 'pending' ? { own, whole } : null;
  });
  return { run, ...found };
}

const write = (path: string, content = 'text'): Call => ({ name: 'write_file', input: { path, content } });
const command = (path: string): Call => ({ name: 'shell', input: { path, does: 'write' } });
const list: Call = { name: 'list_files', input: {} };

type Ended = Awaited<ReturnType<typeof turn>>;

/** What clients can see of a turn. Without files, the archive is an empty one, whether it was packed or not. */
function seen({ own, whole }: Ended) {
  const archives = [own.archive?.key, whole.files.length === 0 ? null : whole.archive?.key];
  return { files: own.files, size: own.totalSize, all: whole.files, archives };
}

/** Numbers below a limit, the same for the same seed. */
function dice(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

const PATHS = [
  'a.txt',
  'b/c.txt',
  'b/d/e.txt',
  '/workspace/f',
  'b',
  'g/../a.txt',
  '.errand/x',
  '../out',
  'h/i/j/k',
  'many/0',
  'many/1',
];

function randomCalls(roll: (limit: number) => number): Call[] {
  return Array.from({ length: roll(4) }, () => {
    const path = PATHS[roll(PATHS.length)]!;
    const kind = roll(12);
    if (kind < 6) return write(path, `text ${roll(3)}`);
    if (kind < 9) return { name: 'edit_file', input: { path, old_text: 'text', new_text: `text ${roll(3)}` } };
    if (kind < 10) return list;
    return { name: 'shell', input: { path, does: ['write', 'link', 'folder', 'remove'][roll(4)]! } };
  }).filter(({ name, input }) => name !== 'shell' || !(input['path'] as string).includes('..'));
}

test.each([1, 2, 3, 4])(
  'random runs have the artifacts and the export that a comparison with all recorded files finds (%i)',
  async (seed) => {
    const roll = dice(seed);
    let [known, whole]: [string | null, string | null] = [null, null];
    const first = Array.from({ length: 9 }, (_, at) => write(`many/${at}`));
    for (let count = 0; count < 16; count += 1) {
      const calls = count === 0 ? first : randomCalls(roll);
      const quick: Ended = await turn(calls, known);
      const full: Ended = await turn(calls, whole);
      wholly.add(full.run.sessionId);
      expect(seen(quick), JSON.stringify(calls)).toEqual(seen(full));
      const counted = fixture.rows(
        `SELECT file_count, total_size FROM workspace_exports WHERE session_seq = ${quick.run.sessionSeq}`,
      );
      const total = quick.whole.files.reduce((sum, { size }) => sum + size, 0);
      if (total > 0) expect(counted).toEqual([{ file_count: quick.whole.files.length, total_size: total }]);
      // A run that changed nothing wasn't looked at.
      expect(quick.own.skipped ?? full.own.skipped).toEqual(full.own.skipped);
      [known, whole] = [quick.run.sessionId, full.run.sessionId];
    }
    expect(new Set(looks)).toEqual(new Set(['look', 'files']));
  },
);

test('a workspace is looked at before its first change, unless it is new, and after the run; runs that only read take no look', async () => {
  const { run } = await turn([write('a.txt'), write('b/c.txt')], null);
  // Nothing was recorded before.
  expect(looks).toEqual(['files']);
  await turn([list], run.sessionId);
  expect(looks).toEqual(['files']);
  const third = await turn([list, write('a.txt', 'new'), command('d.txt')], run.sessionId);
  expect(looks).toEqual(['files', 'look', 'look']);
  expect(third.own.files).toMatchObject([
    { path: '/a.txt', change: 'modified' },
    { path: '/d.txt', change: 'added' },
  ]);
  expect(third.whole.files).toHaveLength(3);
});

test('what somebody else has added, changed or removed between two runs belongs to none of them', async () => {
  const { run } = await turn([write('a.txt'), write('b.txt'), write('c.txt')], null);
  fixture.write(run, { 'a.txt': 'by hand', 'in/by-hand.txt': 'hand', 'b.txt': null });
  const second = await turn([write('c.txt', 'new')], run.sessionId);
  expect(second.own.files.map(({ path }) => path)).toEqual(['/c.txt']);
  expect(second.whole.files).toMatchObject([
    { path: '/a.txt', size: 'by hand'.length },
    { path: '/c.txt' },
    { path: '/in/by-hand.txt' },
  ]);
});

describe('a look is compared with the recorded files', () => {
  test('after a record that was lost, or that the store refused', async () => {
    const { artifacts } = fixture.store;
    let isLost = false;
    const recordArtifacts: typeof artifacts.recordArtifacts = async (...given) => {
      if (isLost) throw new ErrandError('unavailable', 'The disk failed to keep it.');
      return artifacts.recordArtifacts(...given);
    };
    collector = fixture.collect({ store: { ...fixture.store, artifacts: { ...artifacts, recordArtifacts } } });
    const { run } = await turn([write('a.txt')], null);
    isLost = true;
    const second = turn([write('a.txt', 'longer text'), write('b.txt')], run.sessionId);
    await waitFor(async () => (await fixture.exportOf(run)).status === 'pending');
    await waitFor(() => {
      fixture.clock.advance(1_000);
      return isLost;
    });
    isLost = false;
    const { own, whole } = await waitFor(async () => {
      fixture.clock.advance(1_000);
      return Promise.race([second, new Promise<null>((resolve) => void setImmediate(() => resolve(null)))]);
    });
    expect(own.files.map(({ path }) => path)).toEqual(['/a.txt', '/b.txt']);
    const total = whole.files.reduce((sum, { size }) => sum + size, 0);
    expect(fixture.rows('SELECT total_size AS total FROM workspace_exports')).toEqual([{ total }]);
  });

  test('by another process, whose thread has seen none', async () => {
    const { run } = await turn([write('a.txt'), write('b.txt')], null);
    await fixture.snapshotThread.stop();
    collector = fixture.collect({ snapshotThread: fixture.anotherThread() });
    const second = await turn([write('b.txt', 'new')], run.sessionId);
    expect(second.own.files).toMatchObject([{ path: '/b.txt', change: 'modified' }]);
    expect(second.whole.files).toHaveLength(2);
  });
});

test('a workspace that is another one has none of the recorded files', async () => {
  const { run } = await turn([write('a.txt')], null);
  rmSync(fixture.workspaces.pathOf(run.sessionId), { recursive: true });
  mkdirSync(fixture.workspaces.pathOf(run.sessionId));
  const second = await turn([write('b.txt')], run.sessionId);
  expect(second.whole.files.map(({ path }) => path)).toEqual(['/b.txt']);
});

test('after an interruption, what the first attempt has done is the run’s own', async () => {
  const { run: before } = await turn([write('a.txt')], null);
  const run = await fixture.begin(before.sessionId);
  await collector.baselineOf(run).take();
  fixture.write(run, { 'b.txt': 'of the first attempt' });
  await collector.baselineOf({ ...run, attempt: 2 }).take();
  fixture.write(run, { 'c.txt': 'of the second' });
  await fixture.end(run);
  collector.wake(run.sessionSeq);
  const { files } = await waitFor(async () => {
    const own = await fixture.artifactsOf(run);
    return own.status === 'pending' ? null : own;
  });
  expect(files.map(({ path }) => path)).toEqual(['/b.txt', '/c.txt']);
});
