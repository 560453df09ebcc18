// Which nodes the store keeps, and who may beat for one.
import { expect, test } from 'vitest';
import { KEPT_MS, MOST_NODES } from '../../src/store/worker-nodes.ts';
import { isPostgres } from '../support/postgres/shared-cluster.ts';
import { aNode, nodeId } from '../support/store/nodes.ts';
import { literal } from '../support/store/open-store.ts';
import { fenceOf, START, storeFixture } from '../support/store/store-fixture.ts';

/** A store with rows of nodes by how long each has been silent, on the database's clock. */
async function fixtureWith(silent: Readonly<Record<string, number>> = {}) {
  const fixture = await storeFixture();
  const now = isPostgres ? Date.now() : fixture.clock.now();
  const rows = Object.entries(silent).map(
    ([id, ms]) => `(${literal(id)}, '', '', '', '', 4, '[]', 0, 0, 0, 1, 0, ${now - ms}, 0)`,
  );
  const columns =
    'id, place, name, version, address, slots, labels, running, draining, noticed, beats, contests, last_beat_at, registered_at';
  if (rows.length > 0) fixture.change(`INSERT INTO worker_nodes (${columns}) VALUES ${rows.join(', ')}`);
  const { nodes } = fixture.store;
  return { ...fixture, nodes, ids: async () => (await nodes.list()).map(({ id }) => id) };
}

const EVERYBODYS = { userSeq: null, keySeq: null, status: 'pending', limit: 9, offset: 0 } as const;
const HERE = aNode({ id: nodeId(9), name: 'zenith' });

test('nodes are forgotten after thirty days without a beat, but never the one that asks', async () => {
  const day = 24 * 3_600_000;
  const { nodes, ids } = await fixtureWith({ lately: KEPT_MS - day, long: KEPT_MS + day, own: KEPT_MS + day });
  expect(await nodes.forget('own')).toBe(false);
  expect(await ids()).toEqual(['lately', 'own']);
});

test('of too many nodes the thousand that have beaten last stay, and at most a hundred are forgotten at once', async () => {
  const crowd = Array.from({ length: MOST_NODES + 149 }, (_, i) => [`n${i}`, (MOST_NODES + 200 - i) * 1_000] as const);
  const { nodes, ids } = await fixtureWith(Object.fromEntries(crowd));
  await nodes.beat(HERE, null);
  const left: number[] = [];
  for (let more = true; more; ) {
    more = await nodes.forget(HERE.id);
    left.push((await ids()).length);
  }
  expect(left).toEqual([MOST_NODES + 50, MOST_NODES]);
  expect(new Set(await ids())).toEqual(new Set([HERE.id, ...crowd.slice(150).map(([id]) => id)]));
});

test('a beat takes what the node says of itself, and counts; by the clock of the database', async () => {
  const { nodes, clock } = await fixtureWith();
  expect(await nodes.beat(HERE, null)).toEqual({ draining: false, leader: true });
  clock.advance(5_000);
  const before = isPostgres ? Date.now() : clock.now();
  const changed = {
    ...HERE,
    name: 'nadir',
    version: '2.0.0',
    slots: 8,
    labels: ['zone=a', 'gpu'],
    running: 3,
    configuration: { models: 'a' },
  };
  expect(await nodes.beat(changed, null)).toEqual({ draining: false, leader: true });
  const [row] = await nodes.list();
  expect(row).toMatchObject({ ...changed, noticed: false, beats: 2, contests: 0 });
  expect(row!.lastBeatAt - row!.registeredAt).toBeGreaterThanOrEqual(isPostgres ? 0 : 5_000);
  // The database rounds to milliseconds.
  expect(row!.lastBeatAt).toBeGreaterThanOrEqual(before - 1);
  expect(row!.lastBeatAt).toBeLessThanOrEqual((isPostgres ? Date.now() : clock.now()) + 1);
  clock.advance(7_000);
  if (!isPostgres) expect((await nodes.list())[0]!.silentMs).toBe(7_000);
});

test('a process that isn’t the one of the row changes nothing but a count, until that has left or is replaced', async () => {
  const { nodes } = await fixtureWith();
  await nodes.beat(HERE, null);
  const copy = { ...HERE, process: 'copy', name: 'copy' };
  expect(await nodes.beat(copy, null)).toBeNull();
  expect(await nodes.beat(copy, 'somebody else')).toBeNull();
  await nodes.leave(copy);
  expect((await nodes.list())[0]).toMatchObject({ name: 'zenith', process: HERE.process, beats: 1, contests: 2 });
  await nodes.leave(HERE);
  expect((await nodes.list())[0]).toMatchObject({ process: null, beats: 1 });
  expect(await nodes.beat(copy, null)).toEqual({ draining: false, leader: true });
  expect(await nodes.beat(HERE, 'copy')).toEqual({ draining: false, leader: true });
  expect((await nodes.list())[0]).toMatchObject({ process: HERE.process, name: 'zenith', beats: 3 });
});

test('a node drains until it is told otherwise, over its end and its next start; what it knew when it counted is kept', async () => {
  const { nodes } = await fixtureWith();
  await nodes.beat(HERE, null);
  await nodes.setDraining(HERE.id, true);
  expect(await nodes.beat(HERE, null)).toEqual({ draining: true, leader: true });
  expect((await nodes.list())[0]).toMatchObject({ draining: true, noticed: false });
  await nodes.beat({ ...HERE, draining: true }, null);
  expect((await nodes.list())[0]).toMatchObject({ draining: true, noticed: true });
  await nodes.leave(HERE);
  expect(await nodes.beat({ ...HERE, process: 'next' }, null)).toEqual({ draining: true, leader: true });
  await nodes.setDraining(HERE.id, false);
  expect(await nodes.beat({ ...HERE, process: 'next', draining: true }, null)).toEqual({
    draining: false,
    leader: true,
  });
  await expect(nodes.setDraining(nodeId(404), true)).rejects.toMatchObject({ reason: 'not_found' });
});

test('a node whose row was removed keeps that it drains, and one that has beaten since isn’t removed', async () => {
  const { nodes, ids } = await fixtureWith();
  await nodes.beat(HERE, null);
  const [seen] = await nodes.list();
  await nodes.beat(HERE, null);
  expect(await nodes.remove(seen!)).toBe(false);
  expect(await nodes.remove((await nodes.list())[0]!)).toBe(true);
  expect(await ids()).toEqual([]);
  expect(await nodes.beat({ ...HERE, draining: true }, null)).toEqual({ draining: true, leader: true });
});

test('a node that has left stays registered', async () => {
  const { nodes, ids } = await fixtureWith({ elsewhere: 60_000 });
  await nodes.beat(HERE, null);
  await nodes.leave(HERE);
  expect(await ids()).toEqual(['elsewhere', HERE.id]);
});

test('one node leads while its process is there; then the next one that beats does', async () => {
  const { nodes } = await fixtureWith();
  const other = aNode({ id: nodeId(8), process: 'other' });
  expect(await nodes.beat(HERE, null)).toMatchObject({ leader: true });
  expect(await nodes.beat(other, null)).toMatchObject({ leader: false });
  expect(await nodes.beat(HERE, null)).toMatchObject({ leader: true });
  await nodes.leave(HERE);
  expect(await nodes.beat(other, null)).toMatchObject({ leader: true });
  expect(await nodes.beat({ ...HERE, process: 'again' }, null)).toMatchObject({ leader: false });
  expect((await nodes.list()).filter(({ leader }) => leader)).toMatchObject([{ id: other.id }]);
});

test('the runs of a node that was lost return to the queue, unless it has beaten since; those of others stay', async () => {
  const { nodes, store, ...fixture } = await fixtureWith();
  await nodes.beat(HERE, null);
  await nodes.beat(aNode({ id: 'here', process: 'other' }), null);
  await fixture.accept();
  const [kept] = await fixture.claim();
  await fixture.accept();
  const [lost] = await store.runs.claim({
    ...START,
    node: HERE.id,
    limit: 1,
    background: { slots: 1, maxExecutingPerKey: 1 },
  });
  const row = (await nodes.list()).find(({ id }) => id === HERE.id)!;
  await nodes.beat(HERE, null);
  expect(await nodes.takeOver(row)).toBeNull();
  expect(await nodes.takeOver({ ...row, beats: 2 })).toEqual({ settled: 0, interrupted: 1 });
  expect(await nodes.takeOver({ ...row, beats: 2 })).toBeNull();
  const statusOf = async (seq: number) => (await store.runs.get(seq)).status;
  expect([await statusOf(kept!.seq), await statusOf(lost!.run.seq)]).toEqual(['running', 'queued']);
  expect(await nodes.beat(aNode({ id: 'here', process: 'other' }), null)).toMatchObject({ leader: true });
});

test('a run whose session has files is left to their node for a while, and any other starts anywhere', async () => {
  const { store, change, clock, ...fixture } = await fixtureWith();
  const { sessionSeq } = await fixture.accept();
  change(`UPDATE sessions SET workspace_node = 'there' WHERE seq = ${sessionSeq};
    INSERT INTO workspaces (session_seq, file_count) VALUES (${sessionSeq}, 1)`);
  const order = { ...START, limit: 9, background: { slots: 1, maxExecutingPerKey: 1 } };
  const leftTo = { nodes: ['there'], forMs: 10_000 };
  expect(await store.runs.claim({ ...order, leftTo })).toEqual([]);
  expect(await store.runs.claim({ ...order, leftTo: { ...leftTo, nodes: ['elsewhere'] } })).toHaveLength(1);
  await store.runs.rescue('here');
  clock.advance(10_000);
  expect(await store.runs.claim({ ...order, leftTo })).toMatchObject([{ run: { workspaceNode: 'there' } }]);
});

test('a run that returns to the queue is left to the node with its files from then on, however old it is', {
  tags: ['L7'],
}, async () => {
  const { store, change, clock, ...fixture } = await fixtureWith();
  const { sessionId, sessionSeq } = await fixture.accept();
  const next = await fixture.accept({ sessionId, sessionSeq });
  const [run] = await fixture.claim();
  change(`UPDATE sessions SET workspace_node = 'there' WHERE seq = ${sessionSeq};
    INSERT INTO workspaces (session_seq, file_count) VALUES (${sessionSeq}, 1)`);
  const claim = () =>
    store.runs.claim({
      ...START,
      limit: 9,
      background: { slots: 1, maxExecutingPerKey: 1 },
      leftTo: { nodes: ['there'], forMs: 10_000 },
    });
  const isLeft = async () => {
    expect(await claim()).toEqual([]);
    clock.advance(9_999);
    expect(await claim()).toEqual([]);
    clock.advance(1);
    const [claimed] = await claim();
    return claimed!.run;
  };
  clock.advance(60_000);
  await store.runs.rescue('here');
  const resumed = await isLeft();
  expect(resumed.seq).toBe(run!.seq);
  const question = { toolUseId: 'q', toolName: 'ask_user', toolInput: {}, lifetimeMs: 1_000_000 };
  await store.runs.waitForUser(fenceOf(resumed), question);
  clock.advance(60_000);
  const [asked] = (await store.userInputs.list({ ...EVERYBODYS, sessionSeq })).items;
  await store.userInputs.answer(asked!.id, 'yes');
  const answered = await isLeft();
  clock.advance(60_000);
  await store.runs.finalize(fenceOf(answered), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await store.runs.settle(fenceOf(answered));
  expect((await isLeft()).seq).toBe(next.seq);
});
