// Why runs wait: by the slots of all nodes that start runs.
import { expect, test } from 'vitest';
import type { KnownNode } from '../../../src/domain/nodes/node.ts';
import { makeGetQueue } from '../../../src/operations/turns/queue.ts';
import { aKnownNode } from '../../support/store/nodes.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';

const other = (over: Partial<KnownNode>) => aKnownNode({ isThis: false, slots: 4, running: 0, ...over });

test.each([
  ['with room at another node, it is about to start', [other({})], { claiming: true, slots: 5, busy: 1 }, 'starting'],
  [
    'with none anywhere, it waits for a slot',
    [other({ running: 4 })],
    { claiming: true, slots: 5, busy: 5 },
    'slots_full',
  ],
  [
    'nodes that are offline, drain or have no workers have no room',
    [other({ state: 'offline' }), other({ state: 'draining' }), other({ slots: 0 })],
    { claiming: true, slots: 1, busy: 1 },
    'slots_full',
  ],
])('%s', { tags: ['L6'] }, async (_, others, { claiming, slots, busy }, reason) => {
  const { store, clock, accept } = await storeFixture();
  await accept();
  const node = { list: () => [aKnownNode({ slots: 1, running: 1 }), ...others] };
  const getQueue = makeGetQueue({ store, queue: { load: () => ({ open: true, slots: 1, busy: 1 }) }, node, clock });
  const report = await getQueue({ kind: 'operator' } as never, { limit: 9, offset: 0 });
  expect(report).toMatchObject({ open: claiming, slots, busy, items: [{ reason }] });
});

test('a node that starts none of its own says what the others do', { tags: ['L6'] }, async () => {
  const { store, clock, accept } = await storeFixture();
  await accept();
  const queue = { load: () => ({ open: false, slots: 0, busy: 0 }) };
  const at = (nodes: readonly KnownNode[]) =>
    makeGetQueue({ store, queue, node: { list: () => nodes }, clock })({ kind: 'operator' } as never, {
      limit: 9,
      offset: 0,
    });
  expect(await at([aKnownNode({ slots: 0 })])).toMatchObject({ open: false, items: [{ reason: 'not_claiming' }] });
  expect(await at([aKnownNode({ slots: 0 }), other({})])).toMatchObject({
    open: true,
    items: [{ reason: 'starting' }],
  });
});
