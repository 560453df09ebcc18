// Every operation over a real store, and an administrator who calls them.
import { makeSlices } from '../../../src/domain/loop/slices.ts';
import { loadCatalog } from '../../../src/catalog/kinds/models.ts';
import { loadDefinitions } from '../../../src/catalog/load-definitions.ts';
import { lookUpNow } from '../../../src/domain/capabilities/look-up.ts';
import { type AuditEntry } from '../../../src/domain/people/audit.ts';
import type { Administrator } from '../../../src/domain/people/user.ts';
import { newId } from '../../../src/domain/ids.ts';
import { makeNode } from '../../../src/execution/queue/node.ts';
import type { Queue } from '../../../src/execution/queue/queue.ts';
import { makeStopper } from '../../../src/execution/queue/stop.ts';
import { makeLog } from '../../../src/log/log.ts';
import { makeOperations, type OperationParts } from '../../../src/operations/operations.ts';
import { deriveSealKey } from './audit.ts';
import { aKey, aUser, SETTINGS } from '../http/http-fixture.ts';
import { aNode, nodeId } from './nodes.ts';
import { publishFixture } from './publishing.ts';
import { aWebhook } from './webhooks.ts';
import { aTask } from './schedules.ts';
import { fenceOf, storeFixture } from './store-fixture.ts';
import { temporaryDirectory } from '../files/temporary-directory.ts';

/** Nothing to remove. */
const NO_RETENTION = {
  collect: () => 1,
  report: async () => ({
    heldUntil: null,
    kinds: [],
    pass: null,
    database: { bytes: 0, freeBytes: 0, shrinks: true },
  }),
};

export const ORIGIN = { address: '203.0.113.9', requestId: '0198c0de-0000-7000-8000-00000000aaaa' };
export const ROOT: Administrator = {
  kind: 'key',
  user: aUser({ seq: 99, id: '0198c0de-0000-7000-8000-000000000099', username: 'root', role: 'admin' }),
  key: aKey({ seq: 99, id: 'rootkey1', scope: 'admin' }),
  reach: 'all',
  origin: ORIGIN,
};
const FILES = {
  'mcp-servers.yaml': 'servers:\n  tide:\n    url: http://127.0.0.1:9/mcp\n',
  'connectors.yaml': `connectors:
  crm:
    description: Customers
    base_url: https://crm.example
    auth: { kind: token }
`,
  'models.yaml': `endpoints:
  local: { kind: openai, base_url: "http://127.0.0.1:9/v1" }
models:
  qwen: { endpoint: local, model: qwen }
scenarios:
  general: { model: qwen }
`,
};
export const PAGE = { limit: 9, offset: 0 };
export const EVENTS = { afterId: 0, beforeId: null, order: 'asc', limit: 9 } as const;
export const SIGNAL = new AbortController().signal;

/** Every verb over a real store, with a finished turn of a user in it; what leaves the daemon is played. */
export async function auditedFixture() {
  const rows = await storeFixture();
  const { store, clock, user, key } = rows;
  const locations = { configDir: temporaryDirectory(FILES), credentialsDirectory: null };
  const [loaded, catalog] = [
    loadDefinitions(locations, { models: null, tools: new Set() }),
    loadCatalog(locations.configDir, null),
  ];
  if (!loaded.ok || !catalog.ok) throw new Error(JSON.stringify([loaded, catalog]));
  const log = makeLog({ level: 'fatal' });
  const queue = {
    stop: async () => undefined,
    has: () => false,
    settled: async () => undefined,
    load: () => ({ open: true, slots: 1, busy: 0 }),
    admit: ((accept) => accept(null)) satisfies Queue['admit'],
  };
  const report = { findings: [], firstTokenMs: null, tokensPerSecond: null };
  const served = { findings: [], serverName: '', startMs: null, listMs: null, tools: [], stderr: '' };
  const publishing = await publishFixture(rows);
  const here = aNode({ name: 'here' });
  const identity = { ...here, file: '/data/node-id' };
  const node = makeNode({
    machine: clock,
    store,
    clock,
    log,
    identity,
    process: '1',
    facts: () => here,
    opened: () => undefined,
    peers: null,
    led: () => undefined,
    silenced: () => undefined,
  });
  await store.nodes.beat(aNode({ id: nodeId(2), name: 'gone' }), null);
  await store.nodes.leave(aNode({ id: nodeId(2) }));
  await node.start();
  const operations = makeOperations({
    store,
    clock,
    slices: makeSlices(clock),
    log,
    queue,
    deriveKey: deriveSealKey,
    anchor: { read: async () => ({ kind: 'due' }), wake: () => undefined },
    stopper: makeStopper({
      store,
      queue,
      node: 'here',
      clock,
      log,
      stopConfirmed: () => undefined,
      onStopConfirmed: () => undefined,
    }),
    fileAddresses: { sign: () => '', verify: () => undefined as never },
    collector: { packOnRequest: async () => null, forked: () => undefined },
    emptyArchives: { get: async () => ({ key: 'a', size: 1 }) },
    secrets: { seal: () => Buffer.from('sealed'), open: () => '' },
    locations,
    equip: async () => ({ ok: true, outfit: { instructions: 'Be exact.', tools: [], equipment: {} } }),
    broker: {
      probe: async () => ({ status: 200, durationMs: 1 }),
      reach: async () => ({ status: 200, durationMs: 1 }),
    },
    retention: NO_RETENTION,
    checks: { checkModel: async () => report, checkMcpServer: async () => served, stop: () => undefined },
    webhooks: {
      sendOnce: async () => ({ at: 1, statusCode: 204, durationMs: 1, error: null, responseExcerpt: null }),
    },
    publishing: { versions: publishing.versions },
    happened: () => undefined,
    backups: {
      jobs: {
        begin: () => ({ job: {}, done: Promise.resolve() }),
        latest: () => ({ id: 'b', state: 'completed' }),
        cancel: async () => undefined,
      },
      prune: async () => ({ removed: [], kept: 0, objects: 0, bytes: 0 }),
    },
    settings: () => ({ ...SETTINGS, backup: { ...SETTINGS.backup, directory: '/backups' } }),
    catalog: () => catalog.catalog,
    definitions: () => loaded.definitions,
    lookUp: lookUpNow,
    problems: { ofFiles: () => [], inEffect: () => [] },
    feeds: {},
    fixture: { isKept: () => true },
    node,
    disk: { shortage: () => null },
    closing: () => false,
    draining: SIGNAL,
  } as unknown as OperationParts);
  await rows.accept();
  const [run] = await rows.claim();
  const insight = { callId: 'i', title: 'Salt', summary: 'It rusts.', priority: 'low' } as const;
  const insightId = (await store.insights.report(fenceOf(run!), insight))!;
  const question = { toolUseId: 'q', toolName: 'ask_user', toolInput: {}, lifetimeMs: 60_000 };
  await store.runs.waitForUser(fenceOf(run!), question);
  const all = { userSeq: null, keySeq: null, sessionSeq: null, status: null, ...PAGE };
  const questionId = (await store.userInputs.list(all)).items[0]!.id;
  const secret = Buffer.from('sealed');
  const connection = await store.connections.create({
    id: '0198c0de-0000-7000-8000-0000000000cc',
    userSeq: user.seq,
    connector: 'crm',
    name: 'crm',
    secret,
  });
  const task = await store.schedules.create(aTask(user.seq));
  await store.teams.create({ name: 'Blue', budgetUsd: 5 });
  const webhook = await store.webhooks.create(aWebhook({ userSeq: user.seq }));
  const published = await publishing.workspace();
  const page = await publishing.publish(published);
  const deliveryId = await store.deliveries.recordTest(
    { webhook, eventId: newId(1), eventType: 'session.completed', sessionSeq: run!.sessionSeq, body: '{}' },
    { at: 1, statusCode: 500, durationMs: 1, error: 'It failed.', responseExcerpt: null },
  );
  const entries = async (): Promise<readonly AuditEntry[]> => {
    const everything = { actor: null, action: null, targetId: null, sessionId: null, fromAt: null, toAt: null };
    return (await store.audit.list(everything, { beforeId: null, afterId: 0, limit: 100 })).items;
  };
  return {
    ...rows,
    operations,
    run: run!,
    insightId,
    questionId,
    connection,
    task,
    webhook,
    deliveryId,
    publishing,
    published,
    page,
    user,
    key,
    entries,
  };
}

export type AuditedFixture = Awaited<ReturnType<typeof auditedFixture>>;
