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
import { aStep, fenceOf, FREE, storeHouse } from '../support/store/store-house.ts';
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
  versionsKeep: 0,
  upgradeCopiesDays: 0,
};
const NO_ORPHANS: Orphans = {
  report: async () => ({ blobs: 0, bytes: 0, workspaces: 0, examples: [], isAtLeast: false }),
  due: () => ({ kind: { name: 'orphans', remove: async () => ({ rows: 0, more: false }) }, bound: 0 }),
};
const seal = (text: string) => `sealed ${text}`;

async function retentionHouse(given: Partial<Settings['retention']> = {}) {
  const house = await storeHouse();
  const { store, clock } = house;
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
  const finished = async (turn: Parameters<typeof house.accept>[0] = {}) => {
    const accepted = await house.accept(turn);
    const [run] = await house.claim();
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
  const count = (from: string) => house.rows<{ n: number }>(`SELECT count(*) AS n FROM ${from}`)[0]!.n;
  /** Days pass in which the daemon looked at the clock. */
  const days = async (number: number) => {
    for (let day = 0; day < number; day += 1) {
      clock.advance(DAY);
      await store.retention.lookAtClock();
    }
  };
  const set = (settings: Partial<Settings['retention']>) => void (keep = { ...NEVER, ...settings });
  return { ...house, directory, retention, sweeps, pass, finished, count, days, set };
}

test('nothing is removed unless a setting says when', async () => {
  const house = await retentionHouse();
  await house.finished();
  await house.days(400);
  const before = house.count('events');
  await house.pass();
  expect(house.count('events')).toBe(before);
  const { kinds } = await house.retention.report();
  expect(kinds.every(({ keep, rows }) => keep === null && rows === 0)).toBe(true);
});

test('a run loses its journal at its age, and keeps its answer, its history and its usage', async () => {
  const house = await retentionHouse({ eventsDays: 10 });
  const old = await house.finished();
  await house.days(9);
  const young = await house.finished();
  await house.days(1);
  house.clock.advance(1);
  const before = await messagesOf(house.store, old.sessionSeq);
  await house.pass();
  expect(house.count(`events WHERE run_seq = ${old.seq}`)).toBe(0);
  expect(house.count(`events WHERE run_seq = ${young.seq}`)).toBeGreaterThan(5);
  expect(await messagesOf(house.store, old.sessionSeq)).toEqual(before);
  expect(await house.store.runs.getOutcome(old.seq)).toMatchObject({ status: 'completed', answer: 'Here it is.' });
  expect(house.count('usage_records')).toBe(4);
});

test('a stream of a run without its journal has what was said and its end; one that had a part is told so', async () => {
  const house = await retentionHouse({ eventsDays: 1 });
  const old = await house.finished();
  const { events: whole } = await house.store.events.listOfRun(old.seq, 0, 100);
  await house.finished();
  await house.days(2);
  await house.pass();
  const { events: told } = await house.store.events.listOfRun(old.seq, 0, 100);
  const textOf = (events: typeof told) =>
    events.flatMap((event) => (event.type === 'content_block_delta' ? [event.payload.text] : []));
  expect(textOf(told)).toEqual(['I look.', 'Here it is.']);
  for (const type of ['run.finalizing', 'message', 'run.done'])
    expect(told.find((event) => event.type === type)?.payload).toEqual(
      whole.find((event) => event.type === type)?.payload,
    );
  await expect(house.store.events.listOfRun(old.seq, whole[2]!.id, 100)).rejects.toMatchObject({ reason: 'not_found' });
});

test('the newest event stays, so that no id is given twice', async () => {
  const house = await retentionHouse({ eventsDays: 1 });
  await house.finished();
  await house.days(5);
  const [newest] = house.rows<{ id: number }>('SELECT max(id) AS id FROM events');
  await house.pass();
  const next = await house.accept();
  const [first] = (await house.store.events.listOfRun(next.seq, 0, 1)).events;
  expect(first!.id).toBe(newest!.id + 1);
});

test('an event that is not planned yet is never removed', async () => {
  const house = await retentionHouse({ eventsDays: 1 });
  await house.store.webhooks.create(aWebhook());
  const old = await house.finished();
  await house.finished();
  await house.days(3);
  const { eventsOfRuns } = house.store.retention;
  const batch = () => ({ room: () => 100 });
  expect(await eventsOfRuns(house.clock.now(), batch())).toEqual({ rows: 0, more: false });
  expect(house.count(`events WHERE run_seq = ${old.seq}`)).toBeGreaterThan(0);
  await house.pass();
  expect(house.count(`events WHERE run_seq = ${old.seq}`)).toBe(0);
});

test('what a kill interrupts is continued: a run that has lost its first events tells the same as one that has lost all', async () => {
  const house = await retentionHouse({ eventsDays: 1 });
  const old = await house.finished();
  await house.finished();
  await house.days(2);
  await house.store.deliveries.plan();
  let rooms = 1;
  await house.store.retention.eventsOfRuns(house.clock.now(), { room: () => (rooms-- > 0 ? 3 : 0) });
  expect(house.count(`events WHERE run_seq = ${old.seq}`)).toBeGreaterThan(0);
  const { events: told } = await house.store.events.listOfRun(old.seq, 0, 100);
  await house.pass();
  expect(house.count(`events WHERE run_seq = ${old.seq}`)).toBe(0);
  expect((await house.store.events.listOfRun(old.seq, 0, 100)).events).toEqual(told);
});

test('details of runs go with their events; what was said stays in the history and for the next turn', async () => {
  const house = await retentionHouse({ runsDays: 30 });
  const old = await house.finished();
  await house.days(31);
  const next = await house.accept({ sessionId: old.sessionId });
  await house.pass();
  expect([house.count('tool_calls'), house.count("steps WHERE message <> 'null'"), house.count('steps')]).toEqual([
    0, 0, 2,
  ]);
  const { turns } = await house.store.turns.listBefore(old.sessionSeq, next.seq, {
    characters: 9_999,
    bytes: 9_999,
    documentBytes: 9_999,
  });
  expect(turns[0]!.steps).toMatchObject([{ text: 'I look.\n\nHere it is.', calls: [], message: null }]);
  const messages = await messagesOf(house.store, old.sessionSeq);
  expect(JSON.stringify(messages)).toContain('I look.');
  expect(JSON.stringify(messages)).not.toContain('a lot');
});

test('a clock that jumps ahead removes nothing for a day; one that is put right removes nothing at all', async () => {
  const house = await retentionHouse({ eventsDays: 30 });
  const run = await house.finished();
  await house.finished();
  await house.pass();
  const left = () => house.count(`events WHERE run_seq = ${run.seq}`);
  house.clock.jump(365 * DAY);
  await house.pass();
  house.clock.advance(DAY - 3_600_000);
  await house.pass();
  expect(left()).toBeGreaterThan(0);
  house.clock.jump(-365 * DAY);
  await house.pass();
  expect(left()).toBeGreaterThan(0);
  expect(await house.store.retention.heldUntil()).toBe(null);
  house.clock.jump(365 * DAY);
  await house.pass();
  expect(await house.store.retention.heldUntil()).not.toBe(null);
  await house.store.retention.trustClock();
  await house.pass();
  expect(left()).toBe(0);
});

test('a clock that is ahead at the first look, as after an update, removes nothing for a day', async () => {
  const house = await retentionHouse({ eventsDays: 30 });
  const run = await house.finished();
  house.clock.jump(365 * DAY);
  await house.pass();
  expect(await house.store.retention.heldUntil()).not.toBe(null);
  expect(house.count(`events WHERE run_seq = ${run.seq}`)).toBeGreaterThan(0);
});

test('runs that end after the clock was set back lose their journals at their age, and no other is removed twice', async () => {
  const house = await retentionHouse({ eventsDays: 10, runsDays: 10 });
  const before = await house.finished();
  await house.days(11);
  await house.finished();
  await house.pass();
  const removedAt = () =>
    house.rows(`SELECT events_removed_at, details_removed_at FROM runs WHERE seq = ${before.seq}`);
  const first = removedAt();
  expect(first).toEqual([{ events_removed_at: expect.any(Number), details_removed_at: expect.any(Number) }]);
  house.clock.jump(-12 * DAY);
  await house.pass();
  const earlier = await house.finished();
  await house.finished();
  await house.days(11);
  await house.pass();
  expect(house.count(`events WHERE run_seq = ${earlier.seq}`)).toBe(0);
  expect(house.count(`tool_calls WHERE run_seq = ${earlier.seq}`)).toBe(0);
  expect(removedAt()).toEqual(first);
});

test('a removal continues where the one before it ended', async () => {
  const house = await retentionHouse({ eventsDays: 10, runsDays: 10 });
  for (let no = 0; no < 3; no += 1) await house.finished();
  await house.days(11);
  await house.finished();
  await house.pass();
  const places = house.rows<{ kind: string; key: number }>('SELECT kind, key FROM retention_places ORDER BY kind');
  expect(places).toEqual([
    { kind: 'details', key: 3 },
    { kind: 'events', key: 3 },
  ]);
});

test('a report says how much is due, and a pass removes as much', async () => {
  const house = await retentionHouse();
  for (let no = 0; no < 12; no += 1) await house.finished();
  await house.days(11);
  await house.finished();
  const { pass } = await house.retention.report();
  expect(pass).toBe(null);
  await house.pass();
  house.set({ eventsDays: 10, runsDays: 10 });
  const { kinds } = await house.retention.report();
  const due = Object.fromEntries(kinds.map(({ name, rows }) => [name, rows]));
  const perRun = house.count('events WHERE run_seq = 1');
  expect(due).toMatchObject({ events: 12 * perRun, session_events: 24, run_details: 36, audit_entries: 0 });
  expect(kinds.find(({ name }) => name === 'events')!.bytes).toBeGreaterThan(12 * perRun * 80);
  const no = house.retention.collect();
  await house.pass();
  const after = await house.retention.report();
  expect(after.pass!.no).toBeGreaterThanOrEqual(no);
  expect(after.kinds.map(({ rows }) => rows)).toEqual(kinds.map(() => 0));
});

test('the space of what was removed goes back to the disk', async () => {
  const house = await retentionHouse({ runsDays: 1 });
  for (let no = 0; no < 6; no += 1) {
    await house.accept();
    const [run] = await house.claim();
    const calls = [{ id: 'x', name: 'shell', input: {} }];
    await house.store.runs.recordStep(fenceOf(run!), aStep({ calls }), FREE);
    const result = { step: 1, toolUseId: 'x', name: 'shell', ok: true, durationMs: 1 };
    await house.store.runs.recordToolResult(fenceOf(run!), { ...result, output: 'x'.repeat(1_000_000) });
    await house.store.runs.finalize(fenceOf(run!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
    await house.store.runs.settle(fenceOf(run!), { untouched: true });
  }
  await house.days(2);
  const before = (await house.retention.report()).database;
  await house.pass();
  const { database } = await house.retention.report();
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
  const house = await retentionHouse({ auditDays: 10 });
  const { audit } = house.store;
  for (let no = 0; no < 130; no += 1) await audit.record(note);
  await house.days(5);
  await audit.record(note);
  await house.days(7);
  let rooms = 1;
  const some = { room: () => (rooms-- > 0 ? 50 : 0) };
  await house.store.retention.auditEntries(house.clock.now() - 10 * DAY, some, seal);
  await house.pass();
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
  const before = house.count('audit_entries');
  await house.pass();
  expect(house.count('audit_entries')).toBe(before);
});

test('a report counts entries of the audit log that a pass removes: none before one is a day too old', async () => {
  const house = await retentionHouse();
  for (let no = 0; no < 3; no += 1) await house.store.audit.record(note);
  const due = async () => (await house.retention.report()).kinds.find(({ name }) => name === 'audit_entries')!.rows;
  for (const [days, rows] of [
    [10, 0],
    [1, 3],
  ] as const) {
    house.set({});
    await house.days(days);
    await house.store.audit.record(note);
    // What the passing time has begun is over: nothing is removed before it is counted.
    await house.pass();
    house.set({ auditDays: 10 });
    expect(await due()).toBe(rows);
    await house.pass();
    expect((await house.store.audit.getHead(seal)).removedId ?? 0).toBe(rows);
  }
  expect(await due()).toBe(0);
});

test('entries that are not as they were written stay for whoever verifies them', async () => {
  const house = await retentionHouse({ auditDays: 1 });
  const { audit, retention } = house.store;
  for (let no = 0; no < 9; no += 1) await audit.record(note);
  await house.days(4);
  const otherSeal = (text: string) => `forged ${text}`;
  const once = () => ({ room: () => 4 });
  await retention.auditEntries(house.clock.now(), once(), seal);
  expect((await audit.getHead(otherSeal)).isStartSealed).toBe(false);
  expect(await retention.auditEntries(house.clock.now(), once(), otherSeal)).toEqual({ rows: 0, more: false });
});

test('copies of the database from before upgrades go when they are old, and nothing else does', async () => {
  const { directory, clock, retention, pass, set } = await retentionHouse();
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
  const { directory } = await retentionHouse();
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
  const house = await retentionHouse();
  await house.pass();
  expect(house.sweeps.now).toBe(0);
  house.retention.collect();
  await house.pass();
  await house.pass();
  expect(house.sweeps.now).toBe(1);
});
