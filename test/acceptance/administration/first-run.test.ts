// A new installation's first hour: started on nothing, tried by pasting, administered, configured while it runs.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Connection from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { filesBelow, rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const BINARY = join(ROOT, 'bin/errand');
const run = promisify(execFile);

/** A command's exit code with what it printed, also when it fails. */
async function tried(args: readonly string[], env: Record<string, string> = {}) {
  return runErrand(args, { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      stdout: error.stdout,
      stderr: error.stderr,
    }),
  );
}

describe('on an empty directory', () => {
  let directory: string;
  /** Files that only the daemon's owner can access. */
  let kept = '';
  /** What a program that reads the daemon's output sees. */
  let output = '';
  let stop: () => Promise<number | null>;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'errand first run '));
    const args = ['serve', '--data-dir', join(directory, 'data'), '--listen', '127.0.0.1:0'];
    const own = Object.entries(process.env).filter(([name]) => !/^(ERRAND_|NODE_OPTIONS$|VITEST)/.test(name));
    const child = spawn(BINARY, args, {
      cwd: directory,
      env: Object.fromEntries(own),
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    stop = async () => {
      child.kill('SIGTERM');
      const [code] = (await once(child, 'exit')) as [number | null];
      return code;
    };
    await waitFor(() => output.includes('chat --stream'));
    kept = readFileSync(join(directory, 'data/first-credentials'), 'utf8');
  });
  afterAll(async () => {
    await stop();
    rmSync(directory, { recursive: true, force: true });
  });

  /** The command that starts with a word, as a reader would mark and paste it. */
  function pasted(start: string): string {
    const lines = output.split('\n');
    const first = lines.findIndex((line) => line.trim().startsWith(start));
    const last = lines.findIndex((line, at) => at >= first && !line.endsWith('\\'));
    return lines.slice(first, last + 1).join('\n');
  }

  const keyOf = (): string => /API key\s+(errand_\S+)/.exec(kept)?.[1] ?? '';

  test('the first start prints who the administrator is, once and only for them', { tags: ['K5-init'] }, () => {
    expect(kept).toMatch(/Administrator\s+admin\n\s+Password\s+\S{12,}\n\s+API key\s+errand_\w{8}_\S{43}\n/);
    const data = join(directory, 'data');
    expect(statSync(data).mode & 0o777).toBe(0o700);
    const isPrivate = ['master.key', 'first-credentials', 'errand.db', 'errand.db-wal', 'errand.db-shm', 'errand.lock'];
    for (const name of isPrivate) expect(statSync(join(data, name)).mode & 0o777, name).toBe(0o600);
    expect(statSync(join(data, 'errand.sock')).mode & 0o777).toBe(0o660);
    expect(output).not.toContain(keyOf());
    for (const name of filesBelow(data).filter((file) => !/\.sock$|first-credentials$/.test(file))) {
      expect(readFileSync(join(data, name)).includes(keyOf().slice(-43)), name).toBe(false);
    }
  });

  test('the curl line works when it is pasted', async () => {
    const { stdout } = await run('bash', ['-c', `${pasted('export')}\n${pasted('curl')}`], { cwd: directory });
    expect(JSON.parse(stdout)).toMatchObject({ type: 'message', stop_reason: 'end_turn', model: 'errand' });
    expect(filesBelow(join(directory, 'data/workspaces'))).toEqual([expect.stringMatching(/\/notes\.md$/)]);
  });

  test('the chat line works when it is pasted', async () => {
    // `errand` is called as the user can call it: here by its path.
    const { stdout } = await run('bash', ['-c', `${pasted('export')}\n${pasted(BINARY)}`], { cwd: directory });
    expect(stdout).toContain('I wrote `notes.md`');
  });

  test('a chat leaves the file that was asked for, with that text', async () => {
    const before = readdirSync(join(directory, 'data/workspaces'));
    const { stdout, stderr } = await runErrand(
      ['chat', '--data-dir', join(directory, 'data'), 'write notes.md: three lines about tides'],
      { env: { ERRAND_API_KEY: keyOf() } },
    );
    expect(stdout).toContain('offline engine');
    const [fresh] = readdirSync(join(directory, 'data/workspaces')).filter((name) => !before.includes(name));
    expect(readFileSync(join(directory, 'data/workspaces', fresh ?? '', 'notes.md'), 'utf8')).toBe(
      'three lines about tides\n',
    );
    expect(stderr).toContain(fresh);
  });

  test('a second init refuses, and the first data stays', { tags: ['K5-init'] }, async () => {
    const again = await tried(['init', '--data-dir', join(directory, 'data')]);
    expect(again.code).toBe(6);
    expect(again.stderr).toMatch(/pid \d+/);
  });
});

describe('with models and people', () => {
  let model: ModelServer;
  let daemon: DaemonProcess;

  beforeAll(async () => {
    model = await startModelServer();
    daemon = await startDaemonProcess({ modelsYaml: modelsYaml('small') });
  });
  afterAll(async () => {
    await daemon.close();
    await model.close();
  });

  /** Two models with prices; `more` are lines of further ones. */
  function modelsYaml(general: string, more = ''): string {
    return `
endpoints: { here: { kind: openai, base_url: "${model.url}/v1" } }
models:
  small: { endpoint: here, model: small-1, price: { input_per_million_usd: 2, output_per_million_usd: 10 } }
  large: { endpoint: here, model: large-1 }
${more}
scenarios:
  general: { model: ${general} }
  careful: { model: large }
default_scenario: general
`;
  }

  /** Runs a command against the daemon's own socket and answers its document. */
  async function runJson(...args: string[]): Promise<Record<string, unknown>> {
    const { stdout } = await runErrand([...args, '--data-dir', daemon.dataDir, '-o', 'json']);
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  async function keyFor(user: string, ...more: string[]): Promise<{ key: string; id: string }> {
    const made = await runJson('keys', 'create', '--user', user, '--scope', 'conversation', ...more);
    return made as { key: string; id: string };
  }

  const turn = (apiKey: string, content = '[[text=ok]]') => takeTurn({ url: daemon.url, apiKey }, { content });

  /** The model that a run with this key is answered by. */
  async function modelBehind(apiKey: string): Promise<unknown> {
    const { status, error } = await turn(apiKey);
    expect(status, error?.message).toBe(200);
    return model.requests.at(-1)?.body.model;
  }

  const list = (apiKey: string, path = '/openapi/v1/models') =>
    fetch(daemon.url + path, { headers: { authorization: `Bearer ${apiKey}` } });

  test('status shows the daemon, its models and its parts', async () => {
    const status = await runJson('status');
    expect(status).toMatchObject({
      pid: daemon.pid(),
      ready: true,
      data_dir: daemon.dataDir,
      runs: { queued: 0, running: 0, waiting: 0, finalizing: 0 },
      models: [
        { name: 'small', endpoint: 'here', kind: 'openai', default: true },
        { name: 'large', endpoint: 'here', kind: 'openai', default: false },
      ],
    });
    const people = await runErrand(['status', '--data-dir', daemon.dataDir]);
    expect(people.stdout).toContain('small');
  });

  test('teams and users are made, shown, changed and listed through the socket', { tags: ['B1'] }, async () => {
    const team = await runJson('teams', 'create', 'harbour', '--budget', '12.5');
    expect(team).toMatchObject({ name: 'harbour', budget_amount_usd: 12.5 });
    const made = await runJson('users', 'create', 'mira', '--full-name', 'Mira Meer', '--team', 'harbour');
    expect(made).toMatchObject({ username: 'mira', role: 'user', team: 'harbour', disabled: false });
    expect(made['password']).toMatch(/^\S{12,}$/);
    expect(await runJson('users', 'set', 'mira', '--department', 'Pilots')).toMatchObject({ department: 'Pilots' });
    const shown = await runJson('users', 'show', String(made['user_id']));
    expect(shown).toMatchObject({ username: 'mira', full_name: 'Mira Meer', department: 'Pilots' });
    expect(shown).not.toHaveProperty('password');
    const listed = (await runJson('users', 'list')) as { items: { username: string }[]; total: number };
    expect(listed.items.map(({ username }) => username)).toEqual(['admin', 'mira']);
    const twice = await tried(['users', 'create', 'mira', '--data-dir', daemon.dataDir]);
    expect(twice.code).toBe(6);
    expect((await tried(['users', 'show', 'nobody', '--data-dir', daemon.dataDir])).code).toBe(5);
  });

  test('scopes open what they should: every key talks to the agent, only an administrator administers', {
    tags: ['§5-rule-1', 'B3'],
  }, async () => {
    await runJson('users', 'create', 'scopes-user');
    const keyOf = async (user: string, scope: string) =>
      String((await runJson('keys', 'create', '--user', user, '--scope', scope))['key']);
    const table = [
      { user: 'scopes-user', scope: 'conversation', administers: 403 },
      { user: 'scopes-user', scope: 'global', administers: 403 },
      { user: 'admin', scope: 'conversation', administers: 403 },
      { user: 'admin', scope: 'global', administers: 403 },
      { user: 'admin', scope: 'admin', administers: 200 },
    ];
    for (const { user, scope, administers } of table) {
      const apiKey = await keyOf(user, scope);
      expect((await list(apiKey)).status, `${user} ${scope}`).toBe(200);
      expect((await list(apiKey, '/api/v1/users')).status, `${user} ${scope}`).toBe(administers);
    }
  });

  test("an administrator's key administers only as long as its owner is an administrator", {
    tags: ['§5-rule-2', 'B3'],
  }, async () => {
    await runJson('users', 'create', 'passing', '--role', 'admin');
    const { key } = (await runJson('keys', 'create', '--user', 'passing', '--scope', 'admin')) as { key: string };
    expect((await list(key, '/api/v1/users')).status).toBe(200);
    await runJson('users', 'set', 'passing', '--role', 'user');
    expect((await list(key, '/api/v1/users')).status).toBe(403);
  });

  test('a revoked key, an expired key and a key of a disabled user are refused', async () => {
    await runJson('users', 'create', 'leaving');
    const revoked = await keyFor('leaving');
    const expiring = await keyFor('leaving', '--expires', '1h');
    const standing = await keyFor('leaving');
    for (const { key } of [revoked, expiring, standing]) expect((await list(key)).status).toBe(200);

    await runJson('keys', 'revoke', revoked.id, '--yes');
    expect(await turn(revoked.key)).toMatchObject({ status: 401, error: { type: 'authentication_error' } });
    // Instead of waiting for an hour, the key is made an hour older.
    const database = new Connection(join(daemon.dataDir, 'errand.db'));
    database.prepare('UPDATE api_keys SET expires_at = expires_at - 3600000 WHERE id = ?').run(expiring.id);
    database.close();
    expect((await list(expiring.key)).status).toBe(401);

    await runJson('users', 'disable', 'leaving', '--yes');
    expect(await turn(standing.key)).toMatchObject({ status: 403, error: { type: 'permission_error' } });
    await runJson('users', 'enable', 'leaving');
    expect((await turn(standing.key)).status).toBe(200);
    expect(await turn(revoked.key)).toMatchObject({ status: 401 });
  });

  test("a key's own model stays; automatic follows the owner's scenario, else the default one", {
    tags: ['§1-model', '§5-rule-1'],
  }, async () => {
    await runJson('users', 'create', 'choosy');
    const fixed = await keyFor('choosy', '--model', 'large');
    const automatic = await keyFor('choosy');
    expect(await modelBehind(automatic.key)).toBe('small-1');
    expect(await modelBehind(fixed.key)).toBe('large-1');
    await runJson('users', 'set', 'choosy', '--scenario', 'careful');
    expect(await modelBehind(automatic.key)).toBe('large-1');
    expect(await (await list(automatic.key)).json()).toMatchObject({ data: [{ id: 'large' }] });
    const unknown = await tried([
      'keys',
      'create',
      '--user',
      'choosy',
      '--scope',
      'global',
      '--model',
      'huge',
      '--data-dir',
      daemon.dataDir,
    ]);
    expect(unknown.code).not.toBe(0);
    expect(unknown.stderr).toContain('small, large');
  });

  test('a run costs what its tokens cost at the prices of its model', async () => {
    const { runId } = await turn(daemon.apiKey, '[[text=ok]] [[tools=1]] [[input=100000 output=2000]]');
    const sql = 'SELECT cost_usd, input_tokens, output_tokens FROM runs WHERE id = ?';
    // Two steps, each 0.1 million at 2 dollars and 0.002 million at 10.
    expect(rowsOf(daemon, sql, runId ?? '')).toEqual([
      { cost_usd: expect.closeTo(0.44, 9), input_tokens: 200_000, output_tokens: 4_000 },
    ]);
  });

  test('models.yaml is applied while the daemon runs; a broken one changes nothing and is reported', async () => {
    const file = join(daemon.configDir, 'models.yaml');
    const stateOf = async () => {
      const { parts } = (await runJson('status')) as {
        parts: { name: string; state: string; detail: string | null }[];
      };
      return parts.find(({ name }) => name === 'configuration');
    };
    writeFileSync(file, modelsYaml('newest', '  newest: { endpoint: here, model: newest-1 }'));
    await waitFor(async () => JSON.stringify((await runJson('status'))['models']).includes('newest'));
    expect(await modelBehind(daemon.apiKey)).toBe('newest-1');

    writeFileSync(file, modelsYaml('missing'));
    // The file may have been read while it was written.
    const degraded = await waitFor(async () => {
      const state = await stateOf();
      return state?.detail?.includes('missing') === true && state;
    });
    expect(degraded).toMatchObject({
      state: 'degraded',
      detail: expect.stringMatching(/models\.yaml:\d+:\d+ .*missing/),
    });
    expect(await modelBehind(daemon.apiKey)).toBe('newest-1');
    const check = await tried(['status', '--check', '--data-dir', daemon.dataDir]);
    expect(check.code).toBe(8);

    writeFileSync(file, modelsYaml('small'));
    await waitFor(async () => (await stateOf())?.state === 'ok');
    expect(await modelBehind(daemon.apiKey)).toBe('small-1');
  });

  test('a model that the catalog has lost fails the run with a message, and the next run continues', async () => {
    const { key } = await keyFor('admin', '--model', 'large');
    const file = join(daemon.configDir, 'models.yaml');
    const whole = readFileSync(file, 'utf8');
    writeFileSync(file, whole.replace(/^ {2}large:.*\n/m, '').replace('{ model: large }', '{ model: small }'));
    await waitFor(async () => !JSON.stringify((await runJson('status'))['models']).includes('large'));
    expect(await turn(key)).toMatchObject({
      status: 500,
      error: { type: 'api_error', message: 'The model configuration "large" does not exist.' },
    });
    expect((await turn(daemon.apiKey)).status).toBe(200);
  });

  test('a chat continues its session through the command line', async () => {
    const env = { ERRAND_API_KEY: daemon.apiKey };
    const { stdout } = await runErrand(['chat', 'first [[text=one]]', '-o', 'json', '--data-dir', daemon.dataDir], {
      env,
    });
    const { session_id: session } = JSON.parse(stdout) as { session_id: string };
    const next = await runErrand(
      ['chat', 'second [[text=two]]', '--stream', '--session', session, '--data-dir', daemon.dataDir],
      { env },
    );
    expect(next.stdout).toBe('two\n');
    expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain('first');
  });

  test('an administrator reaches the daemon over TCP with a key in a file, and a refusal has its exit code', {
    tags: ['K1-remote'],
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'errand-tokens-'));
    mkdirSync(folder, { recursive: true });
    const token = join(folder, 'token');
    writeFileSync(token, `${daemon.apiKey}\n`);
    const good = await tried(['users', 'list', '--url', daemon.url, '--token-file', token]);
    expect(good).toMatchObject({ code: 0 });
    const { key } = await keyFor('admin');
    writeFileSync(token, key);
    expect(await tried(['users', 'list', '--url', daemon.url, '--token-file', token])).toMatchObject({ code: 4 });
    rmSync(folder, { recursive: true });
  });
});
