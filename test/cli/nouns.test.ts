// What the nouns send to the daemon, and how they show the replies.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { makeDirectory, refuse, run, start, startFakeDaemon, type Route } from './outside.ts';

const USER = {
  user_id: '0190f6a0-0000-7000-8000-000000000001',
  username: 'alice',
  full_name: 'Alice\tDoe',
  department: 'R&D',
  role: 'user',
  team: null,
  functional_role: null,
  scenario: null,
  disabled: false,
  workspace_bytes: 5_242_880,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-02T00:00:00.000Z',
};

const KEY = {
  id: 'ab12cd34',
  name: 'laptop',
  user_id: USER.user_id,
  username: 'alice',
  scope: 'global',
  last_four: 'wxyz',
  model: 'auto',
  target: 'free',
  capability_config: {
    browser_enabled: false,
    browser_impl: '',
    mcp_server_ids: [2],
    skill_ids: [],
    connector_connection_ids: [],
    plugin_ids: [],
    subagent_ids: [],
  },
  capability_names: { mcp_servers: ['files'], skills: [], plugins: [], subagents: [] },
  project_id: null,
  expires_at: null,
  last_used_at: null,
  revoked_at: null,
  created_at: '2026-01-01T00:00:00.000Z',
};

const PEOPLE: Readonly<Record<string, Route>> = {
  'GET /api/v1/users': () => ({
    items: [USER, { ...USER, username: 'bob', full_name: '山田 太郎 🚀', disabled: true }],
    total: 2,
  }),
  'POST /api/v1/users': ({ body }) => ({ ...USER, ...(body as object), password: 'made-up' }),
  'GET /api/v1/users/alice': () => USER,
  'PATCH /api/v1/users/alice': ({ body }) => ({ ...USER, ...(body as object) }),
  'PUT /api/v1/users/alice/password': ({ body }) => ({
    user_id: USER.user_id,
    username: 'alice',
    ...(Object.keys(body as object).length === 0 && { password: 'made-up' }),
  }),
};

const KEYS: Readonly<Record<string, Route>> = {
  'GET /api/v1/keys': () => ({
    items: [
      KEY,
      { ...KEY, id: 'old00000', revoked_at: '2026-01-01T00:00:00Z' },
      { ...KEY, id: 'a', name: 'twin' },
      { ...KEY, id: 'b', name: 'twin' },
    ],
    total: 4,
  }),
  'GET /api/v1/keys?user=alice%20doe': () => ({ items: [KEY], total: 1 }),
  'POST /api/v1/keys': () => ({ ...KEY, key: 'errand_ab12cd34_secret' }),
  'PATCH /api/v1/keys/ab12cd34': () => KEY,
  'GET /api/v1/keys/ab12cd34': () => KEY,
  'DELETE /api/v1/keys/ab12cd34': () => ({ ...KEY, revoked_at: '2026-01-03T00:00:00.000Z' }),
};

test('in a pipe a list is plain columns, one row a line, whatever is in the fields', { tags: ['K2'] }, async () => {
  const { dataDir } = await startFakeDaemon(PEOPLE);
  const { stdout, stderr, code } = await run(['users', 'list'], { dataDir });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.split('\n').map((line) => line.split('\t'))).toEqual([
    [USER.user_id, 'alice', 'Alice Doe', 'R&D', 'user', '', 'false'],
    [USER.user_id, 'bob', '山田 太郎 🚀', 'R&D', 'user', '', 'true'],
    [''],
  ]);
});

test('on a terminal a list is a table whose columns line up under wide characters', { tags: ['K2'] }, async () => {
  const { dataDir } = await startFakeDaemon(PEOPLE);
  const setting = { dataDir, terminal: { stdout: true }, environment: { NO_COLOR: '1' } };
  const { stdout } = await run(['users', 'list'], setting);
  const lines = stdout.trimEnd().split('\n');
  expect(lines[0]).toMatch(/^USER ID +USERNAME +FULL NAME +DEPARTMENT +ROLE +TEAM +DISABLED$/);
  const starts = lines.map((line) => stringWidth(line.slice(0, line.search(/DEPARTMENT|R&D/))));
  expect(new Set(starts).size).toBe(1);
  expect(stdout).not.toContain('\u001b');
});

test('colours are on a terminal only, and not when refused', { tags: ['K2'] }, async () => {
  const { dataDir } = await startFakeDaemon(PEOPLE);
  const coloured = async (stdout: boolean, environment: Record<string, string>) =>
    (await run(['users', 'list', '-o', 'table'], { dataDir, terminal: { stdout }, environment })).stdout.includes(
      '\u001b',
    );
  expect(await coloured(true, {})).toBe(true);
  expect(await coloured(true, { NO_COLOR: '1' })).toBe(false);
  expect(await coloured(true, { TERM: 'dumb' })).toBe(false);
  expect(await coloured(false, {})).toBe(false);
});

test('control sequences in a name do nothing on a terminal', async () => {
  const evil = { ...USER, full_name: 'a\u001b[2J\u009b1mb\u202ec\u0007', department: 'x\ny' };
  const { dataDir } = await startFakeDaemon({ 'GET /api/v1/users/alice': () => evil });
  const setting = { dataDir, terminal: { stdout: true }, environment: { NO_COLOR: '1' } };
  const table = await run(['users', 'show', 'alice'], setting);
  expect(table.stdout).toContain('full name        abc\n');
  expect(table.stdout).toContain('department       x y\n');
  const json = await run(['users', 'show', 'alice', '-o', 'json'], setting);
  for (const character of '\u001b\u009b\u202e\u0007') expect(json.stdout).not.toContain(character);
  expect(JSON.parse(json.stdout)).toEqual(evil);
});

test.each([
  [['users', 'list', '-o', 'json'], (body: object) => expect(body).toMatchObject({ total: 2, items: [USER, {}] })],
  [['-o', 'json', 'users', 'show', 'alice'], (body: object) => expect(body).toEqual(USER)],
  [['users', '-o', 'json', 'show', 'alice'], (body: object) => expect(body).toEqual(USER)],
])('%j prints one JSON document with the names of the API', { tags: ['K2'] }, async (args, check) => {
  const { dataDir } = await startFakeDaemon(PEOPLE);
  const { stdout, stderr } = await run(args, { dataDir, terminal: { stdout: true } });
  check(JSON.parse(stdout) as object);
  expect(stderr).toBe('');
});

test('a new user gets the given fields and nothing else; a generated password is shown with a hint', {
  tags: ['K5-people'],
}, async () => {
  const { dataDir, received } = await startFakeDaemon(PEOPLE);
  const args = ['users', 'create', 'alice', '--full-name', 'Alice', '--role', 'admin', '--team', 'none'];
  const { stdout, stderr } = await run(args, { dataDir });
  expect(received[0]?.body).toEqual({ username: 'alice', full_name: 'Alice', role: 'admin' });
  expect(stdout).toContain('password\tmade-up\n');
  expect(stderr).toContain('shown only now');
});

test('a password comes from standard input without its line end', async () => {
  const { dataDir, received } = await startFakeDaemon(PEOPLE);
  await run(['users', 'create', 'alice', '--password-stdin'], { dataDir, stdin: ' se cret \r\n' });
  const changed = await run(['users', 'passwd', 'alice', '--password-stdin'], { dataDir, stdin: 'other' });
  expect(received.map(({ body }) => body)).toEqual([
    { username: 'alice', password: ' se cret ' },
    { password: 'other' },
  ]);
  expect(changed.stderr).toBe('');
  for (const stdin of ['', '\n', 'a\nb\n', 'x'.repeat(9000)]) {
    expect(await run(['users', 'passwd', 'alice', '--password-stdin'], { dataDir, stdin })).toMatchObject({ code: 2 });
  }
  expect(received).toHaveLength(2);
});

test('a change sends only the given fields, and "none" clears one', { tags: ['B1'] }, async () => {
  const { dataDir, received } = await startFakeDaemon(PEOPLE);
  await run(['users', 'set', 'alice', '--team', 'none', '--department', ''], { dataDir });
  await run(['users', 'enable', 'alice'], { dataDir });
  expect(received.map(({ body }) => body)).toEqual([{ team: null, department: '' }, { disabled: false }]);
});

test('teams are created and changed by name, with and without a budget', { tags: ['K5-people'] }, async () => {
  const { dataDir, received } = await startFakeDaemon({
    'POST /api/v1/teams': ({ body }) => body,
    'PATCH /api/v1/teams/R%2FD': ({ body }) => body,
    'GET /api/v1/teams': () => ({ items: [], total: 0 }),
  });
  await run(['teams', 'create', 'R/D', '--budget', '99.50'], { dataDir });
  await run(['teams', 'set', 'R/D', '--budget', 'none', '--name', 'Lab'], { dataDir });
  expect(received.map(({ body }) => body)).toEqual([
    { name: 'R/D', budget_amount_usd: 99.5 },
    { name: 'Lab', budget_amount_usd: null },
  ]);
  expect(await run(['teams', 'list'], { dataDir })).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('a new key is sent with its seconds and its secret is shown', { tags: ['K5-people'] }, async () => {
  const { dataDir, received } = await startFakeDaemon(KEYS);
  const args = 'keys create --user alice --scope global --name laptop --model auto --target free --expires 30d'.split(
    ' ',
  );
  const { stdout } = await run(args, { dataDir });
  expect(received[0]?.body).toEqual({
    user: 'alice',
    scope: 'global',
    name: 'laptop',
    model: 'auto',
    target: 'free',
    expires_in_seconds: 2_592_000,
  });
  expect(stdout).toMatch(/^key\terrand_ab12cd34_secret\n/);
});

test.each([
  [
    '--browser --mcp files,2 --skills none --plugins default',
    { browser_enabled: true, mcp_server_ids: ['files', 2], skill_ids: [], plugin_ids: null },
  ],
  ['--no-browser --subagents office:typist', { browser_enabled: false, subagent_ids: ['office:typist'] }],
  [`--connections ${USER.user_id}`, { connector_connection_ids: [USER.user_id] }],
])('what agents of a key may use is sent as it was given: %s', async (options, capability_config) => {
  const { dataDir, received } = await startFakeDaemon(KEYS);
  const set = await run(['keys', 'set', 'ab12cd34', ...options.split(' ')], { dataDir });
  expect(set).toMatchObject({ code: 0, stdout: expect.stringContaining('mcp_servers\tfiles\n') as string });
  await run(['keys', 'create', '--user', 'alice', '--scope', 'global', ...options.split(' ')], { dataDir });
  const bodies = received.filter(({ method }) => method !== 'GET').map(({ body }) => body);
  expect(bodies).toEqual([{ capability_config }, { user: 'alice', scope: 'global', capability_config }]);
});

test.each([
  [[], 'There is nothing to change'],
  [['--mcp', 'a,,b'], 'names separated by commas'],
  [['--connections', 'crm'], 'It must be an id, or at least its first 4 characters'],
])('keys set %j changes nothing and says why', async (options, why) => {
  const { dataDir, received } = await startFakeDaemon(KEYS);
  const { code, stderr } = await run(['keys', 'set', 'ab12cd34', ...options], { dataDir });
  expect({ code, asked: received.length }).toEqual({ code: 2, asked: 0 });
  expect(stderr).toContain(why);
});

test('keys are listed for one user', async () => {
  const { dataDir } = await startFakeDaemon(KEYS);
  const { stdout } = await run(['keys', 'list', '--user', 'alice doe', '-o', 'json'], { dataDir });
  expect(JSON.parse(stdout)).toEqual({ items: [KEY], total: 1 });
});

test('a key is found by its name; an ambiguous or unknown name is reported', { tags: ['K5-people'] }, async () => {
  const { dataDir, received } = await startFakeDaemon(KEYS);
  expect(await run(['keys', 'revoke', 'laptop', '--yes'], { dataDir })).toMatchObject({ code: 0 });
  expect(received.at(-1)).toMatchObject({ method: 'DELETE', path: '/api/v1/keys/ab12cd34' });
  const ambiguous = await run(['keys', 'show', 'twin'], { dataDir });
  expect(ambiguous).toMatchObject({ code: 6, stderr: expect.stringContaining('a, b') as string });
  expect(await run(['keys', 'show', 'nobody'], { dataDir })).toMatchObject({ code: 5 });
});

test.each([
  ['y\n', 0, 1],
  ['YES\n', 0, 1],
  ['\n', 1, 0],
  ['no\n', 1, 0],
  ['', 1, 0],
])('at a terminal revoking asks, and %j ends with %i', async (answer, code, revoked) => {
  const { dataDir, received } = await startFakeDaemon(KEYS);
  const ended = await run(['keys', 'revoke', 'ab12cd34'], {
    dataDir,
    stdin: answer,
    terminal: { stdin: true, stderr: true },
  });
  expect(ended.code).toBe(code);
  expect(ended.stderr).toContain('Revoke key ab12cd34 (laptop) of alice? [y/N] ');
  expect(received.filter(({ method }) => method === 'DELETE')).toHaveLength(revoked);
});

test('Ctrl-C at the question changes nothing', async () => {
  const { dataDir, received } = await startFakeDaemon(PEOPLE);
  const running = start(['users', 'disable', 'alice'], {
    dataDir,
    stdin: new PassThrough(),
    terminal: { stdin: true, stderr: true },
  });
  await running.until('Disable alice and all their keys? [y/N]');
  running.signal('SIGINT');
  expect(await running.code).toBe(130);
  expect(received.map(({ method }) => method)).toEqual(['GET']);
});

test('without a terminal and without --yes nothing is disabled, with --yes it is', { tags: ['K4'] }, async () => {
  const { dataDir, received } = await startFakeDaemon(PEOPLE);
  const refused = await run(['users', 'disable', 'alice'], { dataDir, stdin: 'y\n' });
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') as string });
  expect(received).toEqual([]);
  expect(await run(['--yes', 'users', 'disable', 'alice'], { dataDir })).toMatchObject({ code: 0 });
  expect(received.map(({ body }) => body)).toEqual([{ disabled: true }]);
});

test('over the socket no credential is sent, not even the key in the environment', async () => {
  const { dataDir, received } = await startFakeDaemon(PEOPLE);
  await run(['users', 'list'], { dataDir, environment: { ERRAND_API_KEY: 'errand_x' } });
  expect(received[0]?.headers.authorization).toBeUndefined();
});

test('over an address the token file is the credential, before the environment', { tags: ['K1-remote'] }, async () => {
  const { createServer } = await import('node:http');
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.url} ${request.headers.authorization}`);
    refuse(response, 401, 'No.');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const file = path.join(makeDirectory(), 'token');
  writeFileSync(file, 'errand_file\n');
  const environment = { ERRAND_API_KEY: 'errand_env', ERRAND_URL: `http://127.0.0.1:${port}/under/` };
  expect(await run(['status', '--token-file', file], { environment })).toMatchObject({ code: 4 });
  await run(['status'], { environment });
  server.close();
  expect(seen).toEqual(['/under/api/v1/status Bearer errand_file', '/under/api/v1/status Bearer errand_env']);
});

const SKILL = {
  id: 4,
  name: 'tides',
  description: 'About tides',
  file: 'skills/tides/SKILL.md',
  plugin: null,
  license: null,
  compatibility: null,
  metadata: { author: 'mara' },
  allowed_tools: ['shell'],
  enabled_by_default: true,
};
const PROBLEM = {
  file: 'skills/x/SKILL.md',
  line: 2,
  column: 7,
  message: 'name: must match the name of its folder, x',
};

test('what the config directory defines is listed with its ids, and shown by name or id', async () => {
  const { dataDir, received } = await startFakeDaemon({
    'GET /api/v1/skills': () => ({ items: [SKILL], total: 1 }),
    'GET /api/v1/skills/4': () => SKILL,
    'GET /api/v1/expert-teams': () => ({
      items: [{ id: null, name: 'crew', description: 'A ship', file: 'f', lead: 'ann', members: ['bo', 'cy'] }],
      total: 1,
    }),
    'GET /api/v1/experts/office%3Atypist': () => ({ id: 7, name: 'office:typist', skills: ['a', 'b'] }),
  });
  const list = await run(['skills', 'list'], { dataDir });
  expect(list.stdout).toBe('4\ttides\ttrue\tskills/tides/SKILL.md\tAbout tides\n');
  expect((await run(['skills', 'show', '4'], { dataDir })).stdout).toContain('metadata\tauthor=mara\n');
  const teams = await run(['expert-teams', 'list'], { dataDir });
  expect(teams.stdout).toBe('crew\tann\tbo, cy\tf\tA ship\n');
  expect((await run(['experts', 'show', 'office:typist'], { dataDir })).stdout).toContain('skills\ta, b\n');
  expect(received).toHaveLength(4);
});

test('a check reports every problem with its place and ends with 8; without problems, it ends with 0', async () => {
  let problems: object[] = [PROBLEM];
  const check = () => ({ ok: problems.length === 0, problems });
  const { dataDir } = await startFakeDaemon({ 'POST /api/v1/definitions/skills/check': check });
  expect(await run(['skills', 'check'], { dataDir })).toMatchObject({
    code: 8,
    stdout: 'skills/x/SKILL.md:2:7 name: must match the name of its folder, x\n',
    stderr: '',
  });
  const json = await run(['skills', 'check', '-o', 'json'], { dataDir });
  expect(JSON.parse(json.stdout)).toEqual({ ok: false, problems: [PROBLEM] });
  problems = [];
  expect(await run(['skills', 'check'], { dataDir })).toMatchObject({ code: 0, stdout: 'The files are valid.\n' });
});
