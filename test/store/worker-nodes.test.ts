// Which worker nodes the store keeps.
import { expect, test } from 'vitest';
import { KEPT_BEATS, MOST_NODES } from '../../src/store/worker-nodes.ts';
import { storeFixture } from '../support/store/store-fixture.ts';
import { literal } from '../support/store/open-store.ts';

/** A store with rows of nodes and the beat that each was last heard with; negative once it has left. */
async function fixtureWith(nodes: Readonly<Record<string, number | null>>) {
  const fixture = await storeFixture();
  const rows = Object.entries(nodes).map(([id, beats]) => `(${literal(id)}, 4, 1, ${literal(beats)}, 0)`);
  const columns = 'id, capacity, supports_openapi, beats, registered_at';
  if (rows.length > 0) fixture.change(`INSERT INTO worker_nodes (${columns}) VALUES ${rows.join(', ')}`);
  const { nodes: verbs } = fixture.store;
  return { ...fixture, nodes: verbs, ids: async () => (await verbs.list()).map(({ id }) => id) };
}

test('nodes that left or fell silent are forgotten after thirty days of beats, whatever the clock says', async () => {
  const now = 2 * KEPT_BEATS;
  const { nodes, ids, clock } = await fixtureWith({
    'left-lately': -(now - KEPT_BEATS + 2),
    'left-long-ago': -(now - KEPT_BEATS),
    'left-once': null,
    newest: now,
    'silent-lately': now - KEPT_BEATS + 2,
    'silent-long': 1,
  });
  clock.jump(365 * 24 * 3_600_000);
  await nodes.beat('here', 4);
  expect(await ids()).toEqual(['here', 'left-lately', 'newest', 'silent-lately']);
  await nodes.beat('here', 4);
  expect(await ids()).toEqual(['here', 'newest']);
});

test('a node that left is listed as such, and counts again when it returns', async () => {
  const { nodes } = await fixtureWith({});
  await nodes.beat('one', 4);
  await nodes.beat('two', 2);
  for (const _ of [1, 2]) await nodes.leave('one');
  expect((await nodes.list()).map(({ id, beats }) => [id, beats])).toEqual([
    ['one', null],
    ['two', 2],
  ]);
  await nodes.beat('one', 4);
  expect((await nodes.list()).map(({ id, beats }) => [id, beats])).toEqual([
    ['one', 3],
    ['two', 2],
  ]);
});

test('once a node has registered, one stays registered', async () => {
  const { nodes, ids } = await fixtureWith({ elsewhere: -1 });
  await nodes.leave('elsewhere');
  expect(await ids()).toEqual(['elsewhere']);
  await nodes.beat('here', 4);
  await nodes.leave('here');
  expect(await ids()).toEqual(['elsewhere', 'here']);
});

test('of too many nodes the last thousand stay, and a beat forgets at most a hundred', async () => {
  const crowd = Array.from({ length: MOST_NODES + 149 }, (_, i) => [`n${i}`, i + 1] as const);
  const { nodes, ids } = await fixtureWith(Object.fromEntries(crowd));
  const left: string[][] = [];
  for (const _ of [1, 2, 3]) {
    await nodes.beat('here', 4);
    left.push(await ids());
  }
  expect(left.map(({ length }) => length)).toEqual([MOST_NODES + 50, MOST_NODES, MOST_NODES]);
  expect(new Set(left[2])).toEqual(new Set(['here', ...crowd.slice(150).map(([id]) => id)]));
});
