// The chain of the audit log, as the store keeps it, and what it shows of tampering.
import { expect, test } from 'vitest';
import { auditHashOf, type AuditEntry, type NewAuditEntry, NO_HASH } from '../../../src/domain/people/audit.ts';
import { makeSeal } from '../../../src/operations/audit/audit.ts';
import type { Note } from '../../../src/store/audit/record-entry.ts';
import { deriveSealKey } from '../../support/store/audit.ts';
import { type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { changeRows } from '../../support/store/open-store.ts';

const seal = makeSeal(deriveSealKey);
const EVERYTHING = { actor: null, action: null, targetId: null, sessionId: null, fromAt: null, toAt: null };
const FROM_THE_FIRST = { beforeId: null, afterId: 0, limit: 500 };

const anEntry = (over: Partial<NewAuditEntry> = {}): NewAuditEntry => ({
  actor: { userId: 'u1', username: 'mara', via: 'key', keyId: 'k1' },
  action: 'session.read',
  targetType: 'session',
  targetId: 's1',
  sessionId: 's1',
  address: '203.0.113.9',
  requestId: 'r1',
  ...over,
});

function noteOf<Result>(entry: NewAuditEntry | undefined, recorded: Note<Result>['recorded'] = () => undefined) {
  return { seal, entryOf: () => entry, recorded } satisfies Note<Result>;
}

async function record({ store }: StoreFixture, times: number): Promise<void> {
  for (let at = 0; at < times; at += 1) await store.audit.record(noteOf(anEntry({ requestId: `r${at}` })));
}

const entriesOf = async ({ store }: StoreFixture): Promise<readonly AuditEntry[]> =>
  (await store.audit.list(EVERYTHING, FROM_THE_FIRST)).items;

/** The first entry whose hash does not follow. */
function firstBroken(entries: readonly AuditEntry[]): number | undefined {
  let previous = NO_HASH;
  for (const entry of entries) {
    if (entry.hash !== auditHashOf(previous, entry)) return entry.id;
    previous = entry.hash;
  }
  return undefined;
}

/** Changes to the file by someone with a shell. */
function tamper({ file }: StoreFixture, sql: string): void {
  changeRows(file, sql);
}

test('each hash is made of the one before and of every field of its entry', { tags: ['G17'] }, async () => {
  const fixture = await storeFixture();
  await record(fixture, 3);
  const entries = await entriesOf(fixture);
  expect(entries.map(({ id }) => id)).toEqual([1, 2, 3]);
  expect(firstBroken(entries)).toBeUndefined();
  const [, second] = entries as [AuditEntry, AuditEntry];
  const others: Partial<AuditEntry>[] = [
    { id: 9 },
    { at: second.at + 1 },
    ...(['userId', 'username', 'keyId'] as const).map((name) => ({ actor: { ...second.actor, [name]: 'x' } })),
    { actor: { ...second.actor, via: 'token' as const } },
    ...(['action', 'targetType', 'targetId', 'sessionId', 'address', 'requestId'] as const).map((name) => ({
      [name]: 'x',
    })),
  ];
  for (const other of others) expect(auditHashOf(entries[0]!.hash, { ...second, ...other })).not.toBe(second.hash);
  expect(await fixture.store.audit.getHead(seal)).toEqual({
    lastId: 3,
    lastHash: entries[2]!.hash,
    isSealed: true,
    doubtfulUntil: null,
    removedId: 0,
    removedHash: null,
    isStartSealed: true,
  });
});

test('an entry is in the commit of its verb, and a verb that throws leaves none', { tags: ['G17'] }, async () => {
  const fixture = await storeFixture();
  const recorded: AuditEntry[] = [];
  const note = noteOf(anEntry({ action: 'team.create' }), (entry) => void recorded.push(entry));
  const [made, taken] = await Promise.allSettled([
    fixture.store.teams.create({ name: 'Blue', budgetUsd: null }, note),
    fixture.store.teams.create({ name: 'Blue', budgetUsd: null }, note),
    fixture.store.teams.create({ name: 'Red', budgetUsd: null }, noteOf(undefined)),
  ]);
  expect([made.status, taken.status]).toEqual(['fulfilled', 'rejected']);
  expect(await entriesOf(fixture)).toEqual(recorded);
  expect(recorded).toMatchObject([{ id: 1, action: 'team.create' }]);
});

test('a team whose entry cannot be kept is not kept', async () => {
  const fixture = await storeFixture();
  const note = { ...noteOf(undefined), entryOf: () => anEntry({ requestId: null as never }) };
  await expect(fixture.store.teams.create({ name: 'Blue', budgetUsd: null }, note)).rejects.toThrow(
    /NOT NULL|not-null/,
  );
  expect((await fixture.store.teams.list()).total).toBe(0);
  expect((await fixture.store.audit.getHead(seal)).lastId).toBe(0);
});

test('times do not go back when the clock does', async () => {
  const fixture = await storeFixture();
  await record(fixture, 1);
  fixture.clock.jump(-60_000);
  await record(fixture, 1);
  const [first, second] = await entriesOf(fixture);
  expect(second!.at).toBe(first!.at);
});

test.each([
  ['an entry that was changed', "UPDATE audit_entries SET username = 'otto' WHERE id = 2", 2, 'within'],
  ['an entry that was cut out', 'DELETE FROM audit_entries WHERE id = 2', 3, 'within'],
  ['the first that were cut off', 'DELETE FROM audit_entries WHERE id < 3', 3, 'within'],
  ['the last that were cut off', 'DELETE FROM audit_entries WHERE id > 2', undefined, 'its end'],
  ['all that were cut off', 'DELETE FROM audit_entries', undefined, 'its end'],
  [
    'an end that was cut off with its seal',
    'DELETE FROM audit_entries WHERE id > 2; DELETE FROM audit_head',
    undefined,
    'its end',
  ],
  ['a seal of something else', "UPDATE audit_head SET last_id = 4, last_hash = 'x'", undefined, 'its end'],
] as const)('%s is found', async (_, sql, broken, where) => {
  const isSealed = where === 'within';
  const fixture = await storeFixture();
  await record(fixture, 4);
  tamper(fixture, sql);
  expect(firstBroken(await entriesOf(fixture))).toBe(broken);
  expect(await fixture.store.audit.getHead(seal)).toMatchObject({ isSealed, doubtfulUntil: null });
  await record(fixture, 1);
  const next = (await entriesOf(fixture)).at(-1)!;
  expect(await fixture.store.audit.getHead(seal)).toMatchObject({
    isSealed: true,
    doubtfulUntil: isSealed ? null : next.id - 1,
  });
  await record(fixture, 1);
  expect((await fixture.store.audit.getHead(seal)).doubtfulUntil).toBe(isSealed ? null : next.id - 1);
});

test('a chain rewritten without the master key stays doubtful', async () => {
  const fixture = await storeFixture();
  await record(fixture, 3);
  const kept = await entriesOf(fixture);
  let previous = kept[0]!.hash;
  const statements = kept.slice(1).map((entry) => {
    const forged = { ...entry, actor: { ...entry.actor, username: 'otto' } };
    previous = auditHashOf(previous, forged);
    return `UPDATE audit_entries SET username = 'otto', hash = '${previous}' WHERE id = ${entry.id};`;
  });
  tamper(fixture, `${statements.join('')} UPDATE audit_head SET last_hash = '${previous}'`);
  expect(firstBroken(await entriesOf(fixture))).toBeUndefined();
  expect(await fixture.store.audit.getHead(seal)).toMatchObject({ isSealed: false });
  await record(fixture, 2);
  expect(await fixture.store.audit.getHead(seal)).toMatchObject({ isSealed: true, doubtfulUntil: 3 });
});

test('of an end that was cut off, the next entry leaves a gap', async () => {
  const fixture = await storeFixture();
  await record(fixture, 4);
  tamper(fixture, 'DELETE FROM audit_entries WHERE id > 2');
  await record(fixture, 1);
  const entries = await entriesOf(fixture);
  expect(entries.map(({ id }) => id)).toEqual([1, 2, 5]);
  expect(firstBroken(entries)).toBe(5);
});

test('entries are found by each filter, counted, and read in pages from both ends', async () => {
  const fixture = await storeFixture();
  const { store, clock } = fixture;
  const start = clock.now();
  const operator = { userId: null, username: 'operator', via: 'socket', keyId: null } as const;
  const made = [
    anEntry(),
    anEntry({ action: 'key.revoke', targetType: 'key', targetId: 'k9', sessionId: null }),
    anEntry({ actor: operator, targetId: 's2', sessionId: 's2' }),
    anEntry({ targetId: 's2', sessionId: 's2' }),
  ];
  for (const entry of made) {
    await store.audit.record(noteOf(entry));
    clock.advance(1_000);
  }
  const ask = async (filter: object, page = {}) => {
    const newest = { beforeId: null, afterId: null, limit: 2 };
    const found = await store.audit.list({ ...EVERYTHING, ...filter }, { ...newest, ...page });
    return [found.total, ...found.items.map(({ id }) => id)];
  };
  expect(await ask({})).toEqual([4, 4, 3]);
  expect(await ask({}, { beforeId: 3 })).toEqual([4, 2, 1]);
  expect(await ask({}, { afterId: 0 })).toEqual([4, 1, 2]);
  expect(await ask({}, { afterId: 3 })).toEqual([4, 4]);
  expect(await ask({}, { afterId: 4 })).toEqual([4]);
  expect(await ask({ actor: 'u1' })).toEqual([3, 4, 2]);
  expect(await ask({ actor: 'operator' })).toEqual([1, 3]);
  expect(await ask({ action: 'session.read' })).toEqual([3, 4, 3]);
  expect(await ask({ targetId: 's2' })).toEqual([2, 4, 3]);
  expect(await ask({ sessionId: 's2', actor: 'u1' })).toEqual([1, 4]);
  expect(await ask({ fromAt: start + 1_000, toAt: start + 3_000 })).toEqual([2, 3, 2]);
  expect(await ask({ fromAt: start + 1_001, action: 'session.read' })).toEqual([2, 4, 3]);
  expect(await ask({ fromAt: start + 9_000 })).toEqual([0]);
  expect(await ask({ toAt: start })).toEqual([0]);
  expect(await ask({ fromAt: start + 3_000, toAt: start })).toEqual([0]);
});
