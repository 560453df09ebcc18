// Planning: which events become deliveries of which webhooks, and that each does exactly once.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import Connection from 'better-sqlite3';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { User } from '../../../src/domain/people/user.ts';
import { WEBHOOK_EVENTS } from '../../../src/domain/webhooks/webhook.ts';
import { onlyOnSqlite, openStore } from '../../support/store/open-store.ts';
import { EVENTS_AT_ONCE } from '../../../src/store/webhooks/plan-deliveries.ts';
import { eventIdOf } from '../../../src/store/webhooks/webhook-events.ts';
import { fenceOf, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { aWebhook, renderId } from '../../support/store/webhooks.ts';

const MAIN = fileURLToPath(new URL('plan-main.ts', import.meta.url));
const MILL = '0190a0a0-0000-7000-8000-000000000001';

let fixture: StoreFixture;
/** Makes the bodies. */
let render: typeof renderId;
beforeEach(async () => {
  render = renderId;
  fixture = await storeFixture(undefined, { renderBody: (facts, target) => render(facts, target) });
});

type Given = Parameters<typeof aWebhook>[0];
const create = (over: Given = {}) => fixture.store.webhooks.create(aWebhook(over));

async function plan(): Promise<void> {
  while ((await fixture.store.deliveries.plan()).more);
}

/** A run that has ended. */
async function endRun(turn: Parameters<StoreFixture['accept']>[0] = {}) {
  const run = await fixture.accept(turn);
  const claimed = (await fixture.claim(99)).find(({ seq }) => seq === run.seq)!;
  await fixture.store.runs.finalize(fenceOf(claimed), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await fixture.store.runs.settle(fenceOf(claimed));
  return run;
}

/** The sessions whose events a webhook was sent, in order. */
const sentTo = (id: number) =>
  fixture
    .rows<{ body: string }>(`SELECT body FROM webhook_deliveries WHERE webhook_id = ${id} ORDER BY id`)
    .map(({ body }) => (JSON.parse(body) as { sessionId: string }).sessionId);
const cursor = () => fixture.rows<{ cursor: number }>('SELECT cursor FROM webhook_planning')[0]!.cursor;
const newestEvent = () => fixture.rows<{ id: number }>('SELECT max(id) AS id FROM events')[0]!.id;

async function another(username: string): Promise<User> {
  return fixture.store.users.create({ ...fixture.user, username, role: 'user', passwordHash: 'x' });
}

/** A key of another user, in the project of the mill. */
async function keyOf(user: User) {
  const { key } = fixture;
  return fixture.store.keys.create({
    ...key,
    id: `key-${user.username}`,
    userSeq: user.seq,
    projectId: MILL,
    secretSha256: Buffer.alloc(32),
  });
}

test('a webhook of a user gets the events of its owner alone, a system webhook those of all', {
  tags: ['§6.2-system'],
}, async () => {
  const olga = await another('olga');
  const [own, hers, all] = [
    await create({ userSeq: fixture.user.seq }),
    await create({ userSeq: olga.seq }),
    await create(),
  ];
  const first = await endRun();
  const second = await endRun({ user: olga, key: await keyOf(olga) });
  await plan();
  expect(sentTo(own.id)).toEqual([first.sessionId]);
  expect(sentTo(hers.id)).toEqual([second.sessionId]);
  expect(sentTo(all.id)).toEqual([first.sessionId, second.sessionId]);
});

test('one event has one id for all webhooks, and no other event has it', { tags: ['§6.3-envelope'] }, async () => {
  await create();
  await create({ userSeq: fixture.user.seq });
  const { sessionId } = await endRun();
  await endRun();
  await plan();
  const ids = fixture.rows<{ id: string; count: number }>(
    'SELECT event_id AS id, count(*) AS count FROM webhook_deliveries GROUP BY event_id ORDER BY min(id)',
  );
  expect(ids.map(({ count }) => count)).toEqual([2, 2]);
  const [event] = fixture.rows<{ id: number; createdAt: number }>(
    "SELECT id, created_at AS createdAt FROM events WHERE type = 'run.done'",
  );
  expect(ids[0]!.id).toBe(eventIdOf(sessionId, event!));
  expect(ids[0]!.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('the filters of a webhook are asked', { tags: ['§6.2-filters'] }, async () => {
  const olga = await another('olga');
  const key = await keyOf(olga);
  const wants = async (over: Given) => (await create(over)).id;
  const ids = {
    chat: await wants({ sessionKinds: ['chat'] }),
    api: await wants({ sessionKinds: ['api'] }),
    mill: await wants({ projectId: MILL }),
    quarry: await wants({ projectId: '0190a0a0-0000-7000-8000-000000000002' }),
    failures: await wants({ events: ['session.failed'] }),
    disabled: await wants({ enabled: false }),
  };
  const without = await endRun();
  const inMill = await endRun({ user: olga, key });
  await plan();
  const sent = Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, sentTo(id)]));
  const both = [without.sessionId, inMill.sessionId];
  expect(sent).toEqual({ chat: [], api: both, mill: [inMill.sessionId], quarry: [], failures: [], disabled: [] });
});

test('webhooks of a disabled user rest, and get nothing of that time later; system webhooks get it', {
  tags: ['H16'],
}, async () => {
  const olga = await another('olga');
  const [hers, all] = [await create({ userSeq: olga.seq }), await create()];
  const key = await keyOf(olga);
  const { sessionId, sessionSeq } = await fixture.accept({ user: olga, key });
  await fixture.store.users.change('olga', { disabled: true });
  await fixture.store.runs.stopSession(sessionSeq, 'operator_requested_stop');
  await plan();
  await fixture.store.users.change('olga', { disabled: false });
  await plan();
  expect([sentTo(hers.id), sentTo(all.id)]).toEqual([[], [sessionId]]);
});

test('what happened before its owner was disabled is planned for its webhook', async () => {
  const olga = await another('olga');
  const { id } = await create({ userSeq: olga.seq });
  const key = await keyOf(olga);
  const before = await endRun({ user: olga, key });
  await fixture.store.users.change('olga', { disabled: true });
  expect(sentTo(id)).toEqual([before.sessionId]);
});

test('a new webhook gets no earlier events, nor does one that is enabled again', { tags: ['H16'] }, async () => {
  await endRun();
  const { id } = await create();
  const second = await endRun();
  // What was committed before the change is still planned by the old rule, and then canceled.
  await fixture.store.webhooks.change(id, { enabled: false });
  expect(fixture.rows('SELECT state FROM webhook_deliveries')).toEqual([{ state: 'canceled' }]);
  await endRun();
  await fixture.store.webhooks.change(id, { enabled: true });
  const fourth = await endRun();
  await plan();
  expect(sentTo(id)).toEqual([second.sessionId, fourth.sessionId]);
});

test('changed filters count from the next event on', async () => {
  const { id } = await create({ events: ['session.failed'] });
  await endRun();
  await fixture.store.webhooks.change(id, { events: ['session.completed'] });
  const second = await endRun();
  await fixture.store.webhooks.change(id, { sessionKinds: ['chat'] });
  await endRun();
  await fixture.store.webhooks.change(id, { sessionKinds: null, name: 'Other' });
  const fourth = await endRun();
  await fixture.store.webhooks.change(id, { projectId: MILL });
  await endRun();
  await plan();
  expect(sentTo(id)).toEqual([second.sessionId, fourth.sessionId]);
});

test('a name or an address that changes leaves out no event', async () => {
  const { id } = await create();
  const { sessionId } = await endRun();
  await fixture.store.webhooks.change(id, { name: 'Other', url: 'https://other.example/' });
  await plan();
  expect(sentTo(id)).toEqual([sessionId]);
});

test('nothing is planned for a webhook that was deleted', async () => {
  const { id } = await create();
  await endRun();
  await fixture.store.webhooks.delete(id);
  await plan();
  expect(sentTo(id)).toEqual([]);
});

test('each event is planned once for each webhook, however often and by however many it is looked at', async () => {
  const { id } = await create();
  const run = await endRun();
  await Promise.all(Array.from({ length: 5 }, () => fixture.store.deliveries.plan()));
  expect(sentTo(id)).toEqual([run.sessionId]);
  expect(cursor()).toBe(newestEvent());
});

test('a body that cannot be made fails alone, where its owner sees it, and stops nothing that comes after it', async () => {
  const [{ id }, other] = [await create(), await create()];
  await endRun();
  const second = await endRun();
  const fault = new Error('no body');
  let bodies = 0;
  render = (facts, target) => {
    bodies += 1;
    if (bodies === 1) throw fault;
    return renderId(facts, target);
  };
  const { faults } = await fixture.store.deliveries.plan();
  expect(faults).toEqual([fault]);
  const rows = fixture.rows(
    `SELECT state, CASE WHEN body <> '' THEN 1 ELSE 0 END AS has_body, last_error FROM webhook_deliveries WHERE webhook_id = ${id} ORDER BY id`,
  );
  const words = 'The body could not be made.';
  expect(rows).toEqual([
    { state: 'failed', has_body: 0, last_error: words },
    { state: 'pending', has_body: 1, last_error: null },
  ]);
  expect(sentTo(other.id)).toHaveLength(2);
  expect(cursor()).toBe(newestEvent());
  const lanes = await fixture.store.deliveries.listPending(id, 9);
  expect(lanes.map(({ body }) => JSON.parse(body).sessionId as string)).toEqual([second.sessionId]);
});

/** Ends of runs as rows, written beside the store: a day's worth takes a while by its verbs. */
function addEnds(count: number): void {
  const [run] = fixture.rows<object>('SELECT * FROM runs WHERE seq = 1');
  const columns = Object.keys(run!).filter((name) => !['seq', 'id', 'session_seq', 'lane'].includes(name));
  const added = "FROM sessions s WHERE s.id LIKE 's%' ORDER BY s.seq";
  fixture.change(`WITH RECURSIVE n (no) AS (SELECT 1 UNION ALL SELECT no + 1 FROM n WHERE no < ${count})
    INSERT INTO sessions (id, user_seq, kind, title, status, created_at, updated_at)
    SELECT 's' || no, 1, 'api', 't', 'completed', 0, 0 FROM n ORDER BY no`);
  fixture.change(`INSERT INTO runs (id, session_seq, ${columns.join(', ')})
    SELECT 'r' || substr(s.id, 2), s.seq, ${columns.map((name) => `(SELECT ${name} FROM runs WHERE seq = 1)`).join(', ')} ${added}`);
  fixture.change(`INSERT INTO messages (session_seq, run_seq, role, content, text_preview, created_at)
    SELECT session_seq, seq, 'user', '', '', 0 FROM runs WHERE id LIKE 'r%' ORDER BY seq`);
  fixture.change(`INSERT INTO session_totals (session_seq) SELECT s.seq ${added}`);
  fixture.change(`INSERT INTO events (session_seq, run_seq, stream_seq, type, payload, created_at)
    SELECT session_seq, seq, 1, 'run.done', '{"status":"completed"}', 0 FROM runs WHERE id LIKE 'r%' ORDER BY seq`);
}

test('a backlog is worked off in bounded commits', async () => {
  await endRun();
  const { id } = await create();
  addEnds(250);
  const batches = [];
  for (let more = true; more; ) {
    ({ more } = await fixture.store.deliveries.plan());
    batches.push(sentTo(id).length);
  }
  expect(batches).toEqual([EVENTS_AT_ONCE, 2 * EVENTS_AT_ONCE, 250]);
  expect(new Set(sentTo(id)).size).toBe(250);
});

test('a commit ends early when many webhooks want each event', async () => {
  await endRun();
  const ids = [];
  for (let no = 0; no < 60; no += 1) ids.push((await create()).id);
  addEnds(20);
  const batches = [];
  for (let more = true; more; ) {
    ({ more } = await fixture.store.deliveries.plan());
    batches.push(fixture.rows('SELECT id FROM webhook_deliveries').length);
  }
  expect(batches).toEqual([500, 1_000, 1_200]);
  for (const id of ids) expect(new Set(sentTo(id)).size).toBe(20);
});

test('a commit ends in the middle of an event when bodies are long, and the next one continues with it', async () => {
  await endRun();
  const ids = [];
  for (let no = 0; no < 10; no += 1) ids.push((await create()).id);
  addEnds(2);
  let bodies = 0;
  render = (facts, target) => {
    bodies += 1;
    return JSON.stringify({ ...JSON.parse(renderId(facts, target)), long: 'x'.repeat(150_000) });
  };
  const batches = [];
  for (let more = true; more; ) {
    ({ more } = await fixture.store.deliveries.plan());
    batches.push(fixture.rows('SELECT id FROM webhook_deliveries').length);
  }
  expect(batches).toEqual([7, 14, 20]);
  expect(bodies).toBe(20);
  for (const id of ids) expect(sentTo(id)).toEqual(['s1', 's2']);
  expect(cursor()).toBe(newestEvent());
});

test('an event that cannot be read fails alone, for all its webhooks, and stops no change of them', async () => {
  const [{ id }, other] = [await create(), await create()];
  const broken = await endRun();
  const second = await endRun();
  fixture.change(`UPDATE events SET payload = 'no JSON' WHERE run_seq = ${broken.seq} AND type = 'run.done'`);
  await fixture.store.webhooks.change(other.id, { events: ['session.failed'] });
  const rows = fixture.rows("SELECT webhook_id, state, body FROM webhook_deliveries WHERE body = '' ORDER BY id");
  expect(rows).toEqual([id, other.id].map((webhookId) => ({ webhook_id: webhookId, state: 'failed', body: '' })));
  const pending = await fixture.store.deliveries.listPending(id, 9);
  expect(pending.map(({ body }) => JSON.parse(body).sessionId as string)).toEqual([second.sessionId]);
});

test('the events of a backlog are planned in their order, whatever their types', async () => {
  const { id } = await create({ events: ['session.completed', 'session.stopped'] });
  const runs = [];
  for (let no = 0; no < 6; no += 1) {
    if (no % 2 === 0) runs.push(await endRun());
    else {
      const run = await fixture.accept();
      await fixture.store.runs.stopSession(run.sessionSeq, 'user_requested_stop');
      runs.push(run);
    }
  }
  await plan();
  expect(sentTo(id)).toEqual(runs.map(({ sessionId }) => sessionId));
});

test.each([1, 100, 101, 250])(
  'killed at body %d, and started again, it has planned each event once',
  { tags: ['H3-at-least-once'] },
  async (killAt) => {
    await endRun();
    const { id } = await create();
    addEnds(250);
    await fixture.store.close();
    const { signal } = spawnSync(process.execPath, [MAIN, fixture.file, String(killAt)]);
    expect(signal).toBe('SIGKILL');
    // What was committed before is kept, and nothing of the commit that was cut short.
    expect(sentTo(id)).toHaveLength(Math.floor((killAt - 1) / EVENTS_AT_ONCE) * EVENTS_AT_ONCE);
    const again = openStore(fixture.file, fixture.clock, { renderBody: renderId });
    onTestFinished(() => again.close());
    while ((await again.deliveries.plan()).more);
    expect(sentTo(id)).toEqual(Array.from({ length: 250 }, (_, no) => `s${no + 1}`));
  },
);

/** The statements that reach SQLite while `work` is done. */
async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const sqls: string[] = [];
  const { prepare } = Connection.prototype;
  const spy = vi.spyOn(Connection.prototype, 'prepare').mockImplementation(function (this: Connection.Database, sql) {
    sqls.push(sql);
    return prepare.call(this, sql) as never;
  });
  await work().finally(() => spy.mockRestore());
  return sqls;
}

test('events of a type that nobody wants are not read, however many there are', onlyOnSqlite('its plans'), async () => {
  await endRun();
  const { id } = await create({ events: ['user_input.requested'] });
  addEnds(EVENTS_AT_ONCE * 3);
  const sqls = await statementsOf(async () => {
    const { more, wanted } = await fixture.store.deliveries.plan();
    expect([more, [...wanted]]).toEqual([false, ['user_input.requested']]);
  });
  expect(cursor()).toBe(newestEvent());
  expect(sentTo(id)).toEqual([]);
  const events = sqls.find((sql) => sql.includes("FROM events WHERE (type = '"))!;
  const connection = new Connection(fixture.file);
  onTestFinished(() => void connection.close());
  const how = connection.prepare(`EXPLAIN QUERY PLAN ${events}`).all(null, null, null) as { detail: string }[];
  expect(how.map(({ detail }) => detail)).toEqual([
    'SEARCH events USING INDEX events_for_webhooks (type=? AND rowid>?)',
  ]);
});

test('without an enabled webhook nothing is wanted', async () => {
  const wanted = async () => [...(await fixture.store.deliveries.plan()).wanted];
  expect(await wanted()).toEqual([]);
  const { id } = await create({ events: ['session.completed', 'publish_page.failed'] });
  expect(await wanted()).toEqual(['run.done', 'publish_page.failed']);
  await fixture.store.webhooks.change(id, { enabled: false });
  expect(await wanted()).toEqual([]);
  await fixture.store.webhooks.change(id, { enabled: true });
  await fixture.store.webhooks.giveUp({ id, epoch: 2 }, 'gone');
  expect(await wanted()).toEqual([]);
  const other = await create();
  expect(await wanted()).toHaveLength(3);
  await fixture.store.webhooks.delete(other.id);
  expect(await wanted()).toEqual([]);
});

test('every event type is yielded by a journal type of its own', { tags: ['§6.2-types'] }, () => {
  const journalTypes = Object.values(WEBHOOK_EVENTS).map(({ journalType }) => journalType);
  expect(new Set(journalTypes).size).toBe(journalTypes.length);
});
