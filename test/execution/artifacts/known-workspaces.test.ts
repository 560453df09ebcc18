// Runs whose calls name what they change: only those files are looked at, and the result is that of a look at everything.
import { existsSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { performCall } from '../../../src/agent/loop/perform-call.ts';
import { openWorkspace } from '../../../src/agent/loop/run-workspace.ts';
import { openChannel } from '../../../src/agent/port/signals.ts';
import { TOOLS } from '../../../src/agent/tools/all-tools.ts';
import type { ExecutedTool } from '../../../src/agent/tools/tool.ts';
import type { JsonObject } from '../../../src/domain/json.ts';
import { ErrandError } from '../../../src/domain/errors.ts';
import type { Collector } from '../../../src/execution/artifacts/collector.ts';
import { KNOWN_MS } from '../../../src/execution/artifacts/known-workspaces.ts';
import type { SnapshotOrder, SnapshotThread } from '../../../src/files/snapshots/snapshot-thread.ts';
import { type ArtifactHouse, artifactHouse, COMPLETED } from '../../support/files/artifact-house.ts';
import { fenceOf } from '../../support/store/store-house.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { makeBrief, makeRun } from '../../agent/play-main.ts';
import { aloneOn } from '../../agent/run-port.ts';

interface Call {
  readonly name: string;
  readonly input: JsonObject;
}

let house: ArtifactHouse;
let collector: Collector;
let looks: (readonly string[] | 'all' | 'difference')[];
/** Sessions whose looks report all files. */
let wholly: Set<string>;

beforeEach(async () => {
  house = await artifactHouse();
  looks = [];
  wholly = new Set();
  const { snapshotThread } = house;
  const watched: SnapshotThread = {
    ...snapshotThread,
    takeSnapshot: async (order: SnapshotOrder) => {
      const isWhole = wholly.has(order.sessionId);
      const at = looks.push(order.paths ?? 'all') - 1;
      const snapshot = await snapshotThread.takeSnapshot(isWhole ? { ...order, since: null } : order);
      if (snapshot.gone !== null) looks[at] = 'difference';
      return snapshot;
    },
  };
  collector = house.collect({ snapshotThread: watched });
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
/** Waits until a file is so old that its identity proves its content. */
const pauseTool: ExecutedTool = {
  kind: 'executes',
  name: 'pause',
  description: 'Waits.',
  readsOnly: true,
  inputSchema: { type: 'object' },
  execute: async ({ path }, { workspace }) => {
    await waitFor(() => Date.now() - statSync(join(workspace, path as string)).ctimeMs > 2_100);
    return { ok: true, output: '' };
  },
};
const ALL = [...TOOLS.filter(({ name }) => name !== 'shell'), shell, pauseTool];

/** A run that makes some calls, as its thread would report them; `knowing: false` reports that they may have changed anything. */
async function turn(calls: readonly Call[], sessionId: string | null, knowing = true) {
  const run = await house.begin(sessionId);
  const baseline = collector.baselineOf(run);
  await baseline.workspaceFree();
  baseline.take(false);
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const brief = await makeBrief({ workspace: house.workspaces.pathOf(run.sessionId) });
  const workspace = openWorkspace(brief, async (paths) => void (await baseline.takeNow(paths)));
  const worker = makeRun(brief, openChannel(aloneOn(port2)), { workspace });
  if (!knowing) await workspace.prepare();
  for (const { name, input } of calls) {
    await baseline.taken();
    await performCall(worker, { tools: ALL, call: { id: 'a', name, input }, fault: undefined });
  }
  const untouched = await baseline.ended(workspace.touched());
  await house.store.runs.end({ ...fenceOf(run), workedMs: 0 }, COMPLETED, { untouched });
  baseline.abort();
  collector.wake(run.sessionSeq);
  const found = await waitFor(async () => {
    const [own, whole] = [await house.artifactsOf(run), await house.exportOf(run)];
    return own.status !== 'pending' && whole.status !== 'pending' ? { own, whole } : null;
  });
  return { run, ...found };
}

const write = (path: string, content = 'text'): Call => ({ name: 'write_file', input: { path, content } });
const command = (path: string): Call => ({ name: 'shell', input: { path, does: 'write' } });
const pause = (path: string): Call => ({ name: 'pause', input: { path } });
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
  'random runs have the artifacts and the export that a look at everything finds (%i)',
  async (seed) => {
    const roll = dice(seed);
    let [known, whole]: [string | null, string | null] = [null, null];
    // Hashes of few small files are not stored.
    const first = Array.from({ length: 9 }, (_, at) => write(`many/${at}`));
    for (let count = 0; count < 16; count += 1) {
      const calls = count === 0 ? first : randomCalls(roll);
      const quick: Ended = await turn(calls, known);
      const full: Ended = await turn(calls, whole, false);
      wholly.add(full.run.sessionId);
      expect(seen(quick), JSON.stringify(calls)).toEqual(seen(full));
      const counted = house.rows(
        `SELECT file_count, total_size FROM workspace_exports WHERE session_seq = ${quick.run.sessionSeq}`,
      );
      const total = quick.whole.files.reduce((sum, { size }) => sum + size, 0);
      if (total > 0) expect(counted).toEqual([{ file_count: quick.whole.files.length, total_size: total }]);
      // A run that changed nothing wasn't looked at.
      expect(quick.own.skipped ?? full.own.skipped).toEqual(full.own.skipped);
      [known, whole] = [quick.run.sessionId, full.run.sessionId];
    }
    expect(looks.some((look) => Array.isArray(look))).toBe(true);
    expect(looks).toContain('difference');
  },
);

describe('a look', () => {
  test('is at the written files only, from the first run on, and runs that only read keep it so', async () => {
    const { run } = await turn([write('a.txt'), write('b/c.txt')], null);
    await turn([list], run.sessionId);
    const third = await turn([write('a.txt', 'new')], run.sessionId);
    expect(looks).toEqual([['/a.txt', '/b/c.txt'], ['/a.txt']]);
    expect(third.own.files).toMatchObject([{ path: '/a.txt', change: 'modified' }]);
    expect(third.whole.files).toHaveLength(2);
  });

  test('is at everything before and after a call that may change anything, which does not count as changed what came before', async () => {
    const { run } = await turn([write('a.txt')], null);
    house.write(run, { 'by-hand.txt': 'hand' });
    looks = [];
    const calls = [write('a.txt', 'new'), { name: 'shell', input: { path: 'c.txt', does: 'write' } }];
    const second = await turn(calls, run.sessionId);
    expect(looks).toEqual(['all', 'all']);
    expect(second.own.files).toMatchObject([
      { path: '/a.txt', change: 'modified' },
      { path: '/c.txt', change: 'added' },
    ]);
    expect(second.whole.files.map(({ path }) => path)).toEqual(['/a.txt', '/by-hand.txt', '/c.txt']);
  });

  test('is at everything when somebody else has added or removed files, which belong to no run', async () => {
    const { run } = await turn([write('a.txt'), write('b.txt')], null);
    house.write(run, { 'in/by-hand.txt': 'hand' });
    const second = await turn([write('c.txt')], run.sessionId);
    expect(second.own.files.map(({ path }) => path)).toEqual(['/c.txt']);
    expect(second.whole.files.map(({ path }) => path)).toEqual(['/a.txt', '/b.txt', '/c.txt', '/in/by-hand.txt']);
    house.write(run, { 'b.txt': null });
    const third = await turn([write('c.txt', 'new')], run.sessionId);
    expect(third.whole.files.map(({ path }) => path)).toEqual(['/a.txt', '/c.txt', '/in/by-hand.txt']);
    expect(looks.slice(1)).toEqual([['/c.txt'], 'all', ['/c.txt'], 'all']);
  });

  test('is at everything ten minutes after the last one that was', async () => {
    const { run } = await turn([write('a.txt')], null);
    house.write(run, { 'a.txt': 'by hand' });
    looks = [];
    house.clock.advance(KNOWN_MS);
    const second = await turn([write('b.txt')], run.sessionId);
    expect(looks).toEqual(['all', ['/b.txt']]);
    expect(second.own.files.map(({ path }) => path)).toEqual(['/b.txt']);
    expect(second.whole.files).toMatchObject([{ path: '/a.txt', size: 'by hand'.length }, { path: '/b.txt' }]);
  });

  test('is at everything when a new path is so long that only few may be', async () => {
    const long = `${'d'.repeat(130)}/${'f'.repeat(130)}`;
    const { run } = await turn([write('a.txt')], null);
    const second = await turn([write(long)], run.sessionId);
    await turn([write(long, 'new')], run.sessionId);
    expect(looks).toEqual([['/a.txt'], [`/${long}`], 'all', [`/${long}`]]);
    expect(second.whole.files.map(({ path }) => path)).toEqual(['/a.txt', `/${long}`]);
  });

  test('after a command is at the difference, and finds what the run wrote before it', async () => {
    const paths = Array.from({ length: 9 }, (_, at) => `many/${at}`);
    const { run } = await turn([...paths.map((path) => write(path)), command('by-command')], null);
    looks = [];
    // The workspace is known, so that the baseline is taken before the command.
    const second = await turn([write('many/0', 'new'), pause('many/0'), command('many/1')], run.sessionId);
    expect(second.own.files.map(({ path }) => path)).toEqual(['/many/0', '/many/1']);
    const third = await turn([write('many/2', 'new'), write('x')], run.sessionId);
    expect(third.own.files.map(({ path }) => path)).toEqual(['/many/2', '/x']);
    const fourth = await turn([pause('x'), { ...command('x'), input: { path: 'x', does: 'remove' } }], run.sessionId);
    expect(fourth.own.files).toEqual([]);
    expect(fourth.whole.files.map(({ path }) => path)).toEqual(['/by-command', ...paths.map((path) => `/${path}`)]);
    expect(looks).toEqual(['difference', 'difference', ['/many/2', '/x'], 'difference', 'difference']);
  });

  test('is at everything after a record that the store may have lost', async () => {
    const { artifacts } = house.store;
    let isLost = false;
    const recordArtifacts: typeof artifacts.recordArtifacts = async (...given) => {
      const change = await artifacts.recordArtifacts(...given);
      if (isLost) throw new ErrandError('unavailable', 'The disk failed to keep it.');
      return change;
    };
    collector = house.collect({
      store: { ...house.store, artifacts: { ...artifacts, recordArtifacts } },
      packedOnRequest: { fileCount: 100, totalBytes: 10_000 },
    });
    const paths = Array.from({ length: 9 }, (_, at) => `many/${at}`);
    const { run } = await turn([...paths.map((path) => write(path)), command('by-command')], null);
    isLost = true;
    await turn([write('many/0', 'longer text')], run.sessionId);
    isLost = false;
    const third = turn([command('by-command-too')], run.sessionId);
    await waitFor(() => existsSync(join(house.workspaces.pathOf(run.sessionId), 'by-command-too')));
    // The collector tries again, and finds it recorded.
    house.clock.advance(1_000);
    const { whole } = await third;
    const total = whole.files.reduce((sum, { size }) => sum + size, 0);
    expect(house.rows('SELECT total_size AS total FROM workspace_exports')).toEqual([{ total }]);
  });

  test('is at everything when the workspace is another one', async () => {
    const { run } = await turn([write('a.txt')], null);
    rmSync(house.workspaces.pathOf(run.sessionId), { recursive: true });
    looks = [];
    const second = await turn([write('b.txt')], run.sessionId);
    expect(looks).toEqual(['all', ['/b.txt']]);
    expect(second.whole.files.map(({ path }) => path)).toEqual(['/b.txt']);
  });

  test('is at everything after an interruption, whatever the first attempt has reported', async () => {
    const run = await house.begin();
    const first = collector.baselineOf(run);
    first.take(false);
    expect(await first.ended(['/a.txt'])).toBe(false);
    const second = collector.baselineOf({ ...run, attempt: 2 });
    second.take(false);
    house.write(run, { 'b.txt': 'of the second attempt' });
    await second.ended(['/a.txt']);
    await house.end(run);
    collector.wake(run.sessionSeq);
    const { files } = await waitFor(async () => {
      const own = await house.artifactsOf(run);
      return own.status === 'pending' ? null : own;
    });
    expect(files.map(({ path }) => path)).toEqual(['/b.txt']);
    expect(looks).toEqual(['all']);
  });

  test('is at everything after a run that began while the last one was being recorded', async () => {
    const { run } = await turn([write('a.txt')], null);
    const next = await house.begin(run.sessionId);
    const baseline = collector.baselineOf(next);
    baseline.take(false);
    await baseline.takeNow([]);
    await baseline.ended('anything');
    await house.end(next);
    baseline.abort();
    looks = [];
    await turn([write('b.txt')], run.sessionId);
    // The collection of the second, before the third.
    expect(looks).toEqual(['all', ['/b.txt']]);
  });
});
