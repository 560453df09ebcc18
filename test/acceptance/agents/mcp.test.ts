// MCP servers and checks in the real daemon: a run that uses one, and what is left when the run, its thread or the daemon dies.
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createHash, randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { probeSandbox } from '../../../src/agent/sandbox/sandbox.ts';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { openTurn, takeTurn } from '../../support/daemon/turn.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const LIMITS = { timeoutMs: 120_000, maxOutputBytes: 65_536, memoryBytes: 512 * 1_048_576, maxProcesses: 64 };
const probe = await probeSandbox({ path: '/usr/local/bin:/usr/bin:/bin', privateFolders: [], ...LIMITS });
if (!probe.ok) console.warn(`\n*** SKIPPED: every test of MCP servers in the daemon. ${probe.why} ***\n`);

const root = fileURLToPath(new URL('../../../', import.meta.url));
const node = realpathSync(process.execPath);
const word = randomUUID();
const faults = mkdtempSync(join(tmpdir(), 'errand-faults-'));
const preload = join(root, 'test/support/daemon/worker-fault.mjs');

let model: ModelServer;
let daemon: DaemonProcess;

beforeAll(async () => {
  if (!probe.ok) return;
  model = await startModelServer();
  daemon = await startDaemonProcess({
    modelServerUrl: model.url,
    errandYaml: 'workers: { threads: 1 }\n',
    env: { NODE_OPTIONS: `--import=${preload}`, TEST_WORKER_FAULTS: faults },
  });
  const folders = [root, realpathSync(join(root, 'node_modules')), dirname(node)];
  const server = (script: string, more: object = {}) => ({
    command: node,
    args: [join(root, 'test/support/mcp', script), word],
    folders,
    ...more,
  });
  writeFileSync(join(daemon.configDir, 'token'), 'of-the-test\n', { mode: 0o600 });
  const servers = {
    files: server('mcp-server.mjs', { enabled_by_default: true, env_files: { TOKEN: 'token' } }),
    absent: { command: '/opt/nothing/here' },
    careless: { ...server('mcp-rogue.mjs'), args: [join(root, 'test/support/mcp/mcp-rogue.mjs'), 'sloppy', word] },
  };
  // JSON is YAML.
  writeFileSync(join(daemon.configDir, 'mcp-servers.yaml'), JSON.stringify({ servers }));
  await daemon.restart();
});
afterAll(async () => {
  await daemon?.close();
  await model?.close();
  rmSync(faults, { recursive: true, force: true });
});

const target = () => ({ url: daemon.url, apiKey: daemon.apiKey });

function servers(): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(word);
    } catch {
      return false;
    }
  });
}

const gone = () => waitFor(() => servers().length === 0, { what: 'no MCP server is left' });
const cli = async (...args: string[]) => {
  try {
    const { stdout } = await runErrand([...args, '--data-dir', daemon.dataDir, '-o', 'json']);
    return { code: 0, body: JSON.parse(stdout) as Record<string, unknown> };
  } catch (error) {
    const { code, stdout } = error as { code: number; stdout: string };
    return { code, body: JSON.parse(stdout === '' ? '{}' : stdout) as Record<string, unknown> };
  }
};

/** Begins a turn whose tool call never ends by itself, and answers its session. */
async function beginWaiting(): Promise<string> {
  model.script(({ step }) =>
    step === 0 ? { tools: [{ name: 'mcp__files__wait', input: { path: '/workspace/state' } }] } : { text: 'done' },
  );
  const from = model.requests.length;
  const response = await openTurn(target(), { stream: true, content: 'Wait.' });
  void response.text().catch(() => undefined);
  await model.waitForRequest(from + 1);
  await waitFor(() => servers().length > 0);
  return response.headers.get('x-session-id')!;
}

describe.skipIf(!probe.ok)('an MCP server', () => {
  test('is started for a run, called, and gone after it', async () => {
    model.script(({ step, body }) => {
      if (step > 0) return { text: 'It is 5.' };
      expect(JSON.stringify(body['tools'])).toContain('mcp__files__add');
      return { tools: [{ name: 'mcp__files__add', input: { a: 2, b: 3 } }] };
    });
    const from = model.requests.length;
    const answer = await takeTurn(target(), { content: 'Add.' });
    expect(answer.text).toBe('It is 5.');
    const second = JSON.stringify(model.requests[from + 1]!.body.messages);
    expect(second).toContain('"5"');
    await gone();
  });

  test('has the secret of its file, and nothing of the daemon', async () => {
    const calls = [
      { name: 'mcp__files__environment', input: {} },
      { name: 'mcp__files__digest', input: { name: 'TOKEN' } },
    ];
    model.script(({ step }) => (step === 0 ? { tools: calls } : { text: 'ok' }));
    const from = model.requests.length;
    await takeTurn(target(), { content: 'Look.' });
    const second = JSON.stringify(model.requests[from + 1]!.body.messages);
    expect(second).toContain(createHash('sha256').update('of-the-test').digest('base64url').slice(0, 16));
    expect(second).toContain('[credential]');
    expect(second).not.toContain('of-the-test');
    expect(second).not.toContain('TEST_WORKER_FAULTS');
  });

  test('is gone when its run is stopped', async () => {
    const sessionId = await beginWaiting();
    await daemon.admin('POST', `/api/v1/sessions/${sessionId}/stop`);
    await gone();
  });

  test('is gone when its thread dies', async () => {
    await beginWaiting();
    model.script({ text: 'again' });
    // Any thread of the daemon may take the fault, so it is set again until the run's thread has it.
    const fault = join(faults, 'exit');
    const interrupted = () => {
      if (!existsSync(fault)) writeFileSync(fault, '');
      return daemon.stderr().includes('"why":"worker exited');
    };
    await waitFor(interrupted, { everyMs: 100 });
    rmSync(fault, { force: true });
    await gone();
  });

  test('is gone when the daemon is killed', async () => {
    await beginWaiting();
    model.script({ text: 'again' });
    await daemon.kill();
    await gone();
    await daemon.restart();
  });

  test('that lists its tools carelessly: a check, the status, the log and the agent name those that nobody can use', async () => {
    const why = 'its type is not object';
    const part = async () => {
      const { body } = await cli('status');
      return (body['parts'] as { name: string; detail: string }[]).find(({ name }) => name === 'tools')?.detail;
    };
    expect(await part()).toBeUndefined();
    const checked = await cli('mcp', 'check', 'careless');
    expect(checked.code).toBe(0);
    expect(checked.body['findings']).toContainEqual({
      check: 'tools',
      state: 'warning',
      detail: `The tool "list" is left out: ${why}.`,
    });
    expect(await part()).toContain(
      `the MCP server "careless" lists tools that can't be used: "list" (${why}), "words" (`,
    );
    expect(daemon.stderr()).toContain('an MCP server lists tools that cannot be used');
    expect(daemon.stderr().replaceAll('\\"', '"')).toContain(`"list" (${why})`);
    const key = await cli('keys', 'create', '--user', daemon.adminName, '--scope', 'conversation', '--mcp', 'careless');
    const from = model.requests.length;
    model.script(({ step }) =>
      step === 0 ? { tools: [{ name: 'mcp__careless__alternatives', input: { kind: 'id', id: 1 } }] } : { text: 'ok' },
    );
    await takeTurn({ url: daemon.url, apiKey: String(key.body['key']) }, { content: 'Look.' });
    const asked = JSON.stringify(model.requests[from]!.body);
    expect(asked.replaceAll('\\"', '"')).toContain(`Unusable tools of the MCP server "careless": "list" (${why})`);
    expect(asked).toContain('mcp__careless__no_schema');
    await gone();
  });

  test('can be checked from the command line', async () => {
    const good = await cli('mcp', 'check', 'files');
    expect(good).toMatchObject({ code: 0, body: { ok: true, name: 'files', server_name: 'test-server', stderr: '' } });
    const tools = good.body['tools'] as { name: string }[];
    expect(tools.map(({ name }) => name)).toContain('mcp__files__add');
    expect(await cli('mcp', 'check', 'absent')).toMatchObject({
      code: 8,
      body: { ok: false, findings: [{ check: 'start', state: 'failed' }], tools: [] },
    });
    expect((await cli('mcp', 'check', 'nothing')).code).toBe(5);
    await gone();
  });
});

describe.skipIf(!probe.ok)('a model', () => {
  test('can be listed and checked from the command line', async () => {
    expect((await cli('models', 'list')).body).toMatchObject({
      items: [{ name: 'scripted', default: true }],
      total: 1,
    });
    model.script(({ body }) =>
      body['tools'] === undefined
        ? { text: ['one', ' two'], usage: { input: 12_000, output: 5 } }
        : { tools: [{ name: 'add', input: { a: 17, b: 25 } }] },
    );
    expect(await cli('models', 'check', 'scripted', '--no-context')).toMatchObject({ code: 0, body: { ok: true } });
    model.script({ status: 401 });
    expect(await cli('models', 'check')).toMatchObject({ code: 8, body: { items: [{ ok: false }], total: 1 } });
    expect((await cli('models', 'check', 'nothing')).code).toBe(5);
  });
});
