import { expect, test } from 'vitest';
import { NO_CAPABILITIES } from '../../../src/domain/capabilities/capability-config.ts';
import type { Caller } from '../../../src/domain/people/user.ts';
import type { Operations } from '../../../src/operations/operations.ts';
import type { KeyRecord } from '../../../src/operations/people/keys.ts';
import type { UserRecord } from '../../../src/store/people/users.ts';
import { inOnePortion } from '../../support/store/read-whole.ts';
import { AT, aKey, aUser, openFixture, send, STATUS } from '../../support/http/http-fixture.ts';

const USER: UserRecord = { ...aUser(), workspaceBytes: 3_000_000, teamName: 'Optics' };
const KEY: KeyRecord = {
  ...aKey({ expiresAt: AT }),
  userId: USER.id,
  username: USER.username,
  capabilities: { ...NO_CAPABILITIES, mcpServerIds: [3], skillIds: [1, 9] },
  capabilityNames: { mcpServers: ['files'], skills: ['reports', 'office:memo'], plugins: [], subagents: [] },
};
const TEAM = {
  id: '0198c0de-0000-7000-8000-00000000000a',
  name: 'Optics',
  budgetUsd: 12.5,
  createdAt: AT,
  updatedAt: AT,
};
const ISO = '2026-03-01T12:00:00.000Z';

const user = {
  user_id: USER.id,
  username: 'mara',
  full_name: 'Mara Vogt',
  department: 'Lab',
  role: 'user',
  team: 'Optics',
  functional_role: null,
  scenario: null,
  disabled: false,
  workspace_bytes: 3_000_000,
  created_at: ISO,
  updated_at: ISO,
};
const team = { id: TEAM.id, name: 'Optics', budget_amount_usd: 12.5, created_at: ISO, updated_at: ISO };
const key = {
  id: 'k1234567',
  name: 'test',
  user_id: USER.id,
  username: 'mara',
  scope: 'conversation',
  last_four: 'wxyz',
  model: 'auto',
  target: 'free',
  capability_config: {
    browser_enabled: false,
    browser_impl: '',
    mcp_server_ids: [3],
    skill_ids: [1, 9],
    connector_connection_ids: [],
    plugin_ids: [],
    subagent_ids: [],
  },
  capability_names: { mcp_servers: ['files'], skills: ['reports', 'office:memo'], plugins: [], subagents: [] },
  project_id: null,
  continue_by: null,
  expires_at: ISO,
  last_used_at: null,
  revoked_at: null,
  created_at: ISO,
};

/** Operations that record their calls. */
function recorder() {
  const asked: unknown[][] = [];
  const verb =
    <T>(name: string, answer: T) =>
    async (caller: Caller, ...input: unknown[]): Promise<T> => {
      expect(caller.reach).toBe('all');
      asked.push([name, ...input]);
      return answer;
    };
  const operations: Partial<Operations> = {
    listUsers: async (caller) => verb('listUsers', { items: inOnePortion([USER]), total: 1 })(caller),
    getUser: verb('getUser', USER),
    createUser: verb('createUser', { ...USER, password: 'made-up' }),
    changeUser: verb('changeUser', USER),
    setPassword: verb('setPassword', { ...USER, password: undefined }),
    listTeams: verb('listTeams', { items: [TEAM], total: 1 }),
    createTeam: verb('createTeam', TEAM),
    changeTeam: verb('changeTeam', TEAM),
    listKeys: async (caller, query) => verb('listKeys', { items: inOnePortion([KEY]), total: 1 })(caller, query),
    getKey: verb('getKey', KEY),
    createKey: verb('createKey', { ...KEY, secret: 'errand_k1234567_secret' }),
    changeKey: verb('changeKey', KEY),
    revokeKey: verb('revokeKey', KEY),
    findId: verb('findId', PROJECT),
  };
  return { asked, operations };
}

const NOTHING = { fullName: null, department: null, role: null, team: null, scenario: null, password: null };
const NEW_KEY = {
  user: 'mara',
  scope: 'global',
  name: null,
  model: null,
  target: 'free',
  capabilityChoice: null,
  projectId: null,
  continueBy: null,
  expiresInSeconds: null,
};
const PROJECT = '0198c0de-0000-7000-8000-0000000000aa';

const ASKED: readonly (readonly [
  line: string,
  body: object | undefined,
  status: number,
  call: unknown[],
  data: object,
])[] = [
  ['GET /users', undefined, 200, ['listUsers'], { items: [user], total: 1 }],
  ['GET /ids/runs/0190', undefined, 200, ['findId', 'runs', '0190'], { id: PROJECT }],
  ['GET /users/mara', undefined, 200, ['getUser', 'mara'], user],
  ['GET /users/j%C3%BCrgen%2F1', undefined, 200, ['getUser', 'jürgen/1'], user],
  [
    'POST /users',
    { username: 'mara' },
    201,
    ['createUser', { username: 'mara', ...NOTHING }],
    { ...user, password: 'made-up' },
  ],
  [
    'POST /users',
    {
      username: 'm',
      full_name: 'M V',
      department: '',
      role: 'admin',
      team: 'Optics',
      scenario: 's',
      password: 'long enough',
    },
    201,
    [
      'createUser',
      {
        username: 'm',
        fullName: 'M V',
        department: '',
        role: 'admin',
        team: 'Optics',
        scenario: 's',
        password: 'long enough',
      },
    ],
    { ...user, password: 'made-up' },
  ],
  [
    'PATCH /users/mara',
    { full_name: 'X', team: null, disabled: true },
    200,
    ['changeUser', 'mara', { fullName: 'X', team: null, disabled: true }],
    user,
  ],
  [
    'PUT /users/mara/password',
    { password: 'long enough' },
    200,
    ['setPassword', 'mara', { password: 'long enough' }],
    { user_id: USER.id, username: 'mara' },
  ],
  [
    'PUT /users/mara/password',
    undefined,
    200,
    ['setPassword', 'mara', { password: null }],
    { user_id: USER.id, username: 'mara' },
  ],
  ['GET /teams', undefined, 200, ['listTeams'], { items: [team], total: 1 }],
  ['POST /teams', { name: 'Optics' }, 201, ['createTeam', { name: 'Optics', budgetUsd: null }], team],
  ['PATCH /teams/t-1', { budget_amount_usd: null }, 200, ['changeTeam', 't-1', { budgetUsd: null }], team],
  [
    'PATCH /teams/t-1',
    { name: 'N', budget_amount_usd: 3 },
    200,
    ['changeTeam', 't-1', { name: 'N', budgetUsd: 3 }],
    team,
  ],
  ['GET /keys', undefined, 200, ['listKeys', { user: null }], { items: [key], total: 1 }],
  ['GET /keys?user=mara', undefined, 200, ['listKeys', { user: 'mara' }], { items: [key], total: 1 }],
  [
    'POST /keys',
    { user: 'mara', scope: 'global' },
    201,
    ['createKey', NEW_KEY],
    { ...key, key: 'errand_k1234567_secret' },
  ],
  [
    'POST /keys',
    {
      user: 'mara',
      scope: 'global',
      name: 'ci',
      model: 'qwen',
      target: 'free',
      project_id: PROJECT.toUpperCase(),
      expires_in_seconds: 60,
    },
    201,
    ['createKey', { ...NEW_KEY, name: 'ci', model: 'qwen', projectId: PROJECT, expiresInSeconds: 60 }],
    { ...key, key: 'errand_k1234567_secret' },
  ],
  [
    'POST /keys',
    { user: 'mara', scope: 'global', model: 'auto' },
    201,
    ['createKey', NEW_KEY],
    { ...key, key: 'errand_k1234567_secret' },
  ],
  ['GET /keys/k1234567', undefined, 200, ['getKey', 'k1234567'], key],
  [
    'PATCH /keys/k1234567',
    { name: '', model: 'auto', target: 'team:crew' },
    200,
    ['changeKey', 'k1234567', { name: '', model: null, target: 'team:crew' }],
    key,
  ],
  [
    'PATCH /keys/k1234567',
    {
      capability_config: {
        browser_enabled: true,
        mcp_server_ids: [3, 'wiki'],
        skill_ids: null,
        connector_connection_ids: [PROJECT.toUpperCase()],
        plugin_ids: [],
      },
    },
    200,
    [
      'changeKey',
      'k1234567',
      {
        capabilityChoice: {
          browserEnabled: true,
          mcpServers: [3, 'wiki'],
          skills: null,
          connections: [PROJECT],
          plugins: [],
        },
      },
    ],
    key,
  ],
  [
    'POST /keys',
    { user: 'mara', scope: 'global', target: 'expert:office:typist', capability_config: {} },
    201,
    ['createKey', { ...NEW_KEY, target: 'expert:office:typist', capabilityChoice: {} }],
    { ...key, key: 'errand_k1234567_secret' },
  ],
  ['DELETE /keys/k1234567', undefined, 200, ['revokeKey', 'k1234567'], key],
];

test.each(ASKED)('%s %j asks one operation and wraps its answer', async (...row) => {
  const [line, body, status, call, data] = row;
  const { asked, operations } = recorder();
  const fixture = await openFixture({ operations });
  const [method, path] = line.split(' ') as [string, string];
  const sent = { method, path: `/api/v1${path}`, ...(body === undefined ? {} : { body }) };
  for (const who of [{ via: 'socket' as const }, { as: 'admin-key' }]) {
    const got = await send(fixture, { ...sent, ...who });
    expect([got.status, got.json]).toEqual([status, { code: 0, message: 'ok', data }]);
    expect(got.headers['cache-control']).toBe('no-store');
  }
  expect(asked).toEqual([call, call]);
});

const REFUSED: readonly (readonly [line: string, body: object, message: string])[] = [
  ['POST /users', {}, 'username: must be a string'],
  ['POST /users', { username: 'a\nb' }, 'username: must not contain control characters'],
  ['POST /users', { username: 'a b' }, 'username: must be 1 to 64 letters, digits, dots, dashes, underscores or @'],
  [
    'POST /users',
    { username: 'a'.repeat(65) },
    'username: must be 1 to 64 letters, digits, dots, dashes, underscores or @',
  ],
  [
    'POST /users',
    { username: 'a\u200bb' },
    'username: must be 1 to 64 letters, digits, dots, dashes, underscores or @',
  ],
  ['POST /users', { username: 'm', password: 'seven.7' }, 'password: must be at least 8 characters'],
  ['POST /users', { username: 'm', role: 'root' }, 'role: must be one of admin, user'],
  ['POST /users', { username: 'm', password: 7 }, 'password: must be a string'],
  ['PATCH /users/mara', {}, 'body: must name at least one field to change'],
  ['PATCH /users/mara', { disable: true }, 'body: must name at least one field to change'],
  ['PATCH /users/mara', { disabled: 'yes' }, 'disabled: must be true or false'],
  ['PATCH /users/mara', { role: null }, 'role: must be one of admin, user'],
  ['PUT /users/mara/password', { password: '' }, 'password: must not be empty'],
  ['POST /teams', { name: ' N' }, 'name: must be 1 to 64 characters without blanks at its ends'],
  ['PATCH /teams/optics', { name: 'N'.repeat(65) }, 'name: must be 1 to 64 characters without blanks at its ends'],
  ['PATCH /teams/optics', {}, 'body: must name at least one field to change'],
  ['POST /teams', { name: 'N', budget_amount_usd: -1 }, 'budget_amount_usd: must not be negative'],
  ['POST /teams', { name: 'N', budget_amount_usd: '3' }, 'budget_amount_usd: must be a number'],
  ['POST /keys', { scope: 'global' }, 'user: must be a string'],
  ['POST /keys', { user: 'mara', scope: 'all' }, 'scope: must be one of conversation, global, admin'],
  ['PATCH /keys/k1234567', {}, 'body: must name at least one field to change'],
  ['PATCH /keys/k1234567', { target: '' }, 'target: must not be empty'],
  ['PATCH /keys/k1234567', { capability_config: [] }, 'capability_config: must be an object'],
  [
    'PATCH /keys/k1234567',
    { capability_config: { mcp_servers: [] } },
    'capability_config.mcp_servers: must be one of browser_enabled, mcp_server_ids, skill_ids, connector_connection_ids, plugin_ids, subagent_ids',
  ],
  [
    'PATCH /keys/k1234567',
    { capability_config: { skill_ids: ['a', 1.5] } },
    'capability_config.skill_ids[1]: must be an integer',
  ],
  [
    'PATCH /keys/k1234567',
    { capability_config: { connector_connection_ids: ['x'] } },
    'capability_config.connector_connection_ids[0]: must be a UUID string',
  ],
  ['POST /keys', { user: 'mara', scope: 'global', project_id: 'p' }, 'project_id: must be a UUID string'],
  [
    'POST /keys',
    { user: 'mara', scope: 'global', expires_in_seconds: 0 },
    'expires_in_seconds: must be from 1 to 3153600000 seconds',
  ],
  ['POST /keys', { user: 'mara', scope: 'global', expires_in_seconds: 1.5 }, 'expires_in_seconds: must be an integer'],
];

test.each(REFUSED)('%s %j is a 422 that asks no operation', async (line, body, message) => {
  const { asked, operations } = recorder();
  const fixture = await openFixture({ operations });
  const [method, path] = line.split(' ') as [string, string];
  const got = await send(fixture, { method, path: `/api/v1${path}`, body, via: 'socket' });
  expect([got.status, got.json]).toEqual([422, { code: 422, message, data: null }]);
  expect(asked).toEqual([]);
});

test('the status is reported in wire names', async () => {
  const fixture = await openFixture();
  expect((await send(fixture, { path: '/api/v1/status', via: 'socket' })).json).toEqual({
    code: 0,
    message: 'ok',
    data: {
      version: '0.1.0',
      node_version: 'v24.0.0',
      pid: 42,
      started_at: ISO,
      uptime_seconds: 7,
      ready: true,
      listen: STATUS.listen,
      public_url: STATUS.publicUrl,
      data_dir: '/data',
      config_dir: '/config',
      parts: [{ name: 'store', state: 'ok', detail: null }],
      runs: { queued: 1, running: 2, waiting: 0, finalizing: 0 },
      workers: { threads: 1, slots: 2, busy: 2 },
      node: { id: '0198c0de-0000-7000-8000-000000000001', name: 'tide' },
      nodes: [{ id: '0198c0de-0000-7000-8000-000000000001', name: 'tide', state: 'online', capacity: 8, online: true }],
      webhooks: {
        failing: 1,
        disabled: 1,
        troubled: [
          { id: 7, name: 'Ledger', failing_since: ISO, failures: 12, disabled_reason: 'It is gone.' },
          { id: 3, name: 'CI', failing_since: ISO, failures: 1, disabled_reason: null },
        ],
      },
      models: [{ name: 'qwen', endpoint: 'local', kind: 'openai', default: true }],
    },
  });
});
