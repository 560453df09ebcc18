// `errand audit`: what it asks for, what it prints, and how it ends.
import { expect, test } from 'vitest';
import { auditHashOf, NO_HASH } from '../../../../src/domain/people/audit.ts';
import type { AuditEntryWire, AuditHeadWire } from '../../../../src/wire/people/audit.ts';
import { refuse, run, start, startFakeDaemon } from '../../outside.ts';

const AT = Date.parse('2026-03-01T11:00:00.000Z');
const SESSION = '0190f6a0-0000-7000-8000-000000000009';

function anEntry(id: number, previous = NO_HASH): AuditEntryWire {
  const fields = { targetType: 'session', targetId: SESSION, sessionId: SESSION, address: 'socket', requestId: 'r' };
  const actor = { userId: null, username: 'operator', via: 'socket', keyId: null } as const;
  return {
    id,
    at: '2026-03-01T11:00:00.000Z',
    actor: { user_id: null, username: 'operator', via: 'socket', key_id: null },
    action: 'session.read',
    target_type: 'session',
    target_id: SESSION,
    session_id: SESSION,
    address: 'socket',
    request_id: 'r',
    hash: auditHashOf(previous, { id, at: AT, actor, action: 'session.read', ...fields }),
  };
}

const FIRST = anEntry(1);
const SECOND = anEntry(2, FIRST.hash);
const HEAD: AuditHeadWire = {
  last_id: 2,
  last_hash: SECOND.hash,
  sealed: true,
  doubtful_until: null,
  removed_until: 0,
  removed_hash: null,
  start_sealed: true,
  anchor: { state: 'sealed', end: null, doubt: null },
};
const LOG = {
  'GET /api/v1/audit/head': () => HEAD,
  'GET /api/v1/audit?after_id=0&limit=500': () => ({ items: [FIRST, SECOND], total: 2 }),
};

test('a list is asked for with its filters, and shown with what is left', async () => {
  const path =
    '/api/v1/audit?actor=mara&action=session.read&target=x&session=s&from=2026-02-28T12%3A00%3A00.000Z&to=2026-03-01&limit=1';
  const { dataDir } = await startFakeDaemon({ [`GET ${path}`]: () => ({ items: [SECOND], total: 2 }) });
  const flags = ['--actor', 'mara', '--action', 'session.read', '--target', 'x', '--session', 's', '--limit', '1'];
  const listed = await run(['audit', 'list', ...flags, '--from', '24h', '--to', '2026-03-01'], { dataDir });
  expect(listed).toMatchObject({ code: 0, stderr: '1 of 2 entries.\n' });
  expect(listed.stdout).toContain(`2\t2026-03-01T11:00:00.000Z\toperator\tsocket\tsession.read\tsession\t${SESSION}`);
});

test('in JSON, a list is what the API replies', async () => {
  const { dataDir } = await startFakeDaemon({ 'GET /api/v1/audit': () => ({ items: [SECOND, FIRST], total: 2 }) });
  const { stdout } = await run(['audit', 'list', '-o', 'json'], { dataDir });
  expect(JSON.parse(stdout)).toEqual({ items: [SECOND, FIRST], total: 2 });
});

test('the tail shows the last entries, follows new ones through a restart, and ends with Ctrl-C', {
  tags: ['K7-observing'],
}, async () => {
  let asked = 0;
  const { dataDir } = await startFakeDaemon({
    'GET /api/v1/audit?limit=10': () => ({ items: [FIRST], total: 1 }),
    'GET /api/v1/audit?limit=500&after_id=1': (_received, response) => {
      asked += 1;
      if (asked === 1) return refuse(response, 503, 'The daemon is shutting down.');
      return { items: [SECOND], total: 2 };
    },
    'GET /api/v1/audit?limit=500&after_id=2': () => ({ items: [], total: 2 }),
  });
  const tail = start(['audit', 'tail'], { dataDir });
  await tail.until(' 2 operator');
  tail.signal('SIGINT');
  expect(await tail.code).toBe(130);
  expect(tail.stderr()).toContain('trying again');
  expect(tail.stdout()).toBe(
    [1, 2].map((id) => `2026-03-01T11:00:00.000Z ${id} operator (socket) session.read ${SESSION}\n`).join(''),
  );
});

test('an intact log ends with 0, and prints what to note', { tags: ['K7-observing'] }, async () => {
  const { dataDir } = await startFakeDaemon(LOG);
  const { code, stdout } = await run(['audit', 'verify', '--expect', `1:${FIRST.hash}`], { dataDir });
  expect([code, stdout]).toEqual([0, `The audit log is intact, with 2 entries. The last is 2:${SECOND.hash}\n`]);
});

test('a broken log ends with 8 and names the first broken entry', async () => {
  const forged = { ...SECOND, address: '203.0.113.9' };
  const { dataDir } = await startFakeDaemon({
    ...LOG,
    'GET /api/v1/audit?after_id=0&limit=500': () => ({ items: [FIRST, forged], total: 2 }),
  });
  const reason = 'Entry 2 was changed, or the one before it.';
  expect(await run(['audit', 'verify'], { dataDir })).toMatchObject({ code: 8, stderr: `errand: ${reason}\n` });
  const { code, stdout } = await run(['audit', 'verify', '-o', 'json'], { dataDir });
  expect([code, JSON.parse(stdout)]).toEqual([
    8,
    { ok: false, entries: 1, last_hash: FIRST.hash, broken_id: 2, removed_until: 0, reason },
  ]);
});

test('a noted hash has a form', async () => {
  expect(await run(['audit', 'verify', '--expect', 'x'])).toMatchObject({ code: 2 });
});
