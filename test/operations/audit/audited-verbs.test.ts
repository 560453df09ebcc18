// Every verb that an administrator may call, and what the audit log has of it.
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import { loadCatalog } from '../../../src/catalog/kinds/models.ts';
import { loadDefinitions } from '../../../src/catalog/load-definitions.ts';
import { AUDIT_ACTIONS, type AuditAction, type AuditEntry } from '../../../src/domain/people/audit.ts';
import type { Administrator, Caller } from '../../../src/domain/people/user.ts';
import { newId } from '../../../src/domain/ids.ts';
import { makeStopper } from '../../../src/execution/queue/stop.ts';
import { makeLog } from '../../../src/log/log.ts';
import { makeOperations, type OperationParts, type Operations } from '../../../src/operations/operations.ts';
import { deriveSealKey } from '../../support/store/audit.ts';
import { aKey, aUser, SETTINGS } from '../../support/http/http-house.ts';
import { aWebhook, renderId } from '../../support/store/webhooks.ts';
import { fenceOf, storeHouse } from '../../support/store/store-house.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

const ORIGIN = { address: '203.0.113.9', requestId: '0198c0de-0000-7000-8000-00000000aaaa' };
const ROOT: Administrator = {
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
const PAGE = { limit: 9, offset: 0 };
const EVENTS = { afterId: 0, beforeId: null, order: 'asc', limit: 9 } as const;
const SIGNAL = new AbortController().signal;

/** Every verb over a real store, with a finished turn of a user in it; what leaves the daemon is played. */
async function house() {
  const rows = await storeHouse();
  const { store, clock, user, key } = rows;
  const places = { configDir: temporaryDirectory(FILES), credentialsDirectory: null };
  const [loaded, catalog] = [
    loadDefinitions(places, { models: null, tools: new Set() }),
    loadCatalog(places.configDir, null),
  ];
  if (!loaded.ok || !catalog.ok) throw new Error(JSON.stringify([loaded, catalog]));
  const log = makeLog({ level: 'fatal' });
  const queue = {
    stop: async () => undefined,
    load: () => ({ open: true, slots: 1, busy: 0 }),
    claimAccepted: () => undefined,
    slotFree: () => true,
  };
  const report = { findings: [], firstTokenMs: null, tokensPerSecond: null };
  const served = { findings: [], serverName: '', startMs: null, listMs: null, tools: [], stderr: '' };
  const operations = makeOperations({
    store,
    clock,
    log,
    queue,
    deriveKey: deriveSealKey,
    stopper: makeStopper({ store, queue, clock, log, stopConfirmed: () => undefined }),
    fileAddresses: { sign: () => '', verify: () => undefined as never },
    emptyArchives: { get: async () => ({ key: 'a', size: 1 }) },
    secrets: { seal: () => Buffer.from('sealed'), open: () => '' },
    broker: {
      probe: async () => ({ status: 200, durationMs: 1 }),
      reach: async () => ({ status: 200, durationMs: 1 }),
    },
    checks: { checkModel: async () => report, checkMcpServer: async () => served, stop: () => undefined },
    webhooks: {
      changed: () => undefined,
      sendOnce: async () => ({ at: 1, statusCode: 204, durationMs: 1, error: null, responseExcerpt: null }),
    },
    settings: () => SETTINGS,
    catalog: () => catalog.catalog,
    definitions: () => loaded.definitions,
    problems: { ofFiles: () => [], inEffect: () => [] },
    feeds: {},
    house: { isKept: () => true },
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
  await store.teams.create({ name: 'Blue', budgetUsd: null });
  const webhook = await store.webhooks.create(aWebhook(), renderId);
  const deliveryId = await store.deliveries.recordTest(
    { webhook, eventId: newId(1), eventType: 'session.completed', sessionSeq: run!.sessionSeq, body: '{}' },
    { at: 1, statusCode: 500, durationMs: 1, error: 'It failed.', responseExcerpt: null },
  );
  const entries = async (): Promise<readonly AuditEntry[]> => {
    const everything = { actor: null, action: null, targetId: null, sessionId: null, fromAt: null, toAt: null };
    return (await store.audit.list(everything, { beforeId: null, afterId: 0, limit: 100 })).items;
  };
  return { ...rows, operations, run: run!, insightId, questionId, connection, webhook, deliveryId, user, key, entries };
}

type House = Awaited<ReturnType<typeof house>>;

/** What is recorded of a verb, and a call of it. */
type Line = readonly [AuditAction, (house: House, verbs: Operations) => Promise<unknown>];

const NEW_USER = { fullName: null, department: null, role: null, team: null, scenario: null };
const NEW_WEBHOOK = {
  name: 'Ledger',
  url: 'https://1.1.1.1/hook',
  events: ['session.completed'],
  ownerScope: null,
  user: 'mara',
} as const;
const NEW_KEY = { scope: 'global', name: null, model: null, target: 'free', capabilityChoice: null } as const;

/**
 * Every verb: a new one doesn't compile until it has its line. A verb without an entry has a reason: it isn't an
 * administrator's, it changes nothing and reads no conversation, or it is an entry point.
 */
const VERBS: Readonly<Record<keyof Operations, Line | 'entry point' | 'of programs' | 'not of a conversation'>> = {
  authenticate: 'entry point',
  logIn: 'entry point',
  openFile: 'entry point',
  acceptTurn: 'of programs',
  awaitResult: 'of programs',
  pollRun: 'of programs',
  withPosition: 'of programs',
  getModelName: 'of programs',
  listOwnSessions: 'of programs',
  getOfficeSnapshot: 'not of a conversation',
  listLiveRuns: 'not of a conversation',
  getLastHour: 'not of a conversation',
  listTodayRuns: 'not of a conversation',
  listUsers: 'not of a conversation',
  getUser: 'not of a conversation',
  createUser: [
    'user.create',
    (_, v) => v.createUser(ROOT, { ...NEW_USER, username: 'nils', password: 'long enough!' }),
  ],
  changeUser: ['user.change', (_, v) => v.changeUser(ROOT, 'mara', { department: 'Mill' })],
  setPassword: ['user.set_password', (_, v) => v.setPassword(ROOT, 'mara', 'long enough!')],
  listTeams: 'not of a conversation',
  createTeam: ['team.create', (_, v) => v.createTeam(ROOT, { name: 'Red', budgetUsd: null })],
  changeTeam: ['team.change', (_, v) => v.changeTeam(ROOT, 'Blue', { budgetUsd: 1 })],
  listKeys: 'not of a conversation',
  getKey: 'not of a conversation',
  createKey: [
    'key.create',
    (_, v) => v.createKey(ROOT, { ...NEW_KEY, user: 'mara', projectId: null, expiresInSeconds: null }),
  ],
  changeKey: ['key.change', ({ key }, v) => v.changeKey(ROOT, key.id, { name: 'n' })],
  revokeKey: ['key.revoke', ({ key }, v) => v.revokeKey(ROOT, key.id)],
  listSigningKeys: 'not of a conversation',
  rotateSigningKey: ['token.rotate', (_, v) => v.rotateSigningKey(ROOT)],
  revokeAllTokens: ['token.revoke_all', (_, v) => v.revokeAllTokens(ROOT)],
  listDefinitions: 'not of a conversation',
  getDefinition: 'not of a conversation',
  checkDefinitions: ['definition.check', (_, v) => v.checkDefinitions(ROOT, 'skills')],
  listModels: 'not of a conversation',
  checkModel: ['model.check', (_, v) => v.checkModel(ROOT, 'qwen', { context: false }, SIGNAL)],
  checkMcpServer: ['mcp_server.check', (_, v) => v.checkMcpServer(ROOT, 'tide', SIGNAL)],
  listConnections: 'not of a conversation',
  createConnection: [
    'connection.create',
    (_, v) => v.createConnection(ROOT, { user: 'mara', connector: 'crm', name: null, secret: 's' }),
  ],
  revokeConnection: ['connection.revoke', ({ connection }, v) => v.revokeConnection(ROOT, connection.id)],
  checkConnection: ['connection.check', ({ connection }, v) => v.checkConnection(ROOT, connection.id)],
  checkConnector: ['connector.check', (_, v) => v.checkConnector(ROOT, 'crm')],
  listWebhooks: 'not of a conversation',
  getWebhook: 'not of a conversation',
  createWebhook: ['webhook.create', (_, v) => v.createWebhook(ROOT, NEW_WEBHOOK)],
  changeWebhook: ['webhook.change', ({ webhook }, v) => v.changeWebhook(ROOT, webhook.id, { enabled: false })],
  deleteWebhook: ['webhook.delete', ({ webhook }, v) => v.deleteWebhook(ROOT, webhook.id)],
  testWebhook: [
    'webhook.test',
    ({ webhook }, v) => v.testWebhook(ROOT, webhook.id, { eventType: 'session.failed', sessionId: null }),
  ],
  listDeliveries: 'not of a conversation',
  getDelivery: ['delivery.read', ({ deliveryId }, v) => v.getDelivery(ROOT, deliveryId)],
  redeliver: ['delivery.redeliver', ({ deliveryId }, v) => v.redeliver(ROOT, deliveryId)],
  redeliverMany: [
    'webhook.redeliver',
    ({ webhook }, v) => v.redeliverMany(ROOT, { webhookId: webhook.id, state: 'failed', since: 0 }),
  ],
  listenToEvents: [
    'house.follow',
    (_, v) => v.listenToEvents(ROOT, { ownerScope: 'system', types: [], afterId: 0, limit: 9, waitMs: 0 }, SIGNAL),
  ],
  getSampleEvent: [
    'session.read',
    ({ run }, v) => v.getSampleEvent(ROOT, { eventType: 'session.failed', sessionId: run.sessionId }),
  ],
  listSessions: 'not of a conversation',
  getSession: ['session.read', ({ run }, v) => v.getSession(ROOT, run.sessionId)],
  listMessages: ['session.read', ({ run }, v) => v.listMessages(ROOT, run.sessionId)],
  getCapabilityConfig: ['session.read', ({ run }, v) => v.getCapabilityConfig(ROOT, run.sessionId)],
  getSessionArtifacts: ['session.read', ({ run }, v) => v.getSessionArtifacts(ROOT, run.sessionId)],
  getOfficeSession: ['session.read', ({ run }, v) => v.getOfficeSession(ROOT, run.sessionId)],
  getOfficeDetail: ['session.read', ({ run }, v) => v.getOfficeDetail(ROOT, run.sessionId)],
  getOfficeSummary: ['session.read', ({ run }, v) => v.getOfficeSummary(ROOT, run.sessionId)],
  listOfficeMessages: [
    'session.read',
    ({ run }, v) => v.listOfficeMessages(ROOT, run.sessionId, { beforeId: null, limit: 9 }),
  ],
  listOfficeRuns: ['session.read', ({ run }, v) => v.listOfficeRuns(ROOT, run.sessionId, PAGE)],
  listRunRounds: ['session.read', ({ run }, v) => v.listRunRounds(ROOT, run.sessionId, PAGE)],
  getContextUsage: ['session.read', ({ run }, v) => v.getContextUsage(ROOT, run.sessionId)],
  getOfficePicture: [
    'session.read',
    async ({ run }, v) => expect(v.getOfficePicture(ROOT, run.sessionId, 'x')).rejects.toThrow('Picture not found.'),
  ],
  getOfficeFiles: ['session.read', ({ run }, v) => v.getOfficeFiles(ROOT, run.sessionId)],
  getOfficeArchive: ['session.read', ({ run }, v) => v.getOfficeArchive(ROOT, run.sessionId)],
  listStreamEvents: [
    'session.read',
    ({ run }, v) => v.listStreamEvents(ROOT, run.sessionId, { ...EVENTS, runId: null, fromStreamSeq: null }),
  ],
  watchSession: ['session.read', ({ run }, v) => v.watchSession(ROOT, run.sessionId, null)],
  watchRun: ['session.read', ({ run }, v) => v.watchRun(ROOT, { sessionId: run.sessionId, runId: run.id }, null)],
  watchHouse: ['house.follow', (_, v) => v.watchHouse(ROOT, null)],
  stopSession: ['session.stop', ({ run }, v) => v.stopSession(ROOT, run.sessionId)],
  deleteSession: ['session.delete', ({ run }, v) => v.deleteSession(ROOT, run.sessionId)],
  listRuns: 'not of a conversation',
  getRun: ['run.read', ({ run }, v) => v.getRun(ROOT, run.id)],
  getRunArtifacts: ['run.read', ({ run }, v) => v.getRunArtifacts(ROOT, run.id)],
  followRun: ['run.follow', ({ run }, v) => v.followRun(ROOT, run.id)],
  stopRun: ['run.stop', ({ run }, v) => v.stopRun(ROOT, run.id)],
  listUserInputs: ['question.list', (_, v) => v.listUserInputs(ROOT, { sessionId: null, status: null, ...PAGE })],
  getUserInput: ['question.read', ({ questionId }, v) => v.getUserInput(ROOT, questionId)],
  answerUserInput: ['question.answer', ({ questionId }, v) => v.answerUserInput(ROOT, questionId, 'red')],
  expireUserInput: ['question.expire', ({ questionId }, v) => v.expireUserInput(ROOT, questionId)],
  listInsights: ['insight.list', (_, v) => v.listInsights(ROOT, { sessionId: null, status: null, ...PAGE })],
  getInsight: ['insight.read', ({ insightId }, v) => v.getInsight(ROOT, insightId)],
  setInsightStatus: ['insight.change', ({ insightId }, v) => v.setInsightStatus(ROOT, insightId, 'resolved')],
  getQueue: 'not of a conversation',
  getStatus: 'not of a conversation',
  getConfiguration: 'not of a conversation',
  findId: 'not of a conversation',
  listAuditEntries: 'not of a conversation',
  getAuditHead: 'not of a conversation',
};

const RECORDED = Object.entries(VERBS).filter((entry): entry is [string, Line] => typeof entry[1] !== 'string');

test('every verb says whether it is recorded', async () => {
  const { operations } = await house();
  expect(Object.keys(VERBS).sort()).toEqual(Object.keys(operations).sort());
});

test('every action is that of a verb', () => {
  const actions = new Set(RECORDED.map(([, [action]]) => action));
  expect([...actions].sort()).toEqual(Object.keys(AUDIT_ACTIONS).sort());
});

test.each(RECORDED)(
  '%s of an administrator is recorded once, with who, what, which and from where',
  async (_, line) => {
    const [action, call] = line;
    const built = await house();
    await call(built, built.operations);
    const entries = await built.entries();
    expect(entries).toEqual([
      {
        id: 1,
        at: built.clock.now(),
        actor: { userId: ROOT.kind === 'key' && ROOT.user.id, username: 'root', via: 'key', keyId: 'rootkey1' },
        action,
        targetType: AUDIT_ACTIONS[action],
        targetId: expect.stringMatching(/./),
        sessionId: /^(session|run|delivery|(question|insight)\.(?!list))/.test(action) ? built.run.sessionId : null,
        ...ORIGIN,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
  },
);

/** The caller on a route for programs or for people, where nothing is recorded. */
const itsOwn = ({ user, key }: House): readonly Caller[] => [
  { kind: 'key', user, key, reach: 'key' },
  { kind: 'token', user, reach: 'user' },
];

test('what people do with their own things is not recorded', async () => {
  const built = await house();
  const { operations: verbs, run, insightId, questionId } = built;
  for (const caller of itsOwn(built)) {
    await verbs.listMessages(caller, run.sessionId);
    await verbs.followRun(caller, run.id);
    await verbs.getInsight(caller, insightId);
  }
  const [key] = itsOwn(built);
  await verbs.answerUserInput(key!, questionId, 'red');
  await verbs.deleteSession(key!, run.sessionId);
  expect(await built.entries()).toEqual([]);
});

test("an administrator's read of their own conversation is not recorded, and their changes are", async () => {
  const built = await house();
  const self: Administrator = { kind: 'token', user: built.user, reach: 'all', origin: ORIGIN };
  await built.operations.listMessages(self, built.run.sessionId);
  await built.operations.listInsights(self, { sessionId: null, status: null, ...PAGE });
  expect(await built.entries()).toEqual([]);
  await built.operations.stopSession(self, built.run.sessionId);
  expect(await built.entries()).toMatchObject([{ action: 'session.stop', actor: { via: 'token', keyId: null } }]);
});

test('what was refused, and a move that came too late, is not recorded', async () => {
  const built = await house();
  const { operations: verbs, questionId, run } = built;
  await expect(verbs.createTeam(ROOT, { name: 'Blue', budgetUsd: null })).rejects.toMatchObject({ reason: 'conflict' });
  await verbs.answerUserInput(ROOT, questionId, 'red');
  await expect(verbs.expireUserInput(ROOT, questionId)).rejects.toMatchObject({ reason: 'conflict' });
  await verbs.deleteSession(ROOT, run.sessionId);
  await expect(verbs.deleteSession(ROOT, run.sessionId)).rejects.toMatchObject({ reason: 'not_found' });
  await expect(verbs.listMessages(ROOT, run.sessionId)).rejects.toMatchObject({ reason: 'not_found' });
  expect((await built.entries()).map(({ action }) => action)).toEqual(['question.answer', 'session.delete']);
});

test('repeated reads leave one entry in ten minutes, each change leaves one', async () => {
  const built = await house();
  const { operations: verbs, run, clock } = built;
  const look = (caller = ROOT) => verbs.listMessages(caller, run.sessionId);
  await Promise.all([look(), look(), look()]);
  await verbs.getSession(ROOT, run.sessionId);
  clock.advance(10 * 60_000 - 1);
  await look();
  expect(await built.entries()).toHaveLength(1);
  await look({ ...ROOT, origin: { ...ORIGIN, address: '198.51.100.4' } });
  expect(await built.entries()).toHaveLength(2);
  clock.advance(1);
  await look();
  expect(await built.entries()).toHaveLength(3);
  for (const name of ['a', 'b', 'c']) await verbs.changeTeam(ROOT, 'Blue', { name }).catch(() => undefined);
  await verbs.changeUser(ROOT, 'mara', { department: 'a' });
  await verbs.changeUser(ROOT, 'mara', { department: 'a' });
  expect(await built.entries()).toHaveLength(6);
});

test('on a full disk, a read that cannot be recorded is refused, and recorded once there is room', async () => {
  let isFull = true;
  const { prepare } = Connection.prototype;
  const spy = vi.spyOn(Connection.prototype, 'prepare').mockImplementation(function (this: never, sql: string) {
    const statement = prepare.call(this, sql);
    if (!sql.startsWith('INSERT INTO audit_entries')) return statement;
    const run = (...values: unknown[]) => {
      if (isFull) throw new Connection.SqliteError('database or disk is full', 'SQLITE_FULL');
      return Reflect.apply(statement.run, statement, values);
    };
    return { run } as never;
  });
  onTestFinished(() => spy.mockRestore());
  const built = await house();
  const { operations: verbs, run } = built;
  const refusal = { reason: 'unavailable' };
  await expect(verbs.listMessages(ROOT, run.sessionId)).rejects.toMatchObject(refusal);
  await expect(verbs.createTeam(ROOT, { name: 'Red', budgetUsd: null })).rejects.toMatchObject(refusal);
  isFull = false;
  await verbs.listMessages(ROOT, run.sessionId);
  expect((await built.entries()).map(({ action }) => action)).toEqual(['session.read']);
  expect((await verbs.listTeams(ROOT)).items.map(({ name }) => name)).toEqual(['Blue']);
});
