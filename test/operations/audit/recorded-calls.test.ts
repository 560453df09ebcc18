// Which calls leave an entry in the audit log, and which leave none.
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Administrator, Caller } from '../../../src/domain/people/user.ts';
import { newId } from '../../../src/domain/ids.ts';
import { aTask } from '../../support/store/schedules.ts';
import { aWebhook } from '../../support/store/webhooks.ts';
import { fenceOf } from '../../support/store/store-fixture.ts';
import { type AuditedFixture, auditedFixture, ORIGIN, PAGE, ROOT } from '../../support/store/audited-fixture.ts';

/** The caller on a route for programs or for people, where nothing is recorded. */
const itsOwn = ({ user, key }: AuditedFixture): readonly Caller[] => [
  { kind: 'key', user, key, reach: 'key' },
  { kind: 'token', user, reach: 'user' },
];

test('what people do with their own things is not recorded', async () => {
  const built = await auditedFixture();
  const { operations: verbs, run, insightId, questionId } = built;
  for (const caller of itsOwn(built)) {
    await verbs.listMessages(caller, run.sessionId);
    await verbs.followRun(caller, run.id);
    await verbs.getInsight(caller, insightId);
  }
  const [key] = itsOwn(built);
  await verbs.answerUserInput(key!, questionId, { answers: 'red' });
  await verbs.deleteSession(key!, run.sessionId);
  expect(await built.entries()).toEqual([]);
});

test("an administrator's read of their own conversation is not recorded, and their changes are", async () => {
  const built = await auditedFixture();
  const self: Administrator = { kind: 'token', user: built.user, reach: 'all', origin: ORIGIN };
  await built.operations.listMessages(self, built.run.sessionId);
  await built.operations.listInsights(self, { sessionId: null, status: null, ...PAGE });
  expect(await built.entries()).toEqual([]);
  await built.operations.stopSession(self, built.run.sessionId);
  expect(await built.entries()).toMatchObject([{ action: 'session.stop', actor: { via: 'token', keyId: null } }]);
});

test('what was refused, and a move that came too late, is not recorded', async () => {
  const built = await auditedFixture();
  const { operations: verbs, questionId, run } = built;
  await expect(verbs.createTeam(ROOT, { name: 'Blue', budgetUsd: null })).rejects.toMatchObject({ reason: 'conflict' });
  await verbs.answerUserInput(ROOT, questionId, { answers: 'red' });
  await expect(verbs.expireUserInput(ROOT, questionId)).rejects.toMatchObject({ reason: 'conflict' });
  await verbs.deleteSession(ROOT, run.sessionId);
  await expect(verbs.deleteSession(ROOT, run.sessionId)).rejects.toMatchObject({ reason: 'not_found' });
  await expect(verbs.listMessages(ROOT, run.sessionId)).rejects.toMatchObject({ reason: 'not_found' });
  expect((await built.entries()).map(({ action }) => action)).toEqual(['question.answer', 'session.delete']);
});

test('repeated reads leave one entry in ten minutes, each change leaves one', async () => {
  const built = await auditedFixture();
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

test('a list leaves one entry a minute and reader, however many owners and things are on it', {
  tags: ['G10'],
}, async () => {
  const built = await auditedFixture();
  const { operations: verbs, clock } = built;
  const blank = { fullName: '', department: '', role: 'user', teamId: null, functionalRole: null } as const;
  const user = await built.store.users.create({ ...blank, username: 'otto', scenario: null, passwordHash: 'x' });
  await built.accept({ user, key: await built.makeKey() });
  const glance = (caller = ROOT) => verbs.getOfficeSnapshot(caller, { limit: 9, timeZone: 'UTC' });
  await Promise.all([glance(), glance(), verbs.listLiveRuns(ROOT, PAGE)]);
  clock.advance(59_999);
  await glance();
  expect(await built.entries()).toMatchObject([{ action: 'house.read', targetId: 'house' }]);
  await glance({ kind: 'operator', reach: 'all', origin: ORIGIN });
  await verbs.listSessions(ROOT, { user: null, key: null, ...PAGE });
  expect((await built.entries()).map(({ action }) => action)).toEqual(['house.read', 'house.read', 'session.list']);
  clock.advance(1);
  for (let poll = 0; poll < 60; poll += 1) {
    await glance();
    clock.advance(2_000);
  }
  expect(await built.entries()).toHaveLength(5);
});

test('so do lists of whole texts: of questions, insights and scheduled tasks', async () => {
  const built = await auditedFixture();
  const { operations: verbs, clock, store } = built;
  const blank = { fullName: '', department: '', role: 'user', teamId: null, functionalRole: null } as const;
  const user = await store.users.create({ ...blank, username: 'otto', scenario: null, passwordHash: 'x' });
  await store.schedules.create(aTask(user.seq));
  await built.accept({ user, key: await built.makeKey() });
  const [run] = await built.claim();
  const insight = { callId: 'i', title: 'Salt', summary: 'It rusts.', priority: 'low' } as const;
  await store.insights.report(fenceOf(run!), insight);
  const question = { toolUseId: 'q', toolName: 'ask_user', toolInput: {}, lifetimeMs: 60_000 };
  await store.runs.waitForUser(fenceOf(run!), question);
  const poll = async () => {
    const all = { sessionId: null, status: null, ...PAGE };
    const { items } = await verbs.listUserInputs(ROOT, all);
    const insights = await verbs.listInsights(ROOT, all);
    const tasks = await verbs.listScheduledTasks(ROOT, { user: null, name: null, enabled: null, ...PAGE });
    return [items, insights.items, tasks.items].map(({ length }) => length);
  };
  expect(await poll()).toEqual([2, 2, 2]);
  clock.advance(59_999);
  await poll();
  const once = ['question.list', 'insight.list', 'scheduled_task.list'].map((action) => ({
    action,
    targetType: 'house',
    targetId: 'house',
  }));
  expect(await built.entries()).toMatchObject(once);
  clock.advance(1);
  await poll();
  expect(await built.entries()).toMatchObject([...once, ...once]);
});

test('a list with nothing of others on it is not recorded', async () => {
  const built = await auditedFixture();
  const { operations: verbs, user } = built;
  const self: Administrator = { kind: 'token', user, reach: 'all', origin: ORIGIN };
  await verbs.listSessions(self, { user: null, key: null, ...PAGE });
  await verbs.getOfficeSnapshot(self, { limit: 9, timeZone: 'UTC' });
  await verbs.listShares(self, { pageKey: null, ...PAGE });
  await verbs.listPages(ROOT, { name: 'Nowhere', origin: null, ...PAGE });
  expect(await built.entries()).toEqual([]);
});

test('a list of one thing is a read of that thing', async () => {
  const built = await auditedFixture();
  const { operations: verbs, run, page, clock } = built;
  await verbs.listRuns(ROOT, { sessionId: run.sessionId, status: null, ...PAGE });
  await verbs.listShares(ROOT, { pageKey: page.key, ...PAGE });
  clock.advance(10 * 60_000);
  await verbs.listUserInputs(ROOT, { sessionId: run.sessionId, status: null, ...PAGE });
  clock.advance(10 * 60_000);
  await verbs.listInsights(ROOT, { sessionId: run.sessionId, status: null, ...PAGE });
  const ofSession = { action: 'session.read', targetId: run.sessionId };
  expect(await built.entries()).toMatchObject([
    ofSession,
    { action: 'page.read', targetId: page.key },
    ofSession,
    ofSession,
  ]);
});

test('a delivery without a session is a thing of the owner of its webhook', async () => {
  const built = await auditedFixture();
  const { operations: verbs, store, webhook } = built;
  const ofSystem = await store.webhooks.create(aWebhook({ userSeq: null }));
  const attempted = { at: 1, statusCode: 500, durationMs: 1, error: 'It failed.', responseExcerpt: 'no' };
  const test = { eventType: 'session.completed', sessionSeq: null, body: '{}' } as const;
  for (const [index, of] of [webhook, ofSystem].entries()) {
    const id = await store.deliveries.recordTest({ webhook: of, eventId: newId(index), ...test }, attempted);
    await verbs.getDelivery(ROOT, id);
    const read = { action: 'delivery.read', targetId: String(id), sessionId: null };
    if (of === webhook) expect(await built.entries()).toMatchObject([read]);
  }
  expect(await built.entries()).toHaveLength(1);
});

test('a change that changes nothing, but shows what is there, is a read', async () => {
  const built = await auditedFixture();
  const { operations: verbs, webhook, page } = built;
  await verbs.changeWebhook(ROOT, webhook.id, {});
  await verbs.withdrawShare(ROOT, page.shareCode);
  await verbs.withdrawShare(ROOT, page.shareCode);
  expect((await built.entries()).map(({ action }) => action)).toEqual(['webhook.read', 'share.withdraw', 'share.read']);
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
  const built = await auditedFixture();
  const { operations: verbs, run } = built;
  const refusal = { reason: 'unavailable' };
  await expect(verbs.listMessages(ROOT, run.sessionId)).rejects.toMatchObject(refusal);
  await expect(verbs.createTeam(ROOT, { name: 'Red', budgetUsd: null })).rejects.toMatchObject(refusal);
  isFull = false;
  await verbs.listMessages(ROOT, run.sessionId);
  expect((await built.entries()).map(({ action }) => action)).toEqual(['session.read']);
  expect((await verbs.listTeams(ROOT)).items.map(({ name }) => name)).toEqual(['Blue']);
});
