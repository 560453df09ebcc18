// The audit log over HTTP: what administrators find in it, and where entries come from.
import { beforeEach, expect, test } from 'vitest';
import { makeAuditLogOperations } from '../../../src/operations/audit/audit-log.ts';
import type { FoundAnchor } from '../../../src/files/audit-anchor.ts';
import { makeTeamOperations } from '../../../src/operations/people/teams.ts';
import { auditOf, deriveSealKey } from '../../support/store/audit.ts';
import { type Fixture, openFixture, send } from '../../support/http/http-fixture.ts';
import { type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

let rows: StoreFixture;
let fixture: Fixture;
let found: FoundAnchor;

beforeEach(async () => {
  rows = await storeFixture();
  found = { kind: 'sealed', anchor: { end: { id: 1, hash: 'a'.repeat(64) }, doubt: null } };
  const { store, clock } = rows;
  const audit = auditOf({ store, clock });
  const operations = {
    ...makeTeamOperations({ store, audit }),
    ...makeAuditLogOperations({ store, deriveKey: deriveSealKey, anchor: { read: async () => found } }),
  };
  fixture = await openFixture({ operations, settings: { trustedProxies: ['127.0.0.1'] } });
});

const get = (query = '', as = 'admin-key') => send(fixture, { path: `/api/v1/audit${query}`, as });
const makeTeam = (name: string, via: 'tcp' | 'socket' = 'tcp') =>
  send(fixture, {
    method: 'POST',
    path: '/api/v1/teams',
    body: { name },
    via,
    ...(via === 'tcp' && { as: 'admin-key', headers: { 'x-forwarded-for': '203.0.113.9' } }),
  });

interface Found {
  readonly total: number;
  readonly items: readonly { readonly id: number }[];
}
const data = ({ json }: { json: unknown }) => (json as { data: Found }).data;

test('an entry has the key, the address behind a trusted proxy and the id of the request', {
  tags: ['G17'],
}, async () => {
  const made = await makeTeam('Blue');
  const local = await makeTeam('Red', 'socket');
  const teams = (await rows.store.teams.list()).items;
  const { items, total } = data(await get());
  expect(total).toBe(2);
  expect(items).toMatchObject([
    {
      id: 2,
      actor: { user_id: null, username: 'operator', via: 'socket', key_id: null },
      target_id: teams[1]!.id,
      address: 'socket',
      request_id: local.headers['x-request-id'],
    },
    {
      id: 1,
      at: '2026-03-01T12:00:00.000Z',
      actor: { username: 'mara', via: 'key', key_id: 'k1234567' },
      action: 'team.create',
      target_type: 'team',
      target_id: teams[0]!.id,
      session_id: null,
      address: '203.0.113.9',
      request_id: made.headers['x-request-id'],
    },
  ]);
  expect((await send(fixture, { path: '/api/v1/audit/head', as: 'token-of-admin' })).json).toMatchObject({
    data: {
      last_id: 2,
      sealed: true,
      doubtful_until: null,
      anchor: { state: 'sealed', end: { last_id: 1, last_hash: 'a'.repeat(64) }, doubt: null },
    },
  });
});

test('entries are filtered and paged by id', async () => {
  for (const name of ['a', 'b', 'c']) {
    await makeTeam(name, name === 'b' ? 'socket' : 'tcp');
    rows.clock.advance(60_000);
  }
  const ask = async (query: string) => {
    const { total, items } = data(await get(query));
    return [total, ...items.map(({ id }) => id)];
  };
  expect(await ask('?limit=2')).toEqual([3, 3, 2]);
  expect(await ask('?limit=2&before_id=2')).toEqual([3, 1]);
  expect(await ask('?limit=2&after_id=0')).toEqual([3, 1, 2]);
  expect(await ask('?actor=operator')).toEqual([1, 2]);
  expect(await ask('?action=team.create&from=2026-03-01T12:01:00Z')).toEqual([2, 3, 2]);
  expect(await ask('?from=2026-03-01T13:01:00%2B01:00&to=2026-03-01T12:02:00.000Z')).toEqual([1, 2]);
  expect(await ask('?to=2026-03-01')).toEqual([0]);
  expect(await ask('?action=key.revoke')).toEqual([0]);
  expect(await ask('?target=none&session=0198c0de-0000-7000-8000-000000000001')).toEqual([0]);
});

test.each([
  ['?actor=nobody', 404],
  ['?action=odd', 422],
  ['?from=yesterday', 422],
  ['?from=2026-13-01', 422],
  ['?to=1', 422],
  ['?limit=501', 422],
  ['?limit=0', 422],
  ['?before_id=-1', 422],
  ['?after_id=x', 422],
])('%s is refused with %i', async (query, status) => {
  expect((await get(query)).status).toBe(status);
});

test.each(['conversation-key', 'global-key-of-admin', 'demoted-admin-key', 'token-of-user'])(
  'the log is not for %s',
  async (as) => {
    const statuses = [await get('', as), await get('/head', as)].map(({ status }) => status);
    expect(statuses).toEqual([403, 403]);
  },
);
