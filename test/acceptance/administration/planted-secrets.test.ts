// A secret in each place that a definition has for one, and peers that repeat everything: none of it comes back anywhere.
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { probeSandbox } from '../../../src/agent/sandbox/sandbox.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { BINARY } from '../../support/daemon/initialized.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { tarEntries } from '../../support/files/archives.ts';
import { type EchoingPeer, startEchoingPeer } from '../../support/mcp/echoing-peer.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const LIMITS = { timeoutMs: 120_000, maxOutputBytes: 65_536, memoryBytes: 512 * 1_048_576, maxProcesses: 64 };
const probe = await probeSandbox({ path: '/usr/local/bin:/usr/bin:/bin', privateFolders: [], ...LIMITS });
if (!probe.ok) console.warn(`\n*** SKIPPED: programs among the planted secrets. ${probe.why} ***\n`);

/** By the place where it is planted. No two have eight characters in common. */
const PLANTED = {
  model_key: 'mk-Xq81vTzu6Rw0',
  model_header: 'mh-Bn53kYpe9Ld2',
  model_header_file: 'mf-Gs74cHja1Ov6',
  model_query: 'mq-Wd26xEif8Mt3',
  model_body: 'mb-Zr95nUly4Kp7',
  model_body_deep: 'md-Jc37bQsg0Ha8',
  model_address: 'ma-Vk12gTdw4Ny7',
  model_query_address: 'mz-Qe83hRcu6Pb1',
  mcp_header: 'ph-Tf62wVme5Xi1',
  mcp_header_file: 'pf-Lk84zRod7Cu9',
  mcp_query: 'pq-Ey19hBna3Sj4',
  program_variable: 'gv-Oi70pMtx2Wf5',
  program_address: 'ga-Lx58mJfz3Aw9',
  program_argument: 'go-Fb24oSkv7Hc0',
  program_argument_address: 'gz-Ci91dUne5Tr8',
  program_file: 'gf-Ud48sKcr6Qz0',
  client_secret: 'cs-Hv03jGyb9Ne2',
  refresh_token: 'rt-Pa57lXkw1To8',
  service_token: 'st-Mj92fCqi4Bv6',
  webhook_secret: 'ws-Rz16eDhu8Yl3-Rz16eDhu8Yl3-Rz16eDhu8Yl3',
  collector_header: 'ch-Nw45aIpo7Gt9',
} as const;

/** Forms in which each is looked for. Base64 of the first bytes stands for that of more. */
const formsOf = (secret: string) => [
  secret,
  Buffer.from(secret).toString('hex'),
  Buffer.from(secret).toString('base64').slice(0, -4),
  encodeURIComponent(secret),
];
const found = (text: string): string[] =>
  Object.entries(PLANTED).flatMap(([place, secret]) =>
    formsOf(secret).some((form) => text.includes(form)) ? [place] : [],
  );

const root = fileURLToPath(new URL('../../../', import.meta.url));
const node = realpathSync(process.execPath);
const ends: (() => void)[] = [];
const shown: Record<string, string> = {};
let peer: EchoingPeer;
let model: ModelServer;
let daemon: DaemonProcess;

function configure({ configDir }: DaemonProcess): void {
  const write = (name: string, value: unknown) =>
    writeFileSync(join(configDir, name), typeof value === 'string' ? value : JSON.stringify(value), { mode: 0o600 });
  mkdirSync(configDir, { recursive: true });
  for (const place of ['model_key', 'mcp_header_file', 'program_file', 'client_secret'] as const) {
    write(`${place}.txt`, `${PLANTED[place]}\n`);
  }
  write('model_header_file.txt', `Bearer ${PLANTED.model_header_file}`);
  write('collector.txt', `authorization: Bearer ${PLANTED.collector_header}\n`);
  write('webhook.txt', PLANTED.webhook_secret);
  const rule = { cidr: '127.0.0.0/8', for: ['mcp', 'connector', 'webhook'] };
  write('errand.yaml', {
    egress: { allow: [rule] },
    traces: { otlp_endpoint: `${peer.url}/plain`, headers_file: 'collector.txt' },
  });
  const called = {
    api_key_file: 'model_key.txt',
    headers: { 'x-house': PLANTED.model_header },
    header_files: { 'x-file': 'model_header_file.txt' },
    query: { tenant: PLANTED.model_query, store: `redis://tide:${PLANTED.model_query_address}@cache.example/1` },
    extra_body: {
      route: PLANTED.model_body,
      metadata: { tags: [PLANTED.model_body_deep] },
      database: `postgres://tide:${PLANTED.model_address}@db.example/tides`,
    },
  };
  write('models.yaml', {
    endpoints: {
      scripted: { kind: 'openai', base_url: `${model.url}/v1`, ...called },
      hostile: { kind: 'openai', base_url: `${peer.url}/plain/v1`, ...called },
    },
    models: {
      scripted: { endpoint: 'scripted', model: 'scripted', context_window: 128_000 },
      hostile: { endpoint: 'hostile', model: 'hostile', context_window: 128_000 },
    },
    scenarios: { general: { model: 'scripted' }, trap: { model: 'hostile' } },
    default_scenario: 'general',
  });
  const program = {
    TOKEN: PLANTED.program_variable,
    DATABASE_URL: `postgres://tide:${PLANTED.program_address}@db.example/tides`,
  };
  const given = ['--token', PLANTED.program_argument, `redis://:${PLANTED.program_argument_address}@cache.example/2`];
  const files = { KEPT: 'program_file.txt' };
  const script = join(root, 'test/support/mcp/mcp-server.mjs');
  const folders = [root, realpathSync(join(root, 'node_modules')), dirname(node)];
  write('mcp-servers.yaml', {
    servers: {
      far: {
        url: `${peer.url}/mcp?api_key=${PLANTED.mcp_query}`,
        headers: { 'x-token': PLANTED.mcp_header },
        header_files: { 'x-file': 'mcp_header_file.txt' },
        enabled_by_default: true,
      },
      near: {
        command: node,
        args: [script, ...given],
        folders,
        env: program,
        env_files: files,
        enabled_by_default: true,
      },
      broken: {
        command: '/bin/sh',
        args: ['-c', 'env >&2; echo "$@" >&2; exit 3', 'sh', ...given],
        env: program,
        env_files: files,
      },
    },
  });
  const oauth = { token_url: `${peer.url}/token`, client_id: 'errand', client_secret_file: 'client_secret.txt' };
  const service = { description: 'repeats', base_url: `${peer.url}/plain` };
  write('connectors.yaml', {
    connectors: {
      plain: { ...service, auth: { kind: 'token' } },
      exchanged: { ...service, auth: { kind: 'oauth2_refresh_token', ...oauth } },
    },
  });
}

/** Runs a command, and keeps all that it prints. */
async function errand(args: readonly string[], input = ''): Promise<string> {
  const child = spawn(BINARY, [...args, '--data-dir', daemon.dataDir, '-o', 'json'], { stdio: 'pipe' });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => void (texts[name] += text));
  }
  child.stdin.end(input);
  await new Promise((resolve) => child.once('close', resolve));
  shown[`errand ${args.slice(0, 3).join(' ')}`] = texts.stdout + texts.stderr;
  if (texts.stdout === '') throw new Error(`errand ${args.join(' ')}: ${texts.stderr}`);
  return texts.stdout;
}

async function get(path: string): Promise<void> {
  const reply = await fetch(daemon.url + path, { headers: { authorization: `Bearer ${daemon.apiKey}` } });
  shown[`GET ${path}`] = await reply.text();
}

beforeAll(async () => {
  const of = { onTestFinished: (end: () => void) => void ends.push(end) };
  // Who receives webhooks knows their secret, and never gets it.
  peer = await startEchoingPeer([PLANTED.webhook_secret], of);
  model = await startModelServer();
  daemon = await startDaemonProcess({ modelServerUrl: model.url });
  configure(daemon);
  await daemon.restart();
});
afterAll(async () => {
  await daemon?.close();
  await model?.close();
  for (const end of ends) end();
});

/** All files below a directory as texts, byte by byte, but for those that hold secrets because they were put there. */
function* filesOf(directory: string, except: ReadonlySet<string>): Generator<readonly [string, string]> {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    if (except.has(path)) continue;
    const stats = statSync(path);
    if (stats.isDirectory()) yield* filesOf(path, except);
    else if (stats.isFile()) yield [path, readFileSync(path, 'latin1')];
  }
}

test('nothing planted comes back in the log, in checks, in replies, in the database, in exports or to a model', {
  tags: ['J6-secrets'],
}, async () => {
  const owner = ['--user', daemon.adminName];
  const idOf = (printed: string) => String((JSON.parse(printed) as { id: string | number }).id);
  const plain = idOf(
    await errand(['connections', 'create', 'plain', ...owner, '--secret-stdin'], PLANTED.service_token),
  );
  const exchanged = idOf(
    await errand(['connections', 'create', 'exchanged', ...owner, '--secret-stdin'], PLANTED.refresh_token),
  );
  const key = JSON.parse(
    await errand(['keys', 'create', ...owner, '--scope', 'conversation', '--connections', `${plain},${exchanged}`]),
  ) as { key: string };
  const secretFile = join(daemon.configDir, 'webhook.txt');
  const hook = idOf(
    await errand([
      'webhooks',
      'create',
      'hook',
      `${peer.url}/plain/hook`,
      '--event',
      'all',
      '--secret-file',
      secretFile,
    ]),
  );
  await errand(['webhooks', 'test', hook, '--event', 'session.completed']);

  const request = (connection: string) => ({
    name: 'connector_request',
    input: { connection, method: 'GET', path: '/things' },
  });
  const calls = [
    request(plain),
    request(exchanged),
    { name: 'mcp__far__repeat', input: {} },
    ...(probe.ok ? [{ name: 'mcp__near__environment', input: {} }] : []),
  ];
  model.script(({ step }) => (step === 0 ? { tools: calls } : { text: 'All called.' }));
  const turn = await takeTurn({ url: daemon.url, apiKey: key.key }, { content: 'Call them all.' });
  expect(turn.text).toBe('All called.');
  const conversation = model.requests.map(({ body }) => JSON.stringify([body.messages, body['tools']]));
  shown['what the model is told'] = conversation.join('\n');
  expect(conversation.at(-1)!.match(/\[credential\]/g)!.length).toBeGreaterThan(10);

  const trap = JSON.parse(
    await errand(['users', 'create', 'trapped', '--scenario', 'trap', '--password-stdin'], 'A long password 9'),
  ) as { user_id: string };
  expect(trap.user_id).toBeDefined();
  const hostile = JSON.parse(await errand(['keys', 'create', '--user', 'trapped', '--scope', 'conversation'])) as {
    key: string;
  };
  const failed = await takeTurn({ url: daemon.url, apiKey: hostile.key }, { content: 'Fail.' });
  expect(failed.error).not.toBeNull();
  shown['a failed turn'] = JSON.stringify(failed);

  for (const name of ['scripted', 'hostile']) await errand(['models', 'check', name, '--no-context']);
  for (const name of ['far', 'near', 'broken']) await errand(['mcp', 'check', name]);
  for (const name of ['plain', 'exchanged']) await errand(['connectors', 'check', name]);
  for (const id of [plain, exchanged]) await errand(['connections', 'check', id]);
  for (const noun of ['mcp', 'connectors', 'connections', 'models', 'webhooks']) await errand([noun, 'list']);
  for (const name of ['far', 'near']) await errand(['mcp', 'show', name]);
  await errand(['doctor']);
  await errand(['config', 'show']);
  const bundle = join(temporaryDirectory(), 'b.tar.gz');
  const log = join(dirname(bundle), 'log');
  writeFileSync(
    log,
    Object.values(PLANTED)
      .map((secret) => `{"level":"info","msg":"with ${secret}"}\n`)
      .join(''),
  );
  await errand(['support-bundle', '--to', bundle, '--log', log]);
  const packed = Object.values(await tarEntries(readFileSync(bundle))).join('\n');
  await errand(['runs', 'export', turn.runId!, '--to', '-']);
  await get(`/openapi/v1/sessions/${turn.sessionId}/messages`);
  for (const path of ['/api/v1/runs', `/api/v1/runs/${turn.runId}/timeline`, `/api/v1/runs/${failed.runId}`])
    await get(path);
  await get(`/api/v1/webhooks/${hook}/deliveries`);
  await get('/metrics');

  await waitFor(() => daemon.stderr().includes('collector'), { what: 'the collector has refused traces' });
  // Each was sent to its peer: else this would prove nothing.
  const sent = [
    ...peer.heard,
    ...model.requests.map(({ headers, path, body }) => JSON.stringify([headers, path, body])),
  ];
  const unsent = new Set(['client_secret', 'webhook_secret']);
  for (const place of Object.keys(PLANTED))
    if (!place.startsWith('program_') && !unsent.has(place)) expect(found(sent.join('\n')), place).toContain(place);

  shown['the log'] = daemon.stderr() + daemon.stdout();
  await daemon.stop();
  const except = new Set([daemon.configDir]);
  for (const [path, text] of filesOf(daemon.dataDir, except)) shown[`file ${path.slice(daemon.dataDir.length)}`] = text;
  const leaks = Object.entries(shown).flatMap(([where, text]) => found(text).map((place) => `${place} in ${where}`));
  expect(leaks).toEqual([]);
  expect(shown['the log']).toContain('[credential]');
  // Who is asked for one by its bundle knows only what the files of the installation say: nothing of connections and webhooks.
  const sealed = new Set(['refresh_token', 'service_token', 'webhook_secret', 'model_body_deep']);
  expect(found(packed).filter((place) => !sealed.has(place))).toEqual([]);
});
