// The audit log verified by its reader: page by page, to the first broken entry.
import { expect, test } from 'vitest';
import { makeAuditLog, type NotedHash } from '../../src/client/audit.ts';
import type { CallManagement } from '../../src/client/references.ts';
import { auditHashOf, NO_HASH } from '../../src/domain/people/audit.ts';
import { isoTime } from '../../src/domain/clock.ts';
import type { AuditEntryWire, AuditHeadWire } from '../../src/wire/people/audit.ts';

const ACTOR = { userId: 'u1', username: 'mara', via: 'key', keyId: 'k1' } as const;

/** A log with this many entries, as the daemon would have written it. */
function aLog(length: number): AuditEntryWire[] {
  const entries: AuditEntryWire[] = [];
  let previous = NO_HASH;
  for (let id = 1; id <= length; id += 1) {
    const fields = { targetType: 'session', targetId: 's1', sessionId: 's1', address: 'socket', requestId: `r${id}` };
    const at = 1_772_366_400_000 + id;
    previous = auditHashOf(previous, { id, at, actor: ACTOR, action: 'session.read', ...fields });
    entries.push({
      id,
      at: isoTime(at),
      actor: { user_id: 'u1', username: 'mara', via: 'key', key_id: 'k1' },
      action: 'session.read',
      target_type: 'session',
      target_id: 's1',
      session_id: 's1',
      address: 'socket',
      request_id: `r${id}`,
      hash: previous,
    });
  }
  return entries;
}

/** The log of a daemon with these entries, and the requests it got. */
function logOf(entries: readonly AuditEntryWire[], head: Partial<AuditHeadWire> = {}) {
  const asked: string[] = [];
  const end: AuditHeadWire = {
    last_id: entries.at(-1)?.id ?? 0,
    last_hash: entries.at(-1)?.hash ?? null,
    sealed: true,
    doubtful_until: null,
    removed_until: 0,
    removed_hash: null,
    start_sealed: true,
    anchor: { state: 'sealed', end: null, doubt: null },
    ...head,
  };
  const call = (async (_method: string, path: string) => {
    asked.push(path);
    if (path === '/api/v1/audit/head') return end;
    const query = new URLSearchParams(path.slice(path.indexOf('?')));
    const after = Number(query.get('after_id'));
    const items = entries.filter(({ id }) => id > after).slice(0, Number(query.get('limit')));
    return { items, total: entries.length };
  }) as CallManagement;
  return { asked, log: makeAuditLog(call, async (_noun, reference) => reference) };
}

test('an intact log is verified to its end, a page at a time', async () => {
  const entries = aLog(1_203);
  const { log, asked } = logOf(entries);
  expect(await log.verify()).toEqual({
    entries: 1_203,
    lastId: 1_203,
    removedUntil: 0,
    lastHash: entries[1_202]!.hash,
    broken: null,
  });
  expect(asked).toEqual([
    '/api/v1/audit/head',
    ...[0, 500, 1_000].map((after) => `/api/v1/audit?after_id=${after}&limit=500`),
  ]);
});

test('an empty log is intact', async () => {
  expect(await logOf([]).log.verify()).toEqual({
    entries: 0,
    lastId: 0,
    removedUntil: 0,
    lastHash: null,
    broken: null,
  });
});

test('what is written meanwhile is not looked at', async () => {
  const entries = aLog(7);
  const { log } = logOf(entries, { last_id: 5, last_hash: entries[4]!.hash });
  expect(await log.verify()).toMatchObject({ entries: 5, broken: null });
});

type Tampered = (entries: AuditEntryWire[]) => AuditEntryWire[];
const changed =
  (at: number, over: Partial<AuditEntryWire>): Tampered =>
  (entries) =>
    entries.with(at - 1, { ...entries[at - 1]!, ...over });

test.each<[string, Tampered, number]>([
  ['another actor', changed(600, { actor: { user_id: 'u2', username: 'otto', via: 'key', key_id: 'k1' } }), 600],
  ['another time', changed(3, { at: '2026-03-01T12:00:00.000Z' }), 3],
  ['another hash', changed(3, { hash: NO_HASH }), 3],
  ['one that was removed', (entries) => entries.toSpliced(700, 1), 701],
  ['the first that was removed', (entries) => entries.slice(1), 1],
  ['the last that were removed', (entries) => entries.slice(0, 900), 901],
  ['all that were removed', () => [], 1],
])('%s is found, and the first broken entry named', async (_, tamper, id) => {
  const whole = aLog(1_203);
  const end = { last_id: 1_203, last_hash: whole.at(-1)!.hash };
  const { broken } = await logOf(tamper(whole), end).log.verify();
  expect(broken).toEqual({ id, reason: expect.stringContaining(String(id)) });
});

test.each<[string, Partial<AuditHeadWire>, number]>([
  ['a seal that does not hold', { sealed: false }, 9],
  ['an end with another hash', { last_hash: NO_HASH }, 9],
  ['a seal that did not hold once', { doubtful_until: 4 }, 4],
])('a chain without fault, but with %s, is not intact', async (_, head, id) => {
  expect((await logOf(aLog(9), head).log.verify()).broken).toMatchObject({ id });
});

test('a noted hash shows a log that was replaced by another one, or by an older one', async () => {
  const entries = aLog(9);
  const noted = { id: 6, hash: entries[5]!.hash };
  expect((await logOf(entries).log.verify(noted)).broken).toBeNull();
  expect((await logOf(entries).log.verify({ ...noted, hash: NO_HASH })).broken).toMatchObject({ id: 6 });
  expect((await logOf(entries.slice(0, 5)).log.verify(noted)).broken).toMatchObject({ id: 6 });
});

test('a log whose oldest entries were removed is verified from the last of them on', async () => {
  const entries = aLog(9);
  const start = { removed_until: 4, removed_hash: entries[3]!.hash };
  const verified = await logOf(entries.slice(4), start).log.verify();
  expect(verified).toEqual({ entries: 5, lastId: 9, removedUntil: 4, lastHash: entries[8]!.hash, broken: null });
  const reasonOf = async (kept: readonly AuditEntryWire[], head: Partial<AuditHeadWire>, noted?: NotedHash) =>
    (await logOf(kept, head).log.verify(noted)).broken?.reason;
  expect(await reasonOf(entries.slice(5), start)).toBe('Entry 5 is missing.');
  expect(await reasonOf(entries.slice(4), {})).toBe('Entry 1 is missing.');
  expect(await reasonOf(entries.slice(4), { ...start, start_sealed: false })).toContain('The start of the log');
  expect(await reasonOf(entries.slice(4), start, { id: 3, hash: entries[2]!.hash })).toContain('removed by age');
  expect(await reasonOf(entries.slice(4), start, { id: 4, hash: 'f'.repeat(64) })).toContain('another hash');
});

const HAD = { last_id: 57, last_hash: 'a'.repeat(64) };

test.each<[string, AuditHeadWire['anchor'], RegExp]>([
  ['was emptied', { state: 'sealed', end: HAD, doubt: null }, /^Entry 57, which the log had, is missing: .*emptied/],
  [
    'was emptied once',
    { state: 'sealed', end: null, doubt: { fault: 'entries_missing', found_at: '2026-03-01T12:00:00.000Z', had: HAD } },
    /^On 2026-03-01T12:00:00.000Z, the daemon found that entry 57/,
  ],
  ['is another one', { state: 'sealed', end: { ...HAD, last_id: 3 }, doubt: null }, /^Another is in place of entry 3/],
  ['has an altered anchor', { state: 'altered', end: null, doubt: null }, /^The anchor of the log was altered/],
  ['has no anchor', { state: 'missing', end: null, doubt: null }, /^The file with the anchor of the log is missing/],
])('a log that %s is not intact, although its chain is', async (_, anchor, reason) => {
  for (const entries of [[], aLog(7)]) {
    if (entries.length === 0 && anchor.end?.last_id === 3) continue;
    const { broken } = await logOf(entries, { anchor }).log.verify();
    expect(broken?.reason).toMatch(reason);
  }
});

test('a log that has grown since its anchor, and one that never had an anchor, are intact', async () => {
  const entries = aLog(7);
  const end = { last_id: 5, last_hash: entries[4]!.hash };
  expect((await logOf(entries, { anchor: { state: 'sealed', end, doubt: null } }).log.verify()).broken).toBeNull();
  expect((await logOf(entries, { anchor: { state: 'due', end: null, doubt: null } }).log.verify()).broken).toBeNull();
});
