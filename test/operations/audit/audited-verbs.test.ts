// Every verb that an administrator may call, and what the audit log has of it.
import { expect, test } from 'vitest';
import { AUDIT_ACTIONS, type AuditAction } from '../../../src/domain/people/audit.ts';
import type { Administrator } from '../../../src/domain/people/user.ts';
import { UNASSIGNED_TEAM } from '../../../src/domain/sessions/office.ts';
import { type Operations } from '../../../src/operations/operations.ts';
import {
  type AuditedFixture,
  auditedFixture,
  EVENTS,
  ORIGIN,
  PAGE,
  ROOT,
  SIGNAL,
} from '../../support/store/audited-fixture.ts';

/** What is recorded of a verb, and a call of it. */
type Line = readonly [AuditAction, (fixture: AuditedFixture, verbs: Operations) => Promise<unknown>];

/** The same administrator, with the row of a key that is there. */
const heldBy = (seq: number): Administrator => (ROOT.kind === 'key' ? { ...ROOT, key: { ...ROOT.key, seq } } : ROOT);

const NEW_USER = { fullName: null, department: null, role: null, team: null, scenario: null };
const NEW_WEBHOOK = {
  name: 'Ledger',
  url: 'https://1.1.1.1/hook',
  events: ['session.completed'],
  ownerScope: null,
  user: 'mara',
} as const;
const NEW_PAGE = {
  name: 'Tides',
  description: null,
  category: null,
  tags: [],
  entryPath: '/site/index.html',
  isOnBoard: false,
  isDistractionFree: false,
  scheduledTaskId: null,
};
const A_BUDGET = {
  subject: 'run',
  reference: null,
  unit: 'usd',
  limit: 1,
  period: 'all',
  timeZone: null,
} as const;
const EVERY_DELIVERY = {
  webhookId: null,
  eventId: null,
  eventType: null,
  state: null,
  since: null,
  until: null,
  ...PAGE,
} as const;
const EVERY_BUDGET = { subject: null, reference: null, limit: 9, offset: 0 } as const;
const NEW_KEY = { scope: 'global', name: null, model: null, target: 'free', capabilityChoice: null } as const;

/**
 * Every verb: a new one doesn't compile until it has its line. A verb without an entry has a reason: it isn't an
 * administrator's, it changes nothing and shows no words of others, or it is an entry point.
 */
const VERBS: Readonly<Record<keyof Operations, Line | 'entry point' | 'of programs' | 'nothing of others'>> = {
  authenticate: 'entry point',
  logIn: 'entry point',
  officeLogins: 'entry point',
  createOfficeLink: ['office_login.create', ({ key }, v) => v.createOfficeLink(heldBy(key.seq))],
  endOfficeLogins: ['office_login.end_all', (_, v) => v.endOfficeLogins(ROOT)],
  openFile: 'entry point',
  publicPages: 'entry point',
  acceptTurn: 'of programs',
  lookAtTask: 'of programs',
  pollTask: 'of programs',
  listOwnFiles: 'of programs',
  openOwnFile: 'of programs',
  awaitResult: 'of programs',
  countTokens: 'of programs',
  pollRun: 'of programs',
  getResponse: 'of programs',
  followResponse: 'of programs',
  cancelResponse: 'of programs',
  deleteResponse: 'of programs',
  listResponseInput: 'of programs',
  withPosition: 'of programs',
  getModelName: 'of programs',
  listOwnSessions: 'of programs',
  getOfficeSnapshot: ['house.read', (_, v) => v.getOfficeSnapshot(ROOT, { limit: 9, timeZone: 'UTC' })],
  listLiveRuns: ['house.read', (_, v) => v.listLiveRuns(ROOT, PAGE)],
  getLastHour: 'nothing of others',
  listTodayRuns: [
    'house.read',
    (_, v) => v.listTodayRuns(ROOT, UNASSIGNED_TEAM.id, { source: null, timeZone: 'UTC', limit: 9, page: 1 }),
  ],
  listUsers: 'nothing of others',
  getUser: 'nothing of others',
  createUser: [
    'user.create',
    (_, v) => v.createUser(ROOT, { ...NEW_USER, username: 'nils', password: 'long enough!' }),
  ],
  changeUser: ['user.change', (_, v) => v.changeUser(ROOT, 'mara', { department: 'Mill' })],
  setPassword: ['user.set_password', (_, v) => v.setPassword(ROOT, 'mara', { password: 'long enough!' })],
  createBackup: [
    'backup.create',
    (_, v) => v.createBackup(ROOT, { directory: '/backups', workspaces: null, passphrase: null }),
  ],
  sendBackup: [
    'backup.create',
    (_, v) => v.sendBackup(ROOT, { workspaces: null, passphrase: null }, async () => undefined, SIGNAL),
  ],
  getBackupJob: 'nothing of others',
  cancelBackup: ['backup.cancel', (_, v) => v.cancelBackup(ROOT, 'b')],
  pruneBackups: [
    'backup.prune',
    (_, v) => v.pruneBackups(ROOT, { directory: '/backups', keepDays: null, keepAtLeast: null }),
  ],
  listTeams: 'nothing of others',
  listNodes: 'nothing of others',
  getNode: 'nothing of others',
  drainNode: ['node.drain', (_, v) => v.drainNode(ROOT, 'here')],
  undrainNode: ['node.undrain', (_, v) => v.undrainNode(ROOT, 'here')],
  removeNode: ['node.remove', (_, v) => v.removeNode(ROOT, 'gone')],
  listBudgets: 'nothing of others',
  getBudget: 'nothing of others',
  setBudget: ['budget.set', (_, v) => v.setBudget(ROOT, A_BUDGET)],
  removeBudget: [
    'budget.remove',
    async (_, v) => v.removeBudget(ROOT, (await v.listBudgets(ROOT, EVERY_BUDGET)).items[0]!.id),
  ],
  createTeam: ['team.create', (_, v) => v.createTeam(ROOT, { name: 'Red', budgetUsd: null })],
  changeTeam: ['team.change', (_, v) => v.changeTeam(ROOT, 'Blue', { budgetUsd: 1 })],
  listKeys: 'nothing of others',
  getKey: 'nothing of others',
  createKey: [
    'key.create',
    (_, v) =>
      v.createKey(ROOT, { ...NEW_KEY, user: 'mara', projectId: null, continueBy: null, expiresInSeconds: null }),
  ],
  changeKey: ['key.change', ({ key }, v) => v.changeKey(ROOT, key.id, { name: 'n' })],
  revokeKey: ['key.revoke', ({ key }, v) => v.revokeKey(ROOT, key.id)],
  listSigningKeys: 'nothing of others',
  rotateSigningKey: ['token.rotate', (_, v) => v.rotateSigningKey(ROOT)],
  revokeAllTokens: ['token.revoke_all', (_, v) => v.revokeAllTokens(ROOT)],
  listDefinitions: 'nothing of others',
  getDefinition: 'nothing of others',
  checkDefinitions: ['definition.check', (_, v) => v.checkDefinitions(ROOT, 'skills')],
  listModels: 'nothing of others',
  getRetention: 'nothing of others',
  getOrphans: 'nothing of others',
  getRetentionProgress: 'nothing of others',
  collectNow: ['retention.collect', (_, v) => v.collectNow(ROOT, { trustClock: true })],
  checkModel: ['model.check', (_, v) => v.checkModel(ROOT, 'qwen', { context: false }, SIGNAL)],
  checkMcpServer: ['mcp_server.check', (_, v) => v.checkMcpServer(ROOT, 'tide', SIGNAL)],
  listConnections: 'nothing of others',
  createConnection: [
    'connection.create',
    (_, v) => v.createConnection(ROOT, { user: 'mara', connector: 'crm', name: null, secret: 's' }),
  ],
  revokeConnection: ['connection.revoke', ({ connection }, v) => v.revokeConnection(ROOT, connection.id)],
  checkConnection: ['connection.check', ({ connection }, v) => v.checkConnection(ROOT, connection.id)],
  checkConnector: ['connector.check', (_, v) => v.checkConnector(ROOT, 'crm')],
  listScheduledTasks: [
    'scheduled_task.list',
    (_, v) => v.listScheduledTasks(ROOT, { user: null, name: null, enabled: null, ...PAGE }),
  ],
  getScheduledTask: ['scheduled_task.read', ({ task }, v) => v.getScheduledTask(ROOT, task.id)],
  createScheduledTask: [
    'scheduled_task.create',
    (_, v) => v.createScheduledTask(ROOT, { user: 'mara', name: 'Tides', cron: '0 7 * * *', prompt: 'Look.' }),
  ],
  changeScheduledTask: [
    'scheduled_task.change',
    ({ task }, v) => v.changeScheduledTask(ROOT, task.id, { enabled: false }),
  ],
  deleteScheduledTask: ['scheduled_task.delete', ({ task }, v) => v.deleteScheduledTask(ROOT, task.id)],
  runScheduledTask: ['scheduled_task.run', ({ task }, v) => v.runScheduledTask(ROOT, task.id)],
  listFirings: ['scheduled_task.read', ({ task }, v) => v.listFirings(ROOT, task.id, PAGE)],
  listWebhooks: ['webhook.list', (_, v) => v.listWebhooks(ROOT, { ownerScope: null, enabled: null, ...PAGE })],
  getWebhook: ['webhook.read', ({ webhook }, v) => v.getWebhook(ROOT, webhook.id)],
  createWebhook: ['webhook.create', (_, v) => v.createWebhook(ROOT, NEW_WEBHOOK)],
  changeWebhook: ['webhook.change', ({ webhook }, v) => v.changeWebhook(ROOT, webhook.id, { enabled: false })],
  deleteWebhook: ['webhook.delete', ({ webhook }, v) => v.deleteWebhook(ROOT, webhook.id)],
  testWebhook: [
    'webhook.test',
    ({ webhook }, v) => v.testWebhook(ROOT, webhook.id, { eventType: 'session.failed', sessionId: null }),
  ],
  listDeliveries: ['delivery.list', (_, v) => v.listDeliveries(ROOT, EVERY_DELIVERY)],
  getDelivery: ['delivery.read', ({ deliveryId }, v) => v.getDelivery(ROOT, deliveryId)],
  redeliver: ['delivery.redeliver', ({ deliveryId }, v) => v.redeliver(ROOT, deliveryId)],
  redeliverMany: [
    'webhook.redeliver',
    ({ webhook }, v) => v.redeliverMany(ROOT, { webhookId: webhook.id, state: 'failed', since: 0 }),
  ],
  listPages: ['page.list', (_, v) => v.listPages(ROOT, { name: null, origin: null, ...PAGE })],
  getPage: ['page.read', ({ page }, v) => v.getPage(ROOT, page.key)],
  listPageVersions: ['page.read', ({ page }, v) => v.listPageVersions(ROOT, page.key, PAGE)],
  createPage: [
    'page.create',
    ({ published }, v) => v.createPage(ROOT, { ...NEW_PAGE, sessionId: published.sessionId }),
  ],
  changePage: ['page.change', ({ page }, v) => v.changePage(ROOT, page.key, { name: 'n' })],
  deletePage: ['page.delete', ({ page }, v) => v.deletePage(ROOT, page.key)],
  publishVersion: ['page.release', ({ page }, v) => v.publishVersion(ROOT, page.key, { reason: null })],
  listShares: ['share.list', (_, v) => v.listShares(ROOT, { pageKey: null, ...PAGE })],
  getShare: ['share.read', ({ page }, v) => v.getShare(ROOT, page.shareCode)],
  changeShare: ['share.change', ({ page }, v) => v.changeShare(ROOT, page.shareCode, { expiresAt: null })],
  withdrawShare: ['share.withdraw', ({ page }, v) => v.withdrawShare(ROOT, page.shareCode)],
  listenToEvents: [
    'house.follow',
    (_, v) => v.listenToEvents(ROOT, { ownerScope: 'system', types: [], afterId: 0, limit: 9, waitMs: 0 }, SIGNAL),
  ],
  getSampleEvent: [
    'session.read',
    ({ run }, v) => v.getSampleEvent(ROOT, { eventType: 'session.failed', sessionId: run.sessionId }),
  ],
  listSessions: ['session.list', (_, v) => v.listSessions(ROOT, { user: null, key: null, ...PAGE })],
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
  watchOffice: ['house.follow', (_, v) => v.watchOffice(ROOT, null)],
  forkSession: [
    'session.fork',
    async ({ store, run }, v) => {
      await store.runs.stopRun({ sessionSeq: run.sessionSeq, runSeq: run.seq }, 'user_requested_stop');
      return v.forkSession(ROOT, run.sessionId, { runId: run.id });
    },
  ],
  stopSession: ['session.stop', ({ run }, v) => v.stopSession(ROOT, run.sessionId)],
  deleteSession: ['session.delete', ({ run }, v) => v.deleteSession(ROOT, run.sessionId)],
  listRuns: ['run.list', (_, v) => v.listRuns(ROOT, { sessionId: null, status: null, ...PAGE })],
  getRun: ['run.read', ({ run }, v) => v.getRun(ROOT, run.id)],
  getDatabase: 'nothing of others',
  explainRun: ['run.read', ({ run }, v) => v.explainRun(ROOT, run.id)],
  exportRun: ['run.read', ({ run }, v) => v.exportRun(ROOT, run.id)],
  getRunArtifacts: ['run.read', ({ run }, v) => v.getRunArtifacts(ROOT, run.id)],
  followRun: ['run.follow', ({ run }, v) => v.followRun(ROOT, run.id)],
  stopRun: ['run.stop', ({ run }, v) => v.stopRun(ROOT, run.id)],
  listUserInputs: ['question.list', (_, v) => v.listUserInputs(ROOT, { sessionId: null, status: null, ...PAGE })],
  getUserInput: ['question.read', ({ questionId }, v) => v.getUserInput(ROOT, questionId)],
  answerUserInput: ['question.answer', ({ questionId }, v) => v.answerUserInput(ROOT, questionId, { answers: 'red' })],
  expireUserInput: ['question.expire', ({ questionId }, v) => v.expireUserInput(ROOT, questionId)],
  listInsights: ['insight.list', (_, v) => v.listInsights(ROOT, { sessionId: null, status: null, ...PAGE })],
  getInsight: ['insight.read', ({ insightId }, v) => v.getInsight(ROOT, insightId)],
  setInsightStatus: [
    'insight.change',
    ({ insightId }, v) => v.setInsightStatus(ROOT, insightId, { status: 'resolved' }),
  ],
  getQueue: 'nothing of others',
  getStatus: 'nothing of others',
  getHoldings: ['user.read', (_, v) => v.getHoldings(ROOT, 'mara')],
  leaveUser: [
    'user.leave',
    async ({ store, user }, v) => {
      await store.users.create({ ...user, username: 'ben', passwordHash: 'x' });
      return v.leaveUser(ROOT, 'ben', { heir: null, deletes: true });
    },
  ],
  planImport: 'nothing of others',
  getConfiguration: 'nothing of others',
  findLostPins: 'nothing of others',
  examine: 'nothing of others',
  findId: 'nothing of others',
  listAuditEntries: 'nothing of others',
  getAuditHead: 'nothing of others',
};

const RECORDED = Object.entries(VERBS).filter((entry): entry is [string, Line] => typeof entry[1] !== 'string');

test('every verb says whether it is recorded', { tags: ['G10'] }, async () => {
  const { operations } = await auditedFixture();
  expect(Object.keys(VERBS).sort()).toEqual(Object.keys(operations).sort());
});

test('every action is that of a verb', () => {
  const actions = new Set(RECORDED.map(([, [action]]) => action));
  // The daemon's own: test/retention/retention.test.ts. Of whoever acts as a user: test/operations/people/authenticate.test.ts.
  expect([...actions, 'audit.remove', 'key.use'].sort()).toEqual(Object.keys(AUDIT_ACTIONS).sort());
});

test.each(RECORDED)(
  '%s of an administrator is recorded once, with who, what, which and from where',
  async (_, line) => {
    const [action, call] = line;
    const built = await auditedFixture();
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
        sessionId:
          action === 'page.create'
            ? built.published.sessionId
            : /^((session|run|delivery|question|insight)\.(?!list))/.test(action)
              ? built.run.sessionId
              : null,
        ...ORIGIN,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
  },
);
