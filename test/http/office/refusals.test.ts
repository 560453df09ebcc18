// Who may read Office Mode, for every endpoint: credentials, ids, ranges (§4.8, §5, A1, A8, G11, G21).
import { expect, test } from 'vitest';
import type { Catalog } from '../../../src/catalog/kinds/models.ts';
import { makeBus } from '../../../src/events/bus.ts';
import { makeOfficeFeed } from '../../../src/events/office-feed.ts';
import { makeEventScopes } from '../../../src/events/event-scopes.ts';
import { makeSessionFeeds } from '../../../src/events/session-feeds.ts';
import { makeEmptyArchives } from '../../../src/execution/artifacts/packing/empty-archives.ts';
import { makeFileAddresses } from '../../../src/files/file-address.ts';
import { routesOf } from '../../../src/http/app.ts';
import { makeAccess } from '../../../src/operations/access.ts';
import { makeAuditedAccess } from '../../../src/operations/audited-access.ts';
import { makeOfficeOperations } from '../../../src/operations/office/office.ts';
import { makeWatchOperations } from '../../../src/operations/office/watch.ts';
import { artifactFixture } from '../../support/files/artifact-fixture.ts';
import { openFixture, send } from '../../support/http/http-fixture.ts';
import { auditOf } from '../../support/store/audit.ts';

const BASE = '/api/v1/office-mode';
const UNKNOWN = '0190f6a0-0000-7000-8000-000000000000';

const BEYOND = ['-1', '1.5', '', 'ten', '1e2', '%2B1', '99999999999999999999'];
const outOf = (name: string, ...more: readonly (number | string)[]) =>
  [...more, ...BEYOND].map((value) => `${name}=${value}`);
const ZONES = ['tz=', 'tz=%2B08:00', 'tz=UTC%2B8', 'tz=Mars/Olympus', 'tz=Asia', 'tz=UTC&tz=UTC'];
const PAGE = [...outOf('limit', 0, 501), ...outOf('offset'), 'limit=1&limit=2', 'offset=1&offset=1'];
const RUN = ['run_id=', 'run_id=x', `run_id=${UNKNOWN.slice(1)}`, `run_id=${UNKNOWN}&run_id=${UNKNOWN}`];
const AFTER = [...outOf('after_id'), 'after_id=1&after_id=1'];

/** Every endpoint, with queries that it rejects. `RUN` stands for the id of a run. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  '/snapshot': [...outOf('limit', 0, 97), 'limit=1&limit=1', ...ZONES],
  '/live-runs': PAGE,
  '/last-hour': [],
  '/teams/:team_id/today-active-runs': [
    ...outOf('limit', 0, 51),
    ...outOf('page', 0),
    ...['', 'all', 'NORMAL_SESSION', 'normal_session,scheduled_task'].map((source) => `source_type=${source}`),
    'page=1&page=1',
    ...ZONES,
  ],
  '/sessions/:id': [],
  '/sessions/:id/detail': [],
  '/sessions/:id/summary': [],
  '/sessions/:id/messages-with-files': [...outOf('limit', 0, 201), ...outOf('before_id', 0), 'before_id=1&before_id=1'],
  '/office-runs/session/:id': PAGE,
  '/sessions/:id/run-rounds': PAGE,
  '/sessions/:id/context-usage': [],
  '/sessions/:id/computer/browser/:tool_use_id': [],
  '/sessions/:id/workspace/files': [],
  '/sessions/:id/workspace/archive': [],
  '/sessions/:id/stream-events': [
    ...outOf('limit', 0, 501),
    ...AFTER,
    ...outOf('before_id', 0),
    ...RUN,
    ...outOf('run_id=RUN&from_stream_seq', 0),
    'from_stream_seq=1',
    ...['', 'ASC', 'newest'].map((order) => `order=${order}`),
  ],
  '/sessions/:id/stream': [...AFTER, ...['', 'yes', '1', 'TRUE', 'true&replay=true'].map((value) => `replay=${value}`)],
  '/sessions/:id/run-events/stream': ['', 'after_id=0', ...RUN, ...AFTER.map((query) => `run_id=RUN&${query}`)],
  '/stream': AFTER,
};
const PATHS = Object.keys(REFUSED);
const OF_SESSIONS = PATHS.filter((path) => path.includes(':id'));

/** What each path needs for a reply. */
const QUERY: Readonly<Record<string, string>> = { '/sessions/:id/run-events/stream': 'run_id=RUN' };

const CREDENTIALS = [
  ['nobody', {}, 401],
  ['an unknown key', { as: 'unknown-key' }, 401],
  ['the x-api-key header', { headers: { 'x-api-key': 'admin-key' } }, 401],
  ['two credentials', { as: 'admin-key', headers: { 'x-api-key': 'global-key' } }, 401],
  ['a key in the query', { query: 'api_key=admin-key&access_token=admin-key' }, 401],
  ['a key in a cookie', { headers: { cookie: 'authorization=Bearer admin-key' } }, 401],
  ["an administrator's login token", { as: 'token-of-admin' }, 401],
  ["a user's login token", { as: 'token-of-user' }, 401],
  ['a key of scope conversation', { as: 'conversation-key' }, 403],
  ['a key of scope global', { as: 'global-key' }, 403],
  ["an administrator's key of scope global", { as: 'global-key-of-admin' }, 403],
  ['an admin key whose owner is no administrator any more', { as: 'demoted-admin-key' }, 403],
  ['a key of a disabled user', { as: 'disabled-key' }, 403],
] as const satisfies readonly (readonly [string, { as?: string; headers?: object; query?: string }, number])[];

/** Office Mode over a real store with a session, its running run, and a deleted session. Streams end at once. */
async function openOffice() {
  const rows = await artifactFixture();
  const { store, clock } = rows;
  const catalog: Catalog = { endpoints: new Map(), models: new Map(), scenarios: new Map(), defaultScenario: '' };
  const secret = Buffer.alloc(32, 1);
  const [access, audit, bus] = [makeAccess(store), auditOf({ store }), makeBus()];
  const auditedAccess = makeAuditedAccess({ access, audit });
  const scopes = makeEventScopes(store.events);
  const fileAddresses = makeFileAddresses({ deriveKey: () => secret, now: clock.now });
  const emptyArchives = makeEmptyArchives(rows.parts);
  const reads = makeOfficeOperations({
    store,
    clock,
    auditedAccess,
    catalog: () => catalog,
    fileAddresses,
    emptyArchives,
    collector: { packOnRequest: async () => null },
  });
  const feeds = makeSessionFeeds({ bus, events: store.events, scopes });
  const watch = makeWatchOperations({
    store,
    access,
    audit,
    auditedAccess,
    feeds,
    floor: makeOfficeFeed({ bus, scopes, clock }),
  });
  const fixture = await openFixture({ operations: { ...reads, ...watch } });
  fixture.drain.abort();
  const run = await rows.begin();
  const deleted = await rows.begin();
  await store.sessions.deleteSession(deleted.sessionSeq);
  const team = await store.teams.create({ name: 'Red', budgetUsd: null });
  const at = (path: string, query = QUERY[path] ?? '', session = run.sessionId) =>
    `${BASE}${path}?${query}`
      .replace(':team_id', team.id)
      .replace(':tool_use_id', 'x')
      .replace(':id', session)
      .replace('RUN', run.id);
  const statusOf = async (path: string, as = 'admin-key') => (await send(fixture, { path, as })).status;
  const audited = () => rows.rows('SELECT action FROM audit_entries');
  return { fixture, at, statusOf, audited, run, deleted, store };
}

test('these are all reads of Office Mode', { tags: ['§4.8-endpoints'] }, async () => {
  const { fixture } = await openOffice();
  const routes = routesOf(fixture.parts, () => 'gone').filter(
    ({ method, path }) => method === 'GET' && path.startsWith(BASE),
  );
  expect(routes.map(({ method, path }) => `${method} ${path.slice(BASE.length)}`).sort()).toEqual(
    PATHS.map((path) => `GET ${path}`).sort(),
  );
});

test.each(PATHS)(
  '%s accepts an admin key of an administrator, as a Bearer, and nothing else',
  { tags: ['§4.8-endpoints', '§5-rule-2'] },
  async (path) => {
    const { fixture, at, statusOf, audited } = await openOffice();
    for (const [who, { query = '', ...credential }, status] of CREDENTIALS.map(
      ([who, how, status]) => [who, how as { query?: string; as?: string }, status] as const,
    )) {
      // Neither an unknown id nor a bad query is examined before the credential.
      for (const target of [at(path), at(path, 'limit=x&tz=x', UNKNOWN)]) {
        const got = await send(fixture, { path: `${target}&${query}`, ...credential });
        expect([who, target, got.status]).toEqual([who, target, status]);
        expect(got.json).toEqual({ code: status, message: expect.any(String) as string, data: null });
      }
    }
    expect(audited()).toEqual([]);
    expect(await statusOf(at(path))).toBe(path.includes('browser') ? 404 : 200);
  },
);

test.each(OF_SESSIONS)(
  '%s of a session that is unknown, malformed or deleted is not found',
  { tags: ['§4.8-endpoints', 'A8-ids', 'G11'] },
  async (path) => {
    const { fixture, at, audited, run, deleted } = await openOffice();
    const ids = [
      UNKNOWN,
      deleted.sessionId,
      'x',
      '0',
      run.sessionId.slice(1),
      `${run.sessionId}0`,
      '%00',
      '__unassigned__',
    ];
    for (const id of ids) {
      const got = await send(fixture, { path: at(path, undefined, id), as: 'admin-key' });
      expect([id, got.status]).toEqual([id, 404]);
      expect(got.json).toMatchObject({ code: 404, data: null });
    }
    expect(audited()).toEqual([]);
  },
);

test.each(['run-events/stream?', 'stream-events?'])(
  '%s of a run of another session is not found',
  { tags: ['§4.8-endpoints'] },
  async (path) => {
    const { statusOf, run, deleted } = await openOffice();
    for (const id of [UNKNOWN, deleted.id])
      expect(await statusOf(`${BASE}/sessions/${run.sessionId}/${path}run_id=${id}`)).toBe(404);
  },
);

test('a team that is unknown or malformed is not found, and the virtual one always is', { tags: ['G11'] }, async () => {
  const { statusOf } = await openOffice();
  const of = (team: string) => statusOf(`${BASE}/teams/${team}/today-active-runs`);
  for (const team of [UNKNOWN, 'Red', 'x', '0', '%00', '__UNASSIGNED__', '__unassigned__x', 'x%2Fy'])
    expect([team, await of(team)]).toEqual([team, 404]);
  expect(await of('__unassigned__')).toBe(200);
});

test.each(PATHS.filter((path) => REFUSED[path]!.length > 0))(
  '%s refuses what is out of range, of another type or there twice, and clamps nothing',
  { tags: ['§4.8-ranges', '§8-office-mode', 'A8-queries', 'G21'] },
  async (path) => {
    const { fixture, at, audited } = await openOffice();
    for (const query of REFUSED[path]!) {
      // Also for a session that is unknown: fields are checked first.
      for (const session of [undefined, UNKNOWN]) {
        const got = await send(fixture, { path: at(path, query, session), as: 'admin-key' });
        expect([query, got.status]).toEqual([query, 422]);
        expect(got.json).toMatchObject({ code: 422, data: null });
      }
    }
    expect(audited()).toEqual([]);
  },
);

test.each(PATHS)('%s ignores a parameter that it does not know, also twice', { tags: ['G21'] }, async (path) => {
  const { at, statusOf } = await openOffice();
  expect(await statusOf(`${at(path)}&sort=up&sort=down`)).toBe(path.includes('browser') ? 404 : 200);
});
