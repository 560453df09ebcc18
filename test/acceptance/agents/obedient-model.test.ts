// A model that does whatever an injected instruction says: it reaches neither network, control socket, secrets nor other sessions.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import type { ScriptedCall } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';

const hasSandbox = existsSync('/usr/bin/bwrap');
const OTHERS_WORDS = 'the merger is on friday';
const ENDPOINT_KEY = 'sk-endpoint-key-of-the-administrator';

let models: ModelServer;
let daemon: DaemonProcess;
let lurking: Awaited<ReturnType<typeof startLurkingServer>>;
let othersSession: string;

/** A server on loopback that must never be reached. */
async function startLurkingServer() {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.end('inner page');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, seen, close: () => server.close() };
}

async function ask(text: string, sessionId?: string): Promise<{ sessionId: string; text: string }> {
  const response = await fetch(`${daemon.url}/openapi/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': daemon.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'errand',
      messages: [{ role: 'user', content: text }],
      ...(sessionId !== undefined && { metadata: { session_id: sessionId } }),
    }),
  });
  const body = (await response.json()) as { content: { text: string }[] };
  expect(response.status, JSON.stringify(body)).toBe(200);
  return { sessionId: response.headers.get('x-session-id')!, text: body.content.map(({ text }) => text).join('') };
}

beforeAll(async () => {
  models = await startModelServer();
  lurking = await startLurkingServer();
  const modelsYaml = [
    'endpoints:',
    `  scripted: { kind: openai, base_url: "${models.url}/v1", api_key_file: key.txt }`,
    'models:',
    '  scripted: { endpoint: scripted, model: scripted, context_window: 128000 }',
    'scenarios:',
    '  general: { model: scripted }',
    'default_scenario: general',
    '',
  ].join('\n');
  daemon = await startDaemonProcess({ modelsYaml: modelsYaml.replace('key.txt', await keyFile()) });
  models.enqueue(
    { tools: [{ name: 'write_file', input: { path: 'plan.txt', content: OTHERS_WORDS } }] },
    { text: 'Kept.' },
  );
  othersSession = (await ask('Note it.')).sessionId;
});

const closers: (() => Promise<void>)[] = [];

/** Beside the data directory, where the administrator may keep it. */
async function keyFile(): Promise<string> {
  const { mkdtemp, rm, writeFile } = await import('node:fs/promises');
  const { tmpdir } = await import('node:os');
  const directory = await mkdtemp(join(tmpdir(), 'errand-key-'));
  closers.push(() => rm(directory, { recursive: true }));
  const file = join(directory, 'endpoint.key');
  await writeFile(file, `${ENDPOINT_KEY}\n`, { mode: 0o600 });
  return file;
}

afterAll(async () => {
  await daemon.close();
  await models.close();
  lurking.close();
  for (const close of closers) await close();
});

/** Has the model make these calls one after another, and returns all prompts and results. */
async function obey(calls: readonly ScriptedCall[]): Promise<{ prompts: string; results: string[] }> {
  const from = models.requests.length;
  models.enqueue(...calls.map((call) => ({ tools: [call] })), { text: 'Done as told.' });
  await ask('Do what the page says.');
  const bodies = models.requests.slice(from).map(({ body }) => body);
  const results = (bodies.at(-1)!.messages ?? [])
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)));
  expect(results).toHaveLength(calls.length);
  return { prompts: JSON.stringify(bodies), results };
}

/** Secrets that must never be disclosed. */
function secrets(): string[] {
  const master = readFileSync(join(daemon.dataDir, 'master.key'));
  return [
    OTHERS_WORDS,
    ENDPOINT_KEY,
    daemon.apiKey,
    daemon.adminPassword,
    master.toString('base64'),
    master.toString('hex'),
  ];
}

function expectNoSecret(prompts: string): void {
  for (const secret of secrets()) expect(prompts).not.toContain(secret);
  expect(prompts).not.toContain('SQLite format 3');
}

describe('with the file tools', () => {
  test('no path leads out of the workspace', async () => {
    const paths = [
      '../../errand.db',
      '/../../master.key',
      `../${othersSession}/plan.txt`,
      `${daemon.dataDir}/master.key`,
      `${daemon.configDir}/models.yaml`,
      `${daemon.dataDir}/workspaces/${othersSession}/plan.txt`,
      '/proc/self/environ',
      '/etc/passwd',
      'file:///etc/passwd',
      '/workspace/../../errand.db',
    ];
    const { prompts, results } = await obey([
      ...paths.map((path) => ({ name: 'read_file', input: { path } })),
      { name: 'list_files', input: { path: '..' } },
      { name: 'search_files', input: { pattern: 'merger', path: '../' } },
      { name: 'write_file', input: { path: `../${othersSession}/plan.txt`, content: 'overwritten' } },
    ]);
    expectNoSecret(prompts);
    for (const result of results.slice(0, paths.length)) expect(result).toMatch(/not exist|out of|not a|cannot/i);
    const plan = join(daemon.dataDir, 'workspaces', othersSession, 'plan.txt');
    expect(readFileSync(plan, 'utf8')).toBe(OTHERS_WORDS);
  });
});

describe('with web_fetch', () => {
  test('nothing inside is reached, and no file is read', async () => {
    const { port } = lurking;
    const addresses = [
      `http://127.0.0.1:${port}/`,
      `http://localhost:${port}/`,
      `http://[::1]:${port}/`,
      `http://[::ffff:127.0.0.1]:${port}/`,
      `http://2130706433:${port}/`,
      `http://0x7f.1:${port}/`,
      `http://0:${port}/`,
      `${daemon.url}/openapi/v1/sessions`,
      'http://169.254.169.254/latest/meta-data/',
      'file:///etc/passwd',
      `unix:${daemon.socketPath}:/api/v1/status`,
    ];
    const { prompts, results } = await obey(addresses.map((url) => ({ name: 'web_fetch', input: { url } })));
    expect(lurking.seen).toEqual([]);
    expectNoSecret(prompts);
    for (const result of results) expect(result).not.toContain('inner page');
  });
});

describe.skipIf(!hasSandbox)(
  hasSandbox ? 'with the shell' : 'with the shell — SKIPPED: BUBBLEWRAP IS NOT INSTALLED',
  () => {
    test('no command reaches network, control socket, secrets, other sessions or the daemon itself', async () => {
      const { port } = lurking;
      const commands = [
        `cat ${daemon.dataDir}/master.key ${daemon.dataDir}/errand.db ${daemon.configDir}/models.yaml`,
        `cat ${daemon.dataDir}/workspaces/${othersSession}/plan.txt`,
        'find / -name plan.txt -not -path "/proc/*" 2>/dev/null | xargs -r cat; find / -name "*.key" 2>/dev/null | xargs -r cat',
        'cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr "\\0" " "',
        'ln -s / root; cat root/etc/shadow; ls root/root root/home',
        `(exec 3<>/dev/tcp/127.0.0.1/${port}; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3) 2>&1`,
        `ls -l ${daemon.socketPath} 2>&1; find / -type s 2>/dev/null`,
        'kill -9 -1; kill -9 1; echo survived',
        'mount -t tmpfs none /mnt; unshare -r true; echo tried',
      ];
      const { prompts } = await obey(commands.map((command) => ({ name: 'shell', input: { command } })));
      expect(lurking.seen).toEqual([]);
      expectNoSecret(prompts);
      expect(prompts).not.toContain(daemon.socketPath + '\n');
      expect((await fetch(`${daemon.url}/healthz`)).status).toBe(200);
    });

    test('a link that a command has left leads the file tools nowhere', async () => {
      const target = `${daemon.dataDir}/workspaces/${othersSession}`;
      const { prompts } = await obey([
        {
          name: 'shell',
          input: { command: `ln -s ${target} theirs; ln -s ${daemon.dataDir}/errand.db db; ln -s / all` },
        },
        { name: 'read_file', input: { path: 'theirs/plan.txt' } },
        { name: 'read_file', input: { path: 'db' } },
        { name: 'read_file', input: { path: 'all/etc/passwd' } },
        { name: 'search_files', input: { pattern: 'merger' } },
        { name: 'write_file', input: { path: 'theirs/plan.txt', content: 'overwritten' } },
        { name: 'edit_file', input: { path: 'theirs/plan.txt', old_text: 'friday', new_text: 'monday' } },
      ]);
      expectNoSecret(prompts);
      expect(prompts).not.toContain('root:x:0:0');
      expect(readFileSync(join(target, 'plan.txt'), 'utf8')).toBe(OTHERS_WORDS);
      expect(readdirSync(target)).toEqual(['plan.txt']);
    });
  },
);
