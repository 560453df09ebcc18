// Every way to end has its exit code.
import { chmodSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeDirectory, refuse, run, start, startFakeDaemon } from '../outside.ts';

test.each([
  [400, 2],
  [401, 4],
  [403, 4],
  [404, 5],
  [409, 6],
  [422, 2],
  [429, 1],
  [500, 1],
  [504, 7],
])('a refusal with status %i ends with %i and the words of the daemon', { tags: ['K3'] }, async (status, code) => {
  const { dataDir } = await startFakeDaemon({
    'GET /api/v1/teams': (_, response) => refuse(response, status, 'No, for a reason.'),
  });
  const ended = await run(['teams', 'list'], { dataDir });
  expect(ended).toMatchObject({ code, stdout: '' });
  expect(ended.stderr).toContain('errand: No, for a reason.');
  expect(ended.stderr.includes('req-1')).toBe(code === 1);
});

test('without a daemon, a command ends with 3 and says how to start one', { tags: ['K3'] }, async () => {
  const ended = await run(['status'], { dataDir: makeDirectory() });
  expect(ended).toMatchObject({ code: 3, stdout: '' });
  expect(ended.stderr).toMatch(/not reachable at .*errand\.sock: there is no such socket.*\n.*errand serve/);
});

test('a socket that one may not open ends with 4', { skip: process.getuid?.() === 0, tags: ['K3'] }, async () => {
  const { dataDir } = await startFakeDaemon({});
  chmodSync(path.join(dataDir, 'errand.sock'), 0);
  expect(await run(['status'], { dataDir })).toMatchObject({ code: 4 });
});

test('a connection that breaks ends with 3', async () => {
  const { dataDir } = await startFakeDaemon({ 'GET /api/v1/status': (_, response) => void response.destroy() });
  expect(await run(['status'], { dataDir })).toMatchObject({ code: 3, stdout: '' });
});

test('an answer that is not the daemon ends with 1', async () => {
  const { dataDir } = await startFakeDaemon({ 'GET /api/v1/status': (_, response) => void response.end('<html>') });
  const ended = await run(['status'], { dataDir });
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toContain('not an Errand daemon');
});

test.each([
  [['usres', 'list'], "unknown command 'usres'\n(Did you mean users?)"],
  [['users', 'lst'], "unknown command 'lst'\n(Did you mean list?)"],
  [['keys', 'create', '--scope', 'global'], "required option '--user <user>' not specified"],
  [['keys', 'create', '--user', 'a', '--scope', 'all'], 'Allowed choices are conversation, global, admin'],
  [
    ['keys', 'create', '--user', 'a', '--scope', 'global', '--expires', '5w'],
    'It must be a duration such as 1s, 15m, 12h or 30d.',
  ],
  [['teams', 'create', 'x', '--budget', '-1'], 'It must be an amount'],
  [['users', 'set', 'alice'], 'Give at least one field to change.'],
  [['budgets', 'set', '--usd', '5'], 'Give one of --key, --user, --team and --run-default.'],
  [['budgets', 'set', '--team', 'a', '--user', 'b', '--usd', '5'], 'Give only one of --key, --user, --team'],
  [['budgets', 'set', '--team', 'a', '--usd', '5', '--tokens', '5'], 'Give one of --usd and --tokens.'],
  [['budgets', 'set', '--team', 'a', '--usd', '5', '--per', 'year'], 'Allowed choices are day, month, all'],
  [['users', 'show'], "missing required argument 'user'"],
  [['status', '-o', 'xml'], 'Allowed choices are table, json'],
  [['status', '--url', 'ftp://x'], '--url must be an http or https address'],
  [['status', '--url', 'http://x', '--token-file', '/nowhere/token'], '--token-file cannot be read'],
  [['chat', 'Hello'], 'ERRAND_API_KEY must contain an API key.'],
])('%j ends with 2 before anything is sent', { tags: ['K3'] }, async (args, words) => {
  const ended = await run(args, { dataDir: makeDirectory() });
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toContain(words);
});

test('a noun without a verb ends with 2 and shows its verbs', async () => {
  const ended = await run(['users']);
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toContain('passwd [options] <user>');
});

test.each([[['--version']], [['--help']], [['users', 'create', '--help']], [['help', 'keys']]])(
  '%j goes to stdout and ends with 0',
  async (args) => {
    const ended = await run(args);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).not.toBe('');
  },
);

test('a pasted control sequence in an error is not passed on', async () => {
  const ended = await run(['users', 'show', '\u001b[2Jx'], { dataDir: makeDirectory(), terminal: { stderr: true } });
  expect(ended.stderr.replaceAll('\u001b[31m', '').replaceAll('\u001b[39m', '')).not.toContain('\u001b');
});

test('Ctrl-C while the daemon is asked ends with 130, SIGTERM with 143', { tags: ['K3'] }, async () => {
  const { start } = await import('../outside.ts');
  for (const [name, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const arrived = Promise.withResolvers<void>();
    const { dataDir } = await startFakeDaemon({ 'GET /api/v1/status': () => arrived.resolve() });
    const running = start(['status'], { dataDir });
    await arrived.promise;
    running.signal(name);
    expect(await running.code).toBe(code);
    expect(running.stdout()).toBe('');
  }
});

const STATUS = {
  version: '1.0.0',
  node_version: 'v24.0.0',
  pid: 7,
  started_at: '2026-01-01T00:00:00Z',
  uptime_seconds: 3700,
  ready: false,
  listen: '127.0.0.1:8484',
  public_url: 'http://127.0.0.1:8484',
  data_dir: '/d',
  config_dir: '/c',
  parts: [
    { name: 'store', state: 'ok', detail: null },
    { name: 'workers', state: 'degraded', detail: 'one thread is gone' },
  ],
  runs: { queued: 1, running: 2, waiting: 0, finalizing: 0 },
  workers: { threads: 2, slots: 8, busy: 2 },
  node: { id: '0198c0de-0000-7000-8000-000000000001', name: 'tide' },
  nodes: [{ id: '0198c0de-0000-7000-8000-000000000001', name: 'tide', state: 'online', capacity: 8, online: true }],
  webhooks: { failing: 0, disabled: 0, troubled: [] },
  models: [{ name: 'offline', endpoint: 'offline', kind: 'offline', default: true }],
};

test('with --check a daemon that is not well ends with 8, without it with 0 and a line', async () => {
  const { dataDir } = await startFakeDaemon({
    'GET /api/v1/status': () => STATUS,
  });
  const checked = await run(['status', '--check'], { dataDir });
  expect(checked).toMatchObject({ code: 8 });
  expect(checked.stderr).toContain('errand: The daemon has problems: workers degraded.');
  const plain = await run(['status'], { dataDir });
  expect(plain).toMatchObject({ code: 0, stderr: 'The daemon has problems: workers degraded.\n' });
  expect(plain.stdout).toContain('process\t7, up 1h 1m\n');
  expect(plain.stdout).toContain('part_workers\tdegraded: one thread is gone\n');
  expect(plain.stdout).toContain('model_offline\toffline at offline (default)\n');
});

test('status --wait returns when the daemon is ready', async () => {
  let asked = 0;
  const { dataDir } = await startFakeDaemon({
    'GET /api/v1/status': () => {
      asked += 1;
      return { ...STATUS, ready: asked > 2, parts: [{ name: 'daemon', state: 'failed', detail: 'shutting down' }] };
    },
  });
  const patient = ['status', '--wait', '--timeout', '90d', '-o', 'json'];
  expect(await run(patient, { dataDir })).toMatchObject({ code: 0 });
  expect(asked).toBe(3);
});

test('status --wait waits for a daemon that is not running yet, and ends with 7 when it takes too long', async () => {
  const dataDir = makeDirectory();
  const over = await run(['status', '--wait', '--timeout', '1s'], { dataDir });
  expect(over).toMatchObject({ code: 7, stdout: '' });
  expect(over.stderr).toMatch(
    /^errand: The daemon was not ready within 1s: The daemon is not reachable at .*no such socket/,
  );

  const running = start(['status', '--wait'], { dataDir });
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ code: 0, message: 'ok', data: { ...STATUS, ready: true } }));
  }).listen(`${dataDir}/errand.sock`);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  expect(await running.code).toBe(0);
});

test('status --wait gives up at once when waiting cannot help', async () => {
  const { dataDir } = await startFakeDaemon({
    'GET /api/v1/status': (_, response) => refuse(response, 403, 'The user is disabled.'),
  });
  expect(await run(['status', '--wait'], { dataDir })).toMatchObject({ code: 4 });
});

test('the hint about a missing daemon names the same daemon', async () => {
  const dataDir = makeDirectory();
  const { stderr } = await run(['users', 'list', '--data-dir', dataDir]);
  expect(stderr).toContain(`Start it with: errand --data-dir ${dataDir} serve.`);
});
