// Which nodes are online, as each process observes it by its own clock, and which of them start runs (D3, L6).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { BEAT_MS, type NodeFacts, ONLINE_MS, SILENT_MS } from '../../../src/domain/nodes/node.ts';
import { makeNode } from '../../../src/execution/queue/node.ts';
import { loggedLines } from '../../support/http/http-fixture.ts';
import { aNode, nodeId } from '../../support/store/nodes.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { isPostgres } from '../../support/postgres/shared-cluster.ts';
import { openStore } from '../../support/store/open-store.ts';
import { START, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const DAY_MS = 24 * 3_600_000;
/** Names and ids of the nodes of a test. */
const [ONE, TWO] = ['one', 'two'].map((name, at) => aNode({ id: nodeId(at + 1), name })) as [NodeFacts, NodeFacts];

/** A process on the fixture's store: with a clock of its own, which has nothing to do with that of any other. */
function processOn(fixture: Pick<StoreFixture, 'store' | 'clock'>, facts: NodeFacts) {
  const { store } = fixture;
  let aheadMs = 0;
  const clock = fakeClock();
  let looks = 0;
  const list = async () => {
    const rows = await store.nodes.list();
    looks += 1;
    return rows;
  };
  let running = 0;
  let had: Partial<NodeFacts> = {};
  let isCut = false;
  let opened = 0;
  let [silences, led, fenced] = [0, 0, false];
  const { log, lines } = loggedLines();
  const node = makeNode({
    store: {
      nodes: {
        ...store.nodes,
        list,
        beat: (...args) => (isCut ? Promise.reject(new Error('cut')) : store.nodes.beat(...args)),
      },
    },
    clock,
    machine: { now: () => machineOf(fixture).now() + aheadMs },
    log,
    identity: { id: facts.id, place: facts.place, file: '/data/node-id' },
    process: facts.process,
    facts: () => ({ ...facts, ...had, running }),
    opened: () => (opened += 1),
    peers: { fence: (isOn) => void (fenced = isOn) },
    led: () => (led += 1),
    silenced: () => (silences += 1),
  });
  onTestFinished(node.stop);
  /** Lets five seconds pass, and with them a beat. */
  const beat = async () => {
    const before = looks;
    clock.advance(BEAT_MS);
    // The timer is set again when the beat before has ended.
    await waitFor(() => looks > before);
    await nextTurn();
  };
  const states = () => node.list().map(({ name, state }) => `${name} ${state}`);
  const seen = () => ({ silences, led, fenced });
  const goAhead = (ms: number) => void (aheadMs = ms);
  const cut = () => void (isCut = true);
  const runs = (count: number) => void (running = count);
  const has = (facts: Partial<NodeFacts>) => void (had = facts);
  return { node, clock, beat, states, lines, opened: () => opened, runs, has, seen, cut, goAhead };
}

/** The clock of the database. */
const machineOf = ({ clock }: Pick<StoreFixture, 'clock'>) => (isPostgres ? systemClock : clock);

test('without a node that ever executed runs there is the capacity of five', {
  tags: ['§8-global-queue', 'D3'],
}, async () => {
  const { node } = processOn(await storeFixture(), { ...ONE, slots: 0 });
  expect(node.onlineCapacity()).toBe(0);
  await node.start();
  expect([node.onlineCapacity(), node.allDrain()]).toEqual([5, false]);
});

test('a node is online as soon as it has started, and offline for others as soon as they see that it has left', async () => {
  const fixture = await storeFixture();
  const [one, two] = [processOn(fixture, ONE), processOn(fixture, { ...TWO, slots: 2 })];
  await one.node.start();
  expect([one.node.onlineCapacity(), one.states()]).toEqual([4, ['one online']]);
  await two.node.start();
  // One that has beaten lately is online at once; after a minute, nobody would know.
  expect(two.node.onlineCapacity()).toBe(6);
  await one.beat();
  expect(one.node.onlineCapacity()).toBe(6);
  await two.node.stop();
  await one.beat();
  expect([one.node.onlineCapacity(), one.states()]).toEqual([4, ['one online', 'two offline']]);
});

test('a node whose beats stop is offline after fifteen seconds, its slots are gone, and a beat brings it back', {
  tags: ['§7-queue-full', 'D3', 'L6'],
}, async () => {
  const fixture = await storeFixture();
  const { node, clock, beat, states } = processOn(fixture, { ...ONE, slots: 0 });
  await node.start();
  await fixture.store.nodes.beat(TWO, null);
  await beat();
  for (let ms = 0; ms < ONLINE_MS; ms += BEAT_MS) {
    expect(node.onlineCapacity()).toBe(4);
    await beat();
  }
  expect([node.onlineCapacity(), states()]).toEqual([4, ['one online', 'two online']]);
  clock.advance(1);
  expect([node.onlineCapacity(), states()]).toEqual([0, ['one online', 'two offline']]);
  await fixture.store.nodes.beat(TWO, null);
  await beat();
  expect(node.onlineCapacity()).toBe(4);
});

test.each([
  ['forward', DAY_MS],
  ['back', -DAY_MS],
])('a clock that is set %s by a day takes no node offline: neither the own one nor others', async (_, ms) => {
  const fixture = await storeFixture();
  const { node, clock, beat, states } = processOn(fixture, ONE);
  await node.start();
  await fixture.store.nodes.beat(TWO, null);
  await beat();
  // The daemon's, and the database's.
  clock.jump(ms);
  fixture.clock.jump(ms);
  const seen = [];
  for (let beats = 0; beats < 3; beats += 1) {
    seen.push([node.onlineCapacity(), ...states()]);
    await beat();
  }
  expect(seen).toEqual(Array.from({ length: 3 }, () => [8, 'one online', 'two online']));
});

test('a daemon that can’t write its beats stays online for itself, and says why', async () => {
  const fixture = await storeFixture();
  const { node, clock, lines } = processOn(fixture, ONE);
  await node.start();
  await fixture.store.close();
  clock.advance(60_000);
  await waitFor(() => lines.some(({ msg }) => msg === 'the heartbeat could not be written'));
  expect(node.onlineCapacity()).toBe(4);
});

test('a node whose beats get no answer for fifteen seconds knows that the others have it for lost, until one is answered', {
  tags: ['L8'],
}, async () => {
  const fixture = await storeFixture();
  const { store } = fixture;
  let gate = Promise.resolve();
  const beat: typeof store.nodes.beat = async (...of) => gate.then(() => store.nodes.beat(...of));
  const { node, clock } = processOn({ ...fixture, store: { ...store, nodes: { ...store.nodes, beat } } }, ONE);
  await node.start();
  const { promise, resolve } = Promise.withResolvers<void>();
  gate = promise;
  clock.advance(ONLINE_MS);
  expect(node.silence()).toBeNull();
  clock.advance(1);
  expect(node.silence()).toBe("The daemon's database has not answered for 15 seconds.");
  resolve();
  await waitFor(() => node.silence() === null);
});

test('what a crash has left registered is not online after the next start, but the node that starts is', async () => {
  const fixture = await storeFixture();
  for (const of of [ONE, TWO]) await fixture.store.nodes.beat({ ...of, process: 'crashed', slots: 8 }, null);
  fixture.clock.advance(ONLINE_MS + 1);
  await fixture.store.close();
  const store = openStore(fixture.file, fixture.clock);
  const { node, states } = processOn({ ...fixture, store }, ONE);
  await node.start();
  expect([node.onlineCapacity(), states()]).toEqual([4, ['one online', 'two offline']]);
  await node.stop();
  expect((await store.nodes.list()).map(({ process, beats }) => [process, beats])).toEqual([
    [null, 2],
    [null, 1],
  ]);
  await store.close();
});

test('a daemon that was killed takes its row at once: nobody else can have its data directory', async () => {
  const fixture = await storeFixture();
  await fixture.store.nodes.beat({ ...ONE, process: 'killed' }, null);
  const { node, states } = processOn(fixture, ONE);
  await node.start();
  expect(states()).toEqual(['one online']);
});

/** Starts a process; resolves with its error, or null, while its clock goes on. */
async function started({ node, clock }: ReturnType<typeof processOn>, eachSecond: () => Promise<unknown>) {
  let ended: unknown;
  void node.start().then(
    () => (ended = null),
    (error: unknown) => (ended = error),
  );
  await waitFor(async () => {
    await eachSecond();
    clock.advance(1_000);
    return ended !== undefined;
  });
  return ended;
}

test('a copy of a data directory whose node beats refuses to start, and says what to do; the node learns of it', async () => {
  const fixture = await storeFixture();
  const original = processOn(fixture, ONE);
  await original.node.start();
  const copy = processOn(fixture, { ...ONE, process: 'copy', place: 'elsewhere', name: 'copied' });
  const refusal = await started(copy, original.beat);
  expect(refusal).toMatchObject({ reason: 'conflict' });
  expect(String(refusal)).toContain('remove /data/node-id there');
  await original.beat();
  expect(original.node.list()).toMatchObject([{ name: 'one', state: 'online', isTwice: true }]);
  expect(original.node.mayStart()).toBe(true);
  expect(original.lines.filter(({ msg }) => String(msg).startsWith('another process was started'))).toHaveLength(1);
  for (let ms = 0; ms <= ONLINE_MS; ms += BEAT_MS) await original.beat();
  expect(original.node.list()).toMatchObject([{ name: 'one', isTwice: false }]);
});

test('a copy of a data directory whose node is dead takes its place as soon as that is certain', async () => {
  const fixture = await storeFixture();
  await fixture.store.nodes.beat({ ...ONE, process: 'killed' }, null);
  const moved = processOn(fixture, { ...ONE, process: 'moved', place: 'elsewhere' });
  expect(await started(moved, async () => undefined)).toBeNull();
  expect(moved.clock.monotonic()).toBeGreaterThan(ONLINE_MS);
  expect(moved.states()).toEqual(['one online']);
});

test('a process that lost its row to another one with its id starts no runs, says so, and takes it back when that has left', async () => {
  const fixture = await storeFixture();
  const { node, beat, lines, opened } = processOn(fixture, ONE);
  await node.start();
  const twin = { ...ONE, process: 'twin', name: 'twin' };
  await fixture.store.nodes.beat(twin, ONE.process);
  await beat();
  expect([node.mayStart(), node.own().fault]).toEqual([false, expect.stringContaining('remove /data/node-id')]);
  expect(lines.filter(({ msg }) => msg === node.own().fault)).toHaveLength(1);
  expect(node.list()).toMatchObject([{ name: 'twin', isTwice: true }]);
  await fixture.store.nodes.leave(twin);
  await beat();
  expect([node.mayStart(), node.own().fault, opened()]).toEqual([true, null, 1]);
});

test('a node that drains starts no runs and has no capacity; it is drained when its last run has ended', {
  tags: ['L6', 'L8'],
}, async () => {
  const fixture = await storeFixture();
  const [one, two] = [processOn(fixture, ONE), processOn(fixture, { ...TWO, slots: 2 })];
  await one.node.start();
  await two.node.start();
  one.runs(3);
  await one.node.setDraining(ONE.id, true);
  expect([one.node.mayStart(), one.node.own().fault]).toEqual([false, expect.stringContaining('it drains')]);
  expect([one.states(), one.node.onlineCapacity()]).toEqual([['one draining', 'two online'], 2]);
  await two.beat();
  expect([two.states(), two.node.onlineCapacity()]).toEqual([['one draining', 'two online'], 2]);
  expect([one.node.allDrain(), two.node.allDrain()]).toEqual([false, false]);
  one.runs(0);
  expect(one.states()).toEqual(['one drained', 'two online']);
  await one.beat();
  await two.beat();
  expect(two.states()).toEqual(['one drained', 'two online']);
  await one.node.setDraining(ONE.id, false);
  expect([one.node.mayStart(), one.states(), one.opened()]).toEqual([true, ['one online', 'two online'], 1]);
});

test('another node learns with its next beat that it drains, and is not drained before it knows', async () => {
  const fixture = await storeFixture();
  const [one, two] = [processOn(fixture, ONE), processOn(fixture, TWO)];
  await one.node.start();
  await two.node.start();
  await one.node.setDraining(TWO.id, true);
  expect([one.states(), two.node.mayStart()]).toEqual([['one online', 'two draining'], true]);
  await two.beat();
  await one.beat();
  expect([one.states(), two.node.mayStart()]).toEqual([['one online', 'two drained'], false]);
  await one.node.setDraining(ONE.id, true);
  expect([one.node.allDrain(), one.node.onlineCapacity()]).toEqual([true, 0]);
});

test('a node that drained drains after it was killed and started again', async () => {
  const fixture = await storeFixture();
  const { node, beat } = processOn(fixture, ONE);
  await node.start();
  await node.setDraining(ONE.id, true);
  await beat();
  const next = processOn(fixture, { ...ONE, process: 'next' });
  await next.node.start();
  expect([next.node.mayStart(), next.states(), next.opened()]).toEqual([false, ['one drained'], 0]);
});

test('only what is offline is removed', async () => {
  const fixture = await storeFixture();
  const { node, states } = processOn(fixture, ONE);
  await node.start();
  await fixture.store.nodes.beat(TWO, null);
  await node.look();
  await fixture.store.nodes.beat(TWO, null);
  expect(await node.remove(TWO.id)).toBe(false);
  expect(await node.remove(TWO.id)).toBe(true);
  expect(states()).toEqual(['one online']);
});

test('a node whose beats don’t arrive ends its runs before another one takes them, and one of those that are left leads', {
  tags: ['L4', 'L7'],
}, async () => {
  const fixture = await storeFixture();
  const [one, two] = [processOn(fixture, ONE), processOn(fixture, TWO)];
  await one.node.start();
  await two.node.start();
  expect([one.seen(), two.seen()]).toEqual([
    { silences: 0, led: 1, fenced: true },
    { silences: 0, led: 0, fenced: true },
  ]);
  await fixture.accept();
  const background = { slots: 1, maxExecutingPerKey: 1 };
  const [claim] = await fixture.store.runs.claim({ ...START, node: ONE.id, limit: 1, background });
  const { seq } = claim!.run;
  const statusOf = async () => (await fixture.store.runs.get(seq)).status;
  one.cut();
  one.clock.advance(SILENT_MS - 1);
  expect(one.seen().silences).toBe(0);
  one.clock.advance(1);
  expect(one.seen().silences).toBe(1);
  for (const _ of [5, 10, 15]) await two.beat();
  expect([await statusOf(), two.seen().led]).toEqual(['running', 0]);
  await two.beat();
  expect(await statusOf()).toBe('queued');
  await two.beat();
  expect(two.seen().led).toBe(1);
});

test('a node says by how much the clock of its machine differs from the database’s, and warns from two seconds on', async () => {
  const fixture = await storeFixture();
  const [one, two] = [processOn(fixture, ONE), processOn(fixture, TWO)];
  await one.node.start();
  await two.node.start();
  const about = (node: string) => {
    const found = two.node.list().find(({ name }) => name === node)!;
    return Math.round(found.clockAheadMs! / 1_000);
  };
  await two.node.look();
  expect(about('one')).toBe(0);
  one.goAhead(3_100);
  two.goAhead(-1_900);
  for (const each of [one, two, one, two]) await each.beat();
  expect([about('one'), about('two')]).toEqual([3, -2]);
  expect(one.lines).toMatchObject([
    { msg: expect.stringMatching(/^the clock of this machine is 3\.\d s ahead of the data/) as string },
  ]);
  expect(two.lines).toEqual([]);
  one.goAhead(0);
  await one.beat();
  expect(one.lines.at(-1)).toMatchObject({ msg: "the clock of this machine is the database's again" });
});

test('another configuration is told once it has lasted for longer than a change takes to reach all nodes', async () => {
  const fixture = await storeFixture();
  const [one, two] = [processOn(fixture, ONE), processOn(fixture, TWO)];
  const differing = () =>
    two.node.list().flatMap(({ name, differs }) => (differs.length === 0 ? [] : [`${name}: ${differs.join()}`]));
  const beat = async () => {
    for (const each of [one, two]) await each.beat();
  };
  one.has({ configuration: { models: 'a' } });
  two.has({ configuration: { models: 'a' } });
  await one.node.start();
  await two.node.start();
  await beat();
  two.has({ configuration: { models: 'b' } });
  await beat();
  one.has({ configuration: { models: 'b' } });
  for (const _ of [5, 10, 15]) await beat();
  expect(differing()).toEqual([]);
  two.has({ configuration: { models: 'c' } });
  for (const _ of [5, 10]) await beat();
  expect(differing()).toEqual([]);
  await beat();
  // The one that leads is right.
  expect(differing()).toEqual(['two: models']);
  two.has({ configuration: { models: 'b' } });
  await beat();
  expect(differing()).toEqual([]);
});
