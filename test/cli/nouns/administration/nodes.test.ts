// What `errand nodes` shows and says.
import { expect, test } from 'vitest';
import type { NodeWire } from '../../../../src/wire/nodes.ts';
import { run, startFakeDaemon } from '../../outside.ts';
import { nodeId } from '../../../support/store/nodes.ts';

const AT = '2026-03-01T12:00:00.000Z';
const aNode = (over: Partial<NodeWire> = {}): NodeWire => ({
  id: nodeId(1),
  name: 'north',
  state: 'online',
  this: true,
  twice: false,
  leader: false,
  draining: false,
  slots: 4,
  running: 1,
  version: '1.0.0',
  address: '127.0.0.1:8484',
  labels: ['zone=a', 'gpu'],
  clock_ahead_ms: 12,
  differs: [],
  last_beat_at: AT,
  registered_at: AT,
  ...over,
});
const SOUTH = aNode({ id: nodeId(2), name: 'south', this: false });
const OLD = { version: '0.9.0' };

const listing = async (...items: readonly NodeWire[]) => {
  const { dataDir } = await startFakeDaemon({ 'GET /api/v1/nodes': () => ({ items, total: items.length }) });
  return run(['nodes', 'list'], { dataDir });
};

test('a list has a line a node; one without trouble says nothing else', async () => {
  const { stdout, stderr } = await listing(aNode({ leader: true }), { ...SOUTH, ...OLD, state: 'offline' });
  const line = [nodeId(1), 'online', 'yes', 4, 1, '1.0.0', '127.0.0.1:8484', AT, 'zone=a, gpu'];
  expect(stdout.split('\n')[0]).toBe(['north', ...line].join('\t'));
  expect(stderr).toBe('');
});

test('different versions, clocks and configurations of nodes that are online are told, and so is one that is there twice', async () => {
  const mixed = await listing(aNode(), { ...SOUTH, ...OLD, state: 'draining' });
  expect(mixed.stderr).toBe('The nodes that are online have different versions: 1.0.0, 0.9.0.\n');
  const late = await listing(aNode(), { ...SOUTH, clock_ahead_ms: 3_210 });
  expect(late.stderr).toBe("The clock of south is 3.2 s ahead of the database's.\n");
  const other = await listing(aNode(), { ...SOUTH, differs: ['models'] });
  expect(other.stderr).toBe('The node south has another configuration than other nodes: models.\n');
  const twice = await listing(aNode({ twice: true }), SOUTH);
  expect(twice.stderr).toBe('Another process has the id of north: a copy of its data directory (errand doctor).\n');
});

test('a drain waits until nothing executes there, or as long as it is told to, or until somebody undoes it', async () => {
  const drained = aNode({ state: 'drained', draining: true, running: 0 });
  const draining = aNode({ state: 'draining', draining: true });
  const later = [draining, drained];
  const { dataDir } = await startFakeDaemon({
    'POST /api/v1/nodes/north/drain': () => draining,
    [`GET /api/v1/nodes/${nodeId(1)}`]: () => later.shift() ?? aNode(),
  });
  const waited = await run(['nodes', 'drain', 'north', '--wait'], { dataDir });
  expect([waited.code, waited.stdout]).toEqual([0, expect.stringMatching(/^state\tdrained$/m)]);
  // By now, it was undrained.
  expect(await run(['nodes', 'drain', 'north', '--wait'], { dataDir })).toMatchObject({ code: 6 });
  later.push(...Array.from({ length: 99 }, () => draining));
  const late = await run(['nodes', 'drain', 'north', '--wait', '--timeout', '1s'], { dataDir });
  expect([late.code, late.stderr]).toEqual([7, expect.stringContaining('runs that still execute on north: 1')]);
});
