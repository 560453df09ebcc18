// What a node has of sessions that were deleted, or whose workspaces others have now, is removed from its disk, and nothing that anybody uses.
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  type LeftCopies,
  type LeftCopyParts,
  makeLeftCopies,
} from '../../../../src/execution/artifacts/removal/left-copies.ts';
import { newId } from '../../../../src/domain/ids.ts';
import type { ClaimedRun } from '../../../../src/store/lifecycle/start-run.ts';
import { SETTINGS } from '../../../support/http/http-fixture.ts';
import { type NodeFixture, type TwoNodes, twoNodes } from '../../../support/files/two-nodes.ts';
import { waitFor } from '../../../support/time/wait-for.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let fixture: TwoNodes;

beforeEach(async () => {
  fixture = await twoNodes();
});

const partsOf = (node: NodeFixture): LeftCopyParts => ({
  store: fixture.store,
  here: node.id,
  dataDir: node.directory,
  workspaces: node.workspaces,
  snapshotThread: node.snapshotThread,
  isExecuting: () => false,
  watchBegun: node.collector.watchBegun,
  isRecorded: node.collector.isRecorded,
  settings: () => ({ ...SETTINGS, retention: { ...SETTINGS.retention, workspacesIdleDays: 30 } }),
  free: () => Infinity,
  clock: fixture.clock,
  log: fixture.log,
});

/** Those of a node. `looked`: how often it has asked for what is left. */
function copiesOf(node: NodeFixture, over: Partial<LeftCopyParts> = {}) {
  const seen = { looked: 0 };
  const { sessions } = fixture.store;
  const counted = <Keys extends unknown[], Found>(verb: (...keys: Keys) => Promise<Found>) =>
    (async (...keys: Keys) => {
      const found = await verb(...keys);
      seen.looked += 1;
      return found;
    }) as (...keys: Keys) => Promise<Found>;
  mkdirSync(join(node.directory, 'workspaces'), { recursive: true });
  const { listLeftCopies, findLeftCopies, listIdleCopies } = sessions;
  const store = {
    sessions: { listIdleCopies, listLeftCopies: counted(listLeftCopies), findLeftCopies: counted(findLeftCopies) },
  };
  const copies = makeLeftCopies({ ...partsOf(node), store, ...over });
  onTestFinished(copies.stop);
  return { copies, seen };
}

/** A turn at a node, which then has the workspace. */
async function turn(node: NodeFixture, sessionId: string | null = null): Promise<ClaimedRun> {
  const run = await node.begin(sessionId);
  const baseline = node.collector.baselineOf(run);
  await baseline.prepare();
  await baseline.take();
  node.write(run, { 'a.txt': node.id });
  await fixture.end(run);
  node.collector.wake(run.sessionSeq);
  await waitFor(async () => (await fixture.artifactsOf(run)).status === 'ready');
  writeFileSync(noteOf(node, run), '{}');
  return run;
}

const noteOf = ({ directory }: NodeFixture, { sessionId }: Pick<ClaimedRun, 'sessionId'>) =>
  join(directory, 'snapshots', `${sessionId}.json`);
const isThere = (node: NodeFixture, run: ClaimedRun) =>
  [node.workspaces.pathOf(run.sessionId), noteOf(node, run)].map((path) => existsSync(path));

/** Wakes it, and waits until it has looked. */
async function look({ copies }: { copies: LeftCopies }): Promise<void> {
  copies.wake();
  await copies.settled();
}

test('at its start a node removes what others have, and keeps its own', async () => {
  const { north, south } = fixture;
  const moved = await turn(north);
  await turn(south, moved.sessionId);
  const own = await turn(north);
  const laying = north.workspaces.pathOf(`.laying-${moved.sessionId}`);
  mkdirSync(laying);
  const stranger = north.workspaces.pathOf(newId(fixture.clock.now()));
  mkdirSync(stranger);
  await look(copiesOf(north));
  expect(isThere(north, moved)).toEqual([false, false]);
  expect(isThere(north, own)).toEqual([true, true]);
  expect(isThere(south, moved)).toEqual([true, true]);
  expect([laying, stranger].map((path) => existsSync(path))).toEqual([false, true]);
});

test('each hour it looks again', async () => {
  const { north, south, clock } = fixture;
  const run = await turn(north);
  const { copies, seen } = copiesOf(north);
  copies.wake();
  await waitFor(() => seen.looked > 0);
  await turn(south, run.sessionId);
  expect(isThere(north, run)).toEqual([true, true]);
  await waitFor(() => {
    clock.advance(HOUR);
    return isThere(north, run).every((one) => !one);
  });
});

test('a deleted session leaves every node, as soon as that is told', async () => {
  const { north, south } = fixture;
  const run = await turn(north);
  await turn(south, run.sessionId);
  const all = [north, south].map((node) => copiesOf(node));
  // Their first look was before.
  for (const { copies } of all) copies.wake();
  await waitFor(() => all.every(({ seen }) => seen.looked > 0) && isThere(north, run).every((one) => !one));
  expect(isThere(south, run)).toEqual([true, true]);
  await fixture.store.sessions.deleteSession(run.sessionSeq);
  for (const { copies } of all) copies.notice(run.sessionSeq);
  await waitFor(() => isThere(south, run).every((one) => !one));
});

test('of a deleted session whose executor may still be at work nothing is removed', async () => {
  const { north } = fixture;
  const first = await turn(north);
  const run = await north.begin(first.sessionId);
  await fixture.store.sessions.deleteSession(run.sessionSeq);
  const node = copiesOf(north);
  node.copies.wake();
  await waitFor(() => node.seen.looked > 0);
  expect(isThere(north, run)).toEqual([true, true]);
  await fixture.store.runs.confirmStop(run.sessionSeq);
  node.copies.notice(run.sessionSeq);
  await waitFor(() => isThere(north, run).every((one) => !one));
});

test('what is being laid out here stays, and so does what was laid out while the node looked', async () => {
  const { north, south } = fixture;
  const run = await turn(north);
  await turn(south, run.sessionId);
  await look(copiesOf(north, { isExecuting: (session) => session === run.sessionSeq }));
  expect(isThere(north, run)).toEqual([true, true]);
  const { sessions } = fixture.store;
  let again: Promise<ClaimedRun> | undefined;
  const node = copiesOf(north);
  const slow = makeLeftCopies({
    ...partsOf(north),
    store: {
      sessions: {
        ...sessions,
        listLeftCopies: async (...asked) => {
          const found = await sessions.listLeftCopies(...asked);
          // It is back here, and its run has ended, before the answer is known.
          await (again ??= turn(north, run.sessionId));
          node.seen.looked += 1;
          return found;
        },
      },
    },
  });
  slow.wake();
  await waitFor(() => node.seen.looked > 0);
  await slow.stop();
  expect(await again).toMatchObject({ sessionId: run.sessionId });
  expect(isThere(north, run)).toEqual([true, true]);
});

describe('a workspace that nobody has used for the days of the setting', () => {
  async function idle() {
    const run = await turn(fixture.north);
    fixture.clock.advance(31 * DAY);
    return run;
  }

  test('goes, and is laid out again for the next run, whose agent has nothing to be told', async () => {
    const { north } = fixture;
    const run = await idle();
    const young = await turn(north);
    await look(copiesOf(north));
    expect(isThere(north, run)).toEqual([false, false]);
    expect(isThere(north, young)).toEqual([true, true]);
    const next = await north.begin(run.sessionId);
    expect(await north.collector.baselineOf(next).prepare()).toEqual({ kind: 'ready', hasNotes: false });
    expect(readFileSync(join(north.workspaces.pathOf(run.sessionId), 'a.txt'), 'utf8')).toBe('north');
  });

  test('also after a restart, when nobody remembers the last look', async () => {
    const { north } = fixture;
    const run = await idle();
    const collector = fixture.collect({ ...north.parts, snapshotThread: fixture.anotherThread() });
    await look(copiesOf(north, { isRecorded: collector.isRecorded }));
    expect(isThere(north, run)).toEqual([false, false]);
  });

  test.each([
    ['has what is not recorded', { 'by-hand.txt': 'hand' }],
    ['lacks what is recorded', { 'a.txt': null }],
    ['differs from what is recorded', { 'a.txt': 'other' }],
  ] as const)('stays while it %s, and is not looked at again', async (_, files) => {
    const { north } = fixture;
    const run = await idle();
    north.write(run, files);
    let looks = 0;
    const isRecorded: LeftCopyParts['isRecorded'] = async (...asked) => {
      looks += 1;
      return north.collector.isRecorded(...asked);
    };
    const node = copiesOf(north, { isRecorded });
    await look(node);
    // Within the hour, the disk is looked at.
    for (const ms of [HOUR, 10_000]) {
      fixture.clock.advance(ms);
      await node.copies.settled();
    }
    expect(node.seen.looked).toBeGreaterThan(1);
    expect([isThere(north, run)[0], looks]).toEqual([true, 1]);
  });

  test('goes with the links that are recorded, and has them again', async () => {
    const { north } = fixture;
    const { sessionId } = await turn(north);
    symlinkSync('a.txt', join(north.workspaces.pathOf(sessionId), 'link'));
    const run = await turn(north, sessionId);
    fixture.clock.advance(31 * DAY);
    await look(copiesOf(north));
    expect(isThere(north, run)).toEqual([false, false]);
    await north.collector.baselineOf(await north.begin(sessionId)).prepare();
    expect(readlinkSync(join(north.workspaces.pathOf(sessionId), 'link'))).toBe('a.txt');
  });

  test('stays while something is left out, or is under way', async () => {
    const { north } = fixture;
    const [linked, uncollected, running, used] = [
      await turn(north),
      await turn(north),
      await turn(north),
      await turn(north),
    ];
    symlinkSync('/etc', join(north.workspaces.pathOf(linked.sessionId), 'link'));
    await fixture.end(await north.begin(uncollected.sessionId));
    await north.begin(running.sessionId);
    fixture.clock.advance(31 * DAY);
    await look(copiesOf(north, { isExecuting: (session) => session === used.sessionSeq }));
    const stays = [linked, uncollected, running, used].map((run) => isThere(north, run)[0]);
    expect(stays).toEqual([true, true, true, true]);
  });
});

describe('while the disk is almost full', () => {
  const MB = 1_048_576;
  /** From here on, nothing goes. */
  const ENOUGH_MB = SETTINGS.disk.keepFreeMb + 256;

  /** Each workspace takes 100 MB of a disk that has room for so many beside what has to stay free. */
  const diskFor = (node: NodeFixture, most: number) => () => {
    const taken = readdirSync(join(node.directory, 'workspaces')).filter((name) => !name.startsWith('.')).length;
    return (ENOUGH_MB + 100 * (most - taken)) * MB;
  };

  /** Turns of new sessions, one after another. */
  async function turns(count: number): Promise<ClaimedRun[]> {
    const runs: ClaimedRun[] = [];
    for (let at = 0; at < count; at += 1) {
      runs.push(await turn(fixture.north));
      fixture.clock.advance(1_000);
    }
    return runs;
  }

  const stay = (runs: readonly ClaimedRun[]) => runs.map((run) => isThere(fixture.north, run)[0]);

  test('idle workspaces go, those first that nobody has used for the longest, until there is room', async () => {
    const { north } = fixture;
    const runs = await turns(4);
    const again = await turn(north, runs[0]!.sessionId);
    await look(copiesOf(north, { free: diskFor(north, 2) }));
    expect(stay(runs)).toEqual([true, false, false, true]);
    const next = await north.begin(runs[1]!.sessionId);
    expect(await north.collector.baselineOf(next).prepare()).toEqual({ kind: 'ready', hasNotes: false });
    expect(readFileSync(join(north.workspaces.pathOf(next.sessionId), 'a.txt'), 'utf8')).toBe('north');
    expect(again.sessionId).toBe(runs[0]!.sessionId);
  });

  test('the disk is looked at each 10 s, and while it has room, no copy is', async () => {
    const { north, clock } = fixture;
    const [run] = await turns(1);
    let [freeMb, listed] = [ENOUGH_MB, 0];
    const { sessions } = fixture.store;
    const listIdleCopies: typeof sessions.listIdleCopies = (...asked) => {
      listed += 1;
      return sessions.listIdleCopies(...asked);
    };
    const settings = () => SETTINGS;
    const store = { sessions: { ...sessions, listIdleCopies } };
    const { copies } = copiesOf(north, { store, settings, free: () => freeMb * MB });
    await look({ copies });
    clock.advance(10_000);
    await copies.settled();
    expect([stay([run!]), listed]).toEqual([[true], 0]);
    freeMb -= 1;
    clock.advance(10_000);
    await copies.settled();
    expect(stay([run!])).toEqual([false]);
  });

  test('they go for a workspace that is to be laid out and has no room, as far as it needs', async () => {
    const { north, clock } = fixture;
    const runs = await turns(3);
    const { copies } = copiesOf(north, { free: diskFor(north, 3) });
    await look({ copies });
    expect(stay(runs)).toEqual([true, true, true]);
    copies.wantRoom(150 * MB);
    await copies.settled();
    expect(stay(runs)).toEqual([false, false, true]);
    // Once: what was wanted isn't wanted for ever.
    clock.advance(10_000);
    await copies.settled();
    expect(stay(runs)).toEqual([false, false, true]);
  });

  test('what is more than recorded, in use, or used meanwhile stays, and is in the way of none', async () => {
    const { north } = fixture;
    const runs = await turns(5);
    const [changed, used, resumed, refused, idle] = runs as [
      ClaimedRun,
      ClaimedRun,
      ClaimedRun,
      ClaimedRun,
      ClaimedRun,
    ];
    north.write(changed, { 'by-hand.txt': 'hand' });
    const looks: string[] = [];
    const isRecorded: LeftCopyParts['isRecorded'] = async (session, signal) => {
      looks.push(session.sessionId);
      if (session.sessionId === refused.sessionId) throw new Error('refused');
      if (session.sessionId === resumed.sessionId) await turn(north, resumed.sessionId);
      return north.collector.isRecorded(session, signal);
    };
    const isExecuting = (session: number) => session === used.sessionSeq;
    const node = copiesOf(north, { isRecorded, isExecuting, free: () => 0 });
    await look(node);
    expect(stay([changed, used, resumed, refused, idle])).toEqual([true, true, true, true, false]);
    expect(looks).toEqual(runs.map(({ sessionId }) => sessionId));
    // What may have ended is tried again after a while, and what has more only once it was used.
    fixture.clock.advance(60_000);
    await node.copies.settled();
    expect(looks.slice(5)).toEqual([used, refused, resumed].map(({ sessionId }) => sessionId));
  });
});

test('what can’t be removed is tried again, and is in the way of nothing else', async () => {
  const { north, south, clock } = fixture;
  const runs = [await turn(north), await turn(north)];
  for (const run of runs) await turn(south, run.sessionId);
  let isRefused = true;
  const retire: LeftCopyParts['workspaces']['retire'] = (sessionId) => {
    if (isRefused && sessionId === runs[0]!.sessionId) throw new Error('refused');
    return north.workspaces.retire(sessionId);
  };
  const { copies } = copiesOf(north, { workspaces: { ...north.workspaces, retire } });
  copies.wake();
  await waitFor(() => !existsSync(north.workspaces.pathOf(runs[1]!.sessionId)));
  expect(isThere(north, runs[0]!)).toEqual([true, true]);
  isRefused = false;
  await waitFor(() => {
    clock.advance(60_000);
    return isThere(north, runs[0]!).every((one) => !one);
  });
});
