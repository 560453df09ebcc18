// What only the node that leads does: any other one says which one that is, rather than what it has in its own memory.
import { expect, test } from 'vitest';
import type { KnownNode } from '../../src/domain/nodes/node.ts';
import { makeBackupOperations } from '../../src/operations/backups/backups.ts';
import { makeRetentionOperations } from '../../src/operations/retention.ts';
import type { Store } from '../../src/store/open-store.ts';
import { aKnownNode } from '../support/store/nodes.ts';

const ADMINISTRATOR = { kind: 'operator' } as never;
const NORTH = aKnownNode({ id: 'n', name: 'north', address: '10.0.0.1:8080', isThis: false, leader: true });

/** Each of these operations, and what it has asked for. */
function operationsAt({
  nodes,
  peers = {} as Store['peers'],
}: {
  nodes: readonly KnownNode[];
  peers?: Store['peers'];
}) {
  const done: string[] = [];
  const note = (what: string, result?: unknown) => async () => {
    done.push(what);
    return result;
  };
  const node = { list: () => nodes };
  const audit = { act: note('audit') } as never;
  const ofRetention = makeRetentionOperations({
    store: { peers, retention: {} as never },
    node,
    retention: {
      collect: () => (done.push('collect'), 1),
      report: note('report', {}) as never,
      reportOrphans: note('orphans') as never,
      progress: note('progress', {}) as never,
    },
    audit,
  });
  const job = { id: 'b', state: 'running', manifest: null };
  const jobs = {
    latest: () => (done.push('latest'), job),
    begin: () => (done.push('begin'), { job, done: Promise.resolve() }),
    cancel: note('cancel'),
  };
  const ofBackups = makeBackupOperations({
    backups: { jobs: jobs as never, prune: note('prune') as never },
    audit,
    settings: () => ({ backup: { directory: '/b', at: '', keepDays: 1, workspaces: true } }),
    store: { peers },
    node,
  });
  const nothing = { directory: null, workspaces: null, passphrase: null };
  const asked = {
    collect: async () => ofRetention.collectNow(ADMINISTRATOR, { trustClock: false }),
    progress: async () => ofRetention.getRetentionProgress(ADMINISTRATOR),
    create: async () => ofBackups.createBackup(ADMINISTRATOR, nothing),
    send: async () => ofBackups.sendBackup(ADMINISTRATOR, nothing, async () => undefined, new AbortController().signal),
    latest: async () => ofBackups.getBackupJob(ADMINISTRATOR),
    cancel: async () => ofBackups.cancelBackup(ADMINISTRATOR, 'b'),
  };
  return { done, asked: Object.values(asked) };
}

test('another node refuses, having done nothing, and names the one that leads', { tags: ['L7'] }, async () => {
  const { done, asked } = operationsAt({ nodes: [aKnownNode({ name: 'south' }), NORTH] });
  for (const ask of asked)
    await expect(ask()).rejects.toMatchObject({
      reason: 'conflict',
      message: expect.stringMatching(/by the node that leads: north \(10\.0\.0\.1:8080\)\. Ask that one\.$/),
    });
  expect(done).toEqual([]);
});

test('while no node leads they may be asked for again', { tags: ['L7'] }, async () => {
  const { done, asked } = operationsAt({ nodes: [aKnownNode()] });
  for (const ask of asked) await expect(ask()).rejects.toMatchObject({ reason: 'unavailable' });
  expect(done).toEqual([]);
});

test.each([
  ['that leads', { nodes: [{ ...NORTH, isThis: true }] }],
  ['that is alone, whatever its row says', { nodes: [], peers: null }],
])('a node %s does what it is asked for', { tags: ['L7'] }, async (_, at) => {
  const { asked } = operationsAt(at);
  const results = await Promise.allSettled(asked.map(async (ask) => ask()));
  // A backup is in progress.
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
});
