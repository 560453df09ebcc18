// Retention: what goes by age, what stays true of it, and what a clock that jumps can't do.
import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { auditHashOf, type NewAuditEntry, NO_HASH } from '../../src/domain/people/audit.ts';
import type { Settings } from '../../src/domain/settings.ts';
import { makeLog } from '../../src/log/log.ts';
import type { Orphans } from '../../src/retention/orphans.ts';
import { makeRetention } from '../../src/retention/retention.ts';
import { makeBatch } from '../../src/store/retention/batch.ts';
import { keepOfUpgradeCopies } from '../../src/retention/upgrade-copies.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { aStep, fenceOf, FREE, storeFixture } from '../support/store/store-fixture.ts';
import { aWebhook } from '../support/store/webhooks.ts';
import { messagesOf } from '../support/store/read-whole.ts';

const DAY = 86_400_000;
const NEVER: Settings['retention'] = {
  eventsDays: 0,
  runsDays: 0,
  auditDays: 0,
  workspacesIdleDays: 0,
  exportsDays: 0,
  firingsDays: 0,
  scheduledSessionsDays: 0,
  throwAwaySessionsDays: 0,
  versionsKeep: 0,
  upgradeCopiesDays: 0,
};
const NO_ORPHANS: Orphans = {
  report: async () => ({ blobs: 0, bytes: 0, workspaces: 0, examples: [], isAtLeast: false }),
  due: () => ({ kind: { name: 'orphans', remove: async () => ({ rows: 0, more: false }) }, bound: 0 }),
};
const seal = (text: string) => `sealed ${text}`;

async function retentionFixture(given: Partial<Settings['retention']> = {}) {
  const fixture = await storeFixture();
  const { store, clock } = fixture;
  const directory = temporaryDirectory({});
  let keep = { ...NEVER, ...given };
  /** How often a pass has looked for files that no row names. */
  const sweeps = { now: 0 };
  const retention = makeRetention({
    store,
    seal,
    emptyIdle: async () => ({ rows: 0, more: false }),
    upgradeCopies: keepOfUpgradeCopies(directory),
    orphans: { ...NO_ORPHANS, due: () => ((sweeps.now += 1), NO_ORPHANS.due()) },
    beforeRemoving: async () => void (await store.deliveries.plan()),
    removed: () => undefined,
    clock,
    log: makeLog({ level: 'fatal' }),
    settings: () => ({ retention: keep }),
  });
  onTestFinished(() => retention.stop());
  /** Waits for the work in progress; its pauses pass at once. */
  const settled = async () => {
    for (let isOver = false; !isOver; ) {
      isOver = await Promise.race([
        retention.settled().then(() => true),
        new Promise<false>((resolve) => void setImmediate(() => resolve(false))),
      ]);
      if (!isOver) clock.advance(5);
    }
  };
  /** Works until nothing is due. Time that has passed before may have begun to work already. */
  const pass = async () => {
    for (let times = 0; times < 2; times += 1) {
      await settled();
      retention.wake();
    }
    await settled();
  };
  /** A run with a tool call and an answer in two texts. */
  const finished = async (turn: Parameters<typeof fixture.accept>[0] = {}) => {
    const accepted = await fixture.accept(turn);
    const [run] = await fixture.claim();
    const fence = fenceOf(run!);
    const calls = [{ id: 'x', name: 'shell', input: { command: 'ls' } }];
    await store.runs.recordStep(fence, aStep({ text: 'I look.', calls }), FREE);
    const result = { step: 1, toolUseId: 'x', name: 'shell', ok: true, output: 'a lot', durationMs: 1 };
    await store.runs.recordToolResult(fence, result);
    await store.runs.recordStep(fence, aStep({ step: 2, text: 'Here it is.' }), FREE);
    await store.runs.finalize(fence, { outcome: 'completed', answer: 'Here it is.', stopReason: 'end_turn' });
    await store.runs.settle(fence, { untouched: true });
    return accepted;
  };
  const count = (from: string) => fixture.rows<{ n: number }>(`SELECT count(*) AS n FROM ${from}`)[0]!.n;
  /** Days pass in which the daemon looked at the clock. */
  const days = async (number: number) => {
    for (let day = 0; day < number; day += 1) {
      clock.advance(DAY);
      await store.retention.lookAtClock();
    }
  };
  const set = (settings: Partial<Settings['retention']>) => void (keep = { ...NEVER, ...settings });
  return { ...fixture, directory, retention, sweeps, pass, finished, count, days, set };
}

test('nothing is removed unless a setting says when', async () => {
  const fixture = await retentionFixture();
  await fixture.finished();
  await fixture.days(400);
  const before = fixture.count('events');
  await fixture.pass();
  expect(fixture.count('events')).toBe(before);
  const { kinds } = await fixture.retention.report();
  expect(kinds.every(({ keep, rows }) => keep === null && rows === 0)).toBe(true);
});

test('a run loses its journal at its age, and keeps its answer, its history and its usage', async () => {
  const fixture = await retentionFixture({ eventsDays: 10 });
  const old = await fixture.finished();
  await fixture.days(9);
  const young = await fixture.finished();
  await fixture.days(1);
  fixture.clock.advance(1);
  const before = await messagesOf(fixture.store, old.sessionSeq);
  await fixture.pass();
  expect(fixture.count(`events WHERE run_seq = ${old.seq}`)).toBe(0);
  expect(fixture.count(`events WHERE run_seq = ${young.seq}`)).toBeGreaterThan(5);
  expect(await messagesOf(fixture.store, old.sessionSeq)).toEqual(before);
  expect(await fixture.store.runs.getOutcome(old.seq)).toMatchObject({ status: 'completed', answer: 'Here it is.' });
  expect(fixture.count('usage_records')).toBe(4);
});

test('a stream of a run without its journal has what was said and its end; one that had a part is told so', async () => {
  const fixture = await retentionFixture({ eventsDays: 1 });
  const old = await fixture.finished();
  const { events: whole } = await fixture.store.events.listOfRun(old.seq, 0, 100);
  await fixture.finished();
  await fixture.days(2);
  await fixture.pass();
  const { events: told } = await fixture.store.events.listOfRun(old.seq, 0, 100);
  const textOf = (events: typeof told) =>
    events.flatMap((event) => (event.type === 'content_block_delta' ? [event.payload.text] : []));
  expect(textOf(told)).toEqual(['I look.', 'Here it is.']);
  for (const type of ['run.finalizing', 'message', 'run.done'])
    expect(told.find((event) => event.type === type)?.payload).toEqual(
      whole.find((event) => event.type === type)?.payload,
    );
  await expect(fixture.store.events.listOfRun(old.seq, whole[2]!.id, 100)).rejects.toMatchObject({
    reason: 'not_found',
  });
});

test('the newest event stays, so that no id is given twice', async () => {
  const fixture = await retentionFixture({ eventsDays: 1 });
  await fixture.finished();
  await fixture.days(5);
  const [newest] = fixture.rows<{ id: number }>('SELECT max(id) AS id FROM events');
  await fixture.pass();
  const next = await fixture.accept();
  const [first] = (await fixture.store.events.listOfRun(next.seq, 0, 1)).events;
  expect(first!.id).toBe(newest!.id + 1);
});

test('an event that is not planned yet is never removed', async () => {
  const fixture = await retentionFixture({ eventsDays: 1 });
  await fixture.store.webhooks.create(aWebhook());
  const old = await fixture.finished();
  await fixture.finished();
  await fixture.days(3);
  const { eventsOfRuns } = fixture.store.retention;
  const batch = () => ({ room: () => 100 });
  expect(await eventsOfRuns(fixture.clock.now(), batch())).toEqual({ rows: 0, more: false });
  expect(fixture.count(`events WHERE run_seq = ${old.seq}`)).toBeGreaterThan(0);
  await fixture.pass();
  expect(fixture.count(`events WHERE run_seq = ${old.seq}`)).toBe(0);
});

test('what a kill interrupts is continued: a run that has lost its first events tells the same as one that has lost all', async () => {
  const fixture = await retentionFixture({ eventsDays: 1 });
  const old = await fixture.finished();
  await fixture.finished();
  await fixture.days(2);
  await fixture.store.deliveries.plan();
  let rooms = 1;
  await fixture.store.retention.eventsOfRuns(fixture.clock.now(), { room: () => (rooms-- > 0 ? 3 : 0) });
  expect(fixture.count(`events WHERE run_seq = ${old.seq}`)).toBeGreaterThan(0);
  const { events: told } = await fixture.store.events.listOfRun(old.seq, 0, 100);
  await fixture.pass();
  expect(fixture.count(`events WHERE run_seq = ${old.seq}`)).toBe(0);
  expect((await fixture.store.events.listOfRun(old.seq, 0, 100)).events).toEqual(told);
});

test('details of runs go with their events; what was said stays in the history and for the next turn', async () => {
  const fixture = await retentionFixture({ runsDays: 30 });
  const old = await fixture.finished();
  await fixture.days(31);
  const next = await fixture.accept({ sessionId: old.sessionId });
  await fixture.pass();
  expect([fixture.count('tool_calls'), fixture.count("steps WHERE message <> 'null'"), fixture.count('steps')]).toEqual(
    [0, 0, 2],
  );
  const { turns } = await fixture.store.turns.listBefore(old.sessionSeq, next.seq, {
    characters: 9_999,
    bytes: 9_999,
    documentBytes: 9_999,
  });
  expect(turns[0]!.steps).toMatchObject([{ text: 'I look.\n\nHere it is.', calls: [], message: null }]);
  const messages = await messagesOf(fixture.store, old.sessionSeq);
  expect(JSON.stringify(messages)).toContain('I look.');
  expect(JSON.stringify(messages)).not.toContain('a lot');
});

test('a clock that jumps ahead removes nothing for a day; one that is put right removes nothing at all', async () => {
  const fixture = await retentionFixture({ eventsDays: 30 });
  const run = await fixture.finished();
  await fixture.finished();
  await fixture.pass();
  const left = () => fixture.count(`events WHERE run_seq = ${run.seq}`);
  fixture.clock.jump(365 * DAY);
  await fixture.pass();
  fixture.clock.advance(DAY - 3_600_000);
  await fixture.pass();
  expect(left()).toBeGreaterThan(0);
  fixture.clock.jump(-365 * DAY);
  await fixture.pass();
  expect(left()).toBeGreaterThan(0);
  expect(await fixture.store.retention.heldUntil()).toBe(null);
  fixture.clock.jump(365 * DAY);
  await fixture.pass();
  expect(await fixture.store.retention.heldUntil()).not.toBe(null);
  await fixture.store.retention.trustClock();
  await fixture.pass();
  expect(left()).toBe(0);
});

test('a clock that is ahead at the first look, as after an update, removes nothing for a day', async () => {
  const fixture = await retentionFixture({ eventsDays: 30 });
  const run = await fixture.finished();
  fixture.clock.jump(365 * DAY);
  await fixture.pass();
  expect(await fixture.store.retention.heldUntil()).not.toBe(null);
  expect(fixture.count(`events WHERE run_seq = ${run.seq}`)).toBeGreaterThan(0);
});

test('runs that end after the clock was set back lose their journals at their age, and no other is removed twice', async () => {
  const fixture = await retentionFixture({ eventsDays: 10, runsDays: 10 });
  const before = await fixture.finished();
  await fixture.days(11);
  await fixture.finished();
  await fixture.pass();
  const removedAt = () =>
    fixture.rows(`SELECT events_removed_at, details_removed_at FROM runs WHERE seq = ${before.seq}`);
  const first = removedAt();
  expect(first).toEqual([{ events_removed_at: expect.any(Number), details_removed_at: expect.any(Number) }]);
  fixture.clock.jump(-12 * DAY);
  await fixture.pass();
  const earlier = await fixture.finished();
  await fixture.finished();
  await fixture.days(11);
  await fixture.pass();
  expect(fixture.count(`events WHERE run_seq = ${earlier.seq}`)).toBe(0);
  expect(fixture.count(`tool_calls WHERE run_seq = ${earlier.seq}`)).toBe(0);
  expect(removedAt()).toEqual(first);
});

test('a removal continues where the one before it ended', async () => {
  const fixture = await retentionFixture({ eventsDays: 10, runsDays: 10 });
  for (let no = 0; no < 3; no += 1) await fixture.finished();
  await fixture.days(11);
  await fixture.finished();
  await fixture.pass();
  const locations = fixture.rows<{ kind: string; key: number }>('SELECT kind, key FROM retention_places ORDER BY kind');
  expect(locations).toEqual([
    { kind: 'details', key: 3 },
    { kind: 'events', key: 3 },
  ]);
});

test('a report says how much is due, and a pass removes as much', async () => {
  const fixture = await retentionFixture();
  for (let no = 0; no < 12; no += 1) await fixture.finished();
  await fixture.days(11);
  await fixture.finished();
  const { pass } = await fixture.retention.report();
  expect(pass).toBe(null);
  await fixture.pass();
  fixture.set({ eventsDays: 10, runsDays: 10 });
  const { kinds } = await fixture.retention.report();
  const due = Object.fromEntries(kinds.map(({ name, rows }) => [name, rows]));
  const perRun = fixture.count('events WHERE run_seq = 1');
  expect(due).toMatchObject({ events: 12 * perRun, session_events: 24, run_details: 36, audit_entries: 0 });
  expect(kinds.find(({ name }) => name === 'events')!.bytes).toBeGreaterThan(12 * perRun * 80);
  const no = fixture.retention.collect();
  await fixture.pass();
  const after = await fixture.retention.report();
  expect(after.pass!.no).toBeGreaterThanOrEqual(no);
  expect(after.kinds.map(({ rows }) => rows)).toEqual(kinds.map(() => 0));
});

test('the space of what was removed goes back to the disk', async () => {
  const fixture = await retentionFixture({ runsDays: 1 });
  for (let no = 0; no < 6; no += 1) {
    await fixture.accept();
    const [run] = await fixture.claim();
    const calls = [{ id: 'x', name: 'shell', input: {} }];
    await fixture.store.runs.recordStep(fenceOf(run!), aStep({ calls }), FREE);
    const result = { step: 1, toolUseId: 'x', name: 'shell', ok: true, durationMs: 1 };
    await fixture.store.runs.recordToolResult(fenceOf(run!), { ...result, output: 'x'.repeat(1_000_000) });
    await fixture.store.runs.finalize(fenceOf(run!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
    await fixture.store.runs.settle(fenceOf(run!), { untouched: true });
  }
  await fixture.days(2);
  const before = (await fixture.retention.report()).database;
  await fixture.pass();
  const { database } = await fixture.retention.report();
  expect(before.shrinks && before.bytes > 6_000_000).toBe(true);
  expect(database.bytes).toBeLessThan(before.bytes - 3_000_000);
});

const entry: NewAuditEntry = {
  actor: { userId: null, username: 'operator', via: 'socket', keyId: null },
  action: 'user.create',
  targetType: 'user',
  targetId: 'u',
  sessionId: null,
  address: 'socket',
  requestId: 'r',
};
const note = { seal, entryOf: () => entry, recorded: () => undefined };
const EVERYTHING = { actor: null, action: null, targetId: null, sessionId: null, fromAt: null, toAt: null };

test('the audit log loses its oldest entries, says so, and its chain continues from the last of them', async () => {
  const fixture = await retentionFixture({ auditDays: 10 });
  const { audit } = fixture.store;
  for (let no = 0; no < 130; no += 1) await audit.record(note);
  await fixture.days(5);
  await audit.record(note);
  await fixture.days(7);
  let rooms = 1;
  const some = { room: () => (rooms-- > 0 ? 50 : 0) };
  await fixture.store.retention.auditEntries(fixture.clock.now() - 10 * DAY, some, seal);
  await fixture.pass();
  const { items, total } = await audit.list(EVERYTHING, { beforeId: null, afterId: null, limit: 500 });
  const head = await audit.getHead(seal);
  expect(head).toMatchObject({ removedId: 130, isSealed: true, isStartSealed: true, doubtfulUntil: null });
  expect(total).toBe(items.length);
  const chain = items.toReversed();
  expect(chain.map(({ action }) => action)).toEqual(['user.create', 'audit.remove', 'audit.remove']);
  expect(chain.slice(1).map(({ targetId }) => targetId)).toEqual(['1-50', '51-130']);
  let last = { id: head.removedId, hash: head.removedHash ?? NO_HASH };
  for (const one of chain) {
    expect(one.id).toBe(last.id + 1);
    expect(one.hash).toBe(auditHashOf(last.hash, one));
    last = one;
  }
  const before = fixture.count('audit_entries');
  await fixture.pass();
  expect(fixture.count('audit_entries')).toBe(before);
});

test('a report counts entries of the audit log that a pass removes: none before one is a day too old', async () => {
  const fixture = await retentionFixture();
  for (let no = 0; no < 3; no += 1) await fixture.store.audit.record(note);
  const due = async () => (await fixture.retention.report()).kinds.find(({ name }) => name === 'audit_entries')!.rows;
  for (const [days, rows] of [
    [10, 0],
    [1, 3],
  ] as const) {
    fixture.set({});
    await fixture.days(days);
    await fixture.store.audit.record(note);
    // What the passing time has begun is over: nothing is removed before it is counted.
    await fixture.pass();
    fixture.set({ auditDays: 10 });
    expect(await due()).toBe(rows);
    await fixture.pass();
    expect((await fixture.store.audit.getHead(seal)).removedId ?? 0).toBe(rows);
  }
  expect(await due()).toBe(0);
});

test('entries that are not as they were written stay for whoever verifies them', async () => {
  const fixture = await retentionFixture({ auditDays: 1 });
  const { audit, retention } = fixture.store;
  for (let no = 0; no < 9; no += 1) await audit.record(note);
  await fixture.days(4);
  const otherSeal = (text: string) => `forged ${text}`;
  const once = () => ({ room: () => 4 });
  await retention.auditEntries(fixture.clock.now(), once(), seal);
  expect((await audit.getHead(otherSeal)).isStartSealed).toBe(false);
  expect(await retention.auditEntries(fixture.clock.now(), once(), otherSeal)).toEqual({ rows: 0, more: false });
});

test('copies of the database from before upgrades go when they are old, and nothing else does', async () => {
  const { directory, clock, retention, pass, set } = await retentionFixture();
  const lay = (name: string, days: number) => {
    writeFileSync(path.join(directory, name), 'rows');
    const at = (clock.now() - days * DAY) / 1_000;
    utimesSync(path.join(directory, name), at, at);
  };
  for (const name of ['errand.db', 'errand.db.v30.backup', 'errand.db.v30.backup.new', 'errand.db.mine.backup']) {
    lay(name, 40);
  }
  lay('errand.db.v31.backup', 20);
  await pass();
  expect(readdirSync(directory)).toHaveLength(5);
  set({ upgradeCopiesDays: 30 });
  const { kinds } = await retention.report();
  expect(kinds.find(({ name }) => name === 'upgrade_copies')).toMatchObject({ keep: 30, rows: 2, bytes: 8 });
  await pass();
  expect(readdirSync(directory).sort()).toEqual(['errand.db', 'errand.db.mine.backup', 'errand.db.v31.backup']);
});

test('a large copy is removed beside the event loop', async () => {
  const { directory } = await retentionFixture();
  const file = path.join(directory, 'errand.db.v30.backup');
  writeFileSync(file, 'rows');
  const removal = keepOfUpgradeCopies(directory).remove(
    Date.now() + DAY,
    makeBatch(() => 0, 1),
  );
  expect(existsSync(file)).toBe(true);
  expect(await removal).toMatchObject({ rows: 1 });
  expect(existsSync(file)).toBe(false);
});

test('files that no row names are looked for only by a pass that was asked for', async () => {
  const fixture = await retentionFixture();
  await fixture.pass();
  expect(fixture.sweeps.now).toBe(0);
  fixture.retention.collect();
  await fixture.pass();
  await fixture.pass();
  expect(fixture.sweeps.now).toBe(1);
});
