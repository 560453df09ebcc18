// Which worker nodes are online, as each process observes it by its own clock (D3).
import { expect, test } from 'vitest';
import { makeNode } from '../../../src/execution/queue/node.ts';
import { makeLog } from '../../../src/log/log.ts';
import { openStore } from '../../support/store/open-store.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import { type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const log = makeLog({ level: 'fatal' });

/** A process on the fixture's store: with a clock of its own, which has nothing to do with that of any other. */
function processOn({ store }: Pick<StoreFixture, 'store'>, id: string, slots: number | null) {
  const clock = fakeClock();
  let looks = 0;
  const list = async () => {
    const rows = await store.nodes.list();
    looks += 1;
    return rows;
  };
  const capacity = slots === null ? null : () => slots;
  const node = makeNode({ store: { nodes: { ...store.nodes, list } }, clock, log, id, capacity });
  /** Lets ten seconds pass, and with them a beat. */
  const beat = async () => {
    const before = looks;
    clock.advance(10_000);
    await waitFor(() => looks > before);
  };
  return { node, clock, beat };
}

test('without a node that ever registered there is the capacity of five', {
  tags: ['§8-global-queue', 'D3'],
}, async () => {
  const fixture = await storeFixture();
  const { node } = processOn(fixture, 'watcher', null);
  expect(node.onlineCapacity()).toBe(0);
  await node.start();
  expect([node.onlineCapacity(), node.list()]).toEqual([5, []]);
  await node.stop();
  expect(await fixture.store.nodes.list()).toEqual([]);
});

test('a node is online as soon as it has started, and offline for others as soon as they see that it has left', async () => {
  const fixture = await storeFixture();
  const one = processOn(fixture, 'one', 4);
  const two = processOn(fixture, 'two', 2);
  await one.node.start();
  expect([one.node.onlineCapacity(), one.node.list()]).toEqual([4, [{ id: 'one', capacity: 4, online: true }]]);
  await two.node.start();
  await one.beat();
  expect(one.node.onlineCapacity()).toBe(6);
  // A node registered before the start is online once its heartbeat is seen.
  expect(two.node.onlineCapacity()).toBe(2);
  await two.beat();
  expect(two.node.onlineCapacity()).toBe(6);
  await two.node.stop();
  await one.beat();
  expect(one.node.list()).toEqual([
    { id: 'one', capacity: 4, online: true },
    { id: 'two', capacity: 2, online: false },
  ]);
  expect(one.node.onlineCapacity()).toBe(4);
  await one.node.stop();
});

test('a node whose beats stop is offline after thirty seconds, whatever the wall clock says, and a beat brings it back', {
  tags: ['§7-queue-full', 'D3'],
}, async () => {
  const fixture = await storeFixture();
  const { node, clock, beat } = processOn(fixture, 'watcher', null);
  await node.start();
  await fixture.store.nodes.beat('one', 4);
  await beat();
  clock.jump(3 * 24 * 3_600_000);
  for (let seconds = 10; seconds <= 30; seconds += 10) {
    expect(node.onlineCapacity()).toBe(4);
    await beat();
  }
  expect(node.onlineCapacity()).toBe(4);
  clock.advance(1);
  expect(node.onlineCapacity()).toBe(0);
  await fixture.store.nodes.beat('one', 4);
  await beat();
  expect(node.onlineCapacity()).toBe(4);
  await node.stop();
});

test('what a crash has left registered is not online after the next start, but the node that starts is', async () => {
  const fixture = await storeFixture();
  for (const id of ['here', 'elsewhere']) await fixture.store.nodes.beat(id, 8);
  await fixture.store.close();
  const store = openStore(fixture.file, fixture.clock);
  const { node } = processOn({ store }, 'here', 4);
  await node.start();
  expect(node.onlineCapacity()).toBe(4);
  await node.stop();
  expect(await store.nodes.list()).toEqual([
    { id: 'elsewhere', capacity: 8, supportsOpenapi: true, beats: 2 },
    { id: 'here', capacity: 4, supportsOpenapi: true, beats: null },
  ]);
  await store.close();
});
