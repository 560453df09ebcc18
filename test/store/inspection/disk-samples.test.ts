import { expect, test } from 'vitest';
import { aNode, nodeId } from '../../support/store/nodes.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';

const DAY_MS = 86_400_000;

test('samples of a week are kept, and none of a time that has not come', async () => {
  const { store, clock } = await storeFixture();
  const start = clock.now();
  await store.diskSamples.record('north', { freeBytes: 3, freeInodes: 30 });
  clock.advance(6 * DAY_MS);
  await store.diskSamples.record('north', { freeBytes: 2, freeInodes: null });
  expect(await store.diskSamples.list('north')).toEqual([
    { at: start, freeBytes: 3, freeInodes: 30 },
    { at: start + 6 * DAY_MS, freeBytes: 2, freeInodes: null },
  ]);

  clock.advance(2 * DAY_MS);
  await store.diskSamples.record('north', { freeBytes: 1, freeInodes: null });
  expect((await store.diskSamples.list('north')).map(({ freeBytes }) => freeBytes)).toEqual([2, 1]);

  clock.jump(-DAY_MS);
  await store.diskSamples.record('north', { freeBytes: 5, freeInodes: null });
  expect((await store.diskSamples.list('north')).map(({ freeBytes }) => freeBytes)).toEqual([2, 5]);
});

test('samples are of a node each; those of before there were several are of the one that was alone', async () => {
  const { store, clock, change } = await storeFixture();
  await store.nodes.beat(aNode({ id: nodeId(1) }), null);
  change('INSERT INTO disk_samples (at, free_bytes, free_inodes) VALUES (1, 9, NULL)');
  const before = { at: 1, freeBytes: 9, freeInodes: null };
  expect(await store.diskSamples.list(nodeId(1))).toEqual([before]);
  expect(await store.diskSamples.list(nodeId(2))).toEqual([]);
  for (const [at, node] of [nodeId(2), nodeId(1), nodeId(2)].entries()) {
    clock.advance(1);
    await store.diskSamples.record(node, { freeBytes: at, freeInodes: null });
  }
  expect((await store.diskSamples.list(nodeId(1))).map(({ freeBytes }) => freeBytes)).toEqual([1]);
  expect((await store.diskSamples.list(nodeId(2))).map(({ freeBytes }) => freeBytes)).toEqual([0, 2]);

  // One from the future is its node's to remove.
  clock.jump(-1);
  await store.diskSamples.record(nodeId(1), { freeBytes: 7, freeInodes: null });
  expect((await store.diskSamples.list(nodeId(2))).map(({ freeBytes }) => freeBytes)).toEqual([0, 2]);
});
