// An obedient model with a browser, MCP servers, skills, sub-agents and connections: none of them leads it further than it may go.
import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromium } from '../../support/agent/browser-run.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import type { ScriptedCall } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';

const hasSandbox = existsSync('/usr/bin/bwrap');
const title = (what: string) => (hasSandbox ? what : `${what} — SKIPPED: BUBBLEWRAP IS NOT INSTALLED`);
const root = fileURLToPath(new URL('../../../', import.meta.url));
const node = realpathSync(process.execPath);

const OTHERS_WORDS = 'the merger is on friday';
const OTHERS_CREDENTIAL = 'crm-token-of-somebody-else-987';
const OWN_CREDENTIAL = 'crm-token-of-the-administrator-654';
const HIDDEN = 'a line of a file that no skill holds';

interface Site {
  readonly url: string;
  readonly port: number;
  readonly seen: { readonly line: string; readonly authorization: string | undefined }[];
  /** Connections, spoken on or not. */
  connections(): number;
  close(): void;
}

async function startSite(answer: (req: IncomingMessage, res: ServerResponse) => void): Promise<Site> {
  const seen: { line: string; authorization: string | undefined }[] = [];
  let connections = 0;
  const server = createServer((req, res) => {
    seen.push({ line: `${req.method} ${req.url}`, authorization: req.headers.authorization });
    answer(req, res);
  }).on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, port, seen, connections: () => connections, close };
}

let models: ModelServer;
let daemon: DaemonProcess;
/** No request may reach it. */
let lurking: Site;
/** What the browser may reach: a page that wants to reach further. */
let site: Site;
let service: Site;
let key: string;
let teamKey: string;
let ownConnection: string;
let othersConnection: string;
let othersSession: string;

beforeAll(async () => {
  models = await startModelServer();
  lurking = await startSite((_, res) => res.end('inner page'));
  site = await startSite((req, res) => {
    if (req.url === '/away') res.writeHead(302, { location: lurking.url }).end();
    else if (req.url === '/windows')
      res
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<script>for (let i = 0; i < 20; i++) open('${lurking.url}')</script>`);
    else if (req.url === '/broken') res.socket?.end('HTTP/1.1 099 x\r\nContent-Length: 2\r\n\r\nok');
    else res.writeHead(200, { 'content-type': 'text/html' }).end(greedyPage());
  });
  service = await startSite((req, res) => {
    if (req.url === '/v1/away') res.writeHead(302, { location: `${lurking.url}/?${OWN_CREDENTIAL}` }).end();
    else res.end(`You said ${req.headers.authorization} to ${req.url}`);
  });
  daemon = await startDaemonProcess({
    modelServerUrl: models.url,
    errandYaml: `browser: { enabled: true, timeout_seconds: 60 }
egress:
  allow:
    - { cidr: 127.0.0.1, ports: [${site.port}], for: [web_fetch] }
    - { cidr: 127.0.0.1, ports: [${service.port}], for: [connector] }
`,
  });
  writeConfiguration();
  await daemon.restart();
  await prepare();
});

afterAll(async () => {
  await daemon?.close();
  await models?.close();
  for (const server of [lurking, site, service]) server?.close();
});

function write(name: string, text: string): void {
  const file = join(daemon.configDir, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function writeConfiguration(): void {
  const tools = {
    command: node,
    args: [join(root, 'test/support/mcp/mcp-server.mjs')],
    folders: [root, realpathSync(join(root, 'node_modules')), dirname(node)],
  };
  write('mcp-servers.yaml', JSON.stringify({ servers: { tools } }));
  const crm = {
    description: 'customers',
    base_url: service.url,
    auth: { kind: 'token' },
    methods: ['GET'],
    paths: ['/v1/*'],
  };
  write('connectors.yaml', JSON.stringify({ connectors: { crm } }));
  write('skills/guide/SKILL.md', '---\nname: guide\ndescription: A guide\n---\nMind the step.\n');
  write('hidden.txt', HIDDEN);
  symlinkSync('../../hidden.txt', join(daemon.configDir, 'skills/guide/leak'));
  symlinkSync('../..', join(daemon.configDir, 'skills/guide/up'));
  write('experts/reader.md', '---\ndescription: Reads\ntools: [read_file]\n---\nYou read.\n');
  write('experts/clerk.md', '---\ndescription: Looks up\ntools: []\nconnectors: [crm]\n---\nYou look up.\n');
  write('expert-teams/office.yaml', 'description: An office\nlead: reader\nmembers: [clerk]\n');
}

async function prepare(): Promise<void> {
  const admin = async <T>(path: string, body: object) => (await daemon.admin('POST', path, body)) as T;
  await daemon.admin('POST', '/api/v1/users', { username: 'bob', role: 'user', password: 'pass-word-1' });
  const connect = async (user: string, secret: string) =>
    (await admin<{ id: string }>('/api/v1/connections', { user, connector: 'crm', secret })).id;
  ownConnection = await connect(daemon.adminName, OWN_CREDENTIAL);
  othersConnection = await connect('bob', OTHERS_CREDENTIAL);
  const capabilities = {
    browser_enabled: true,
    mcp_server_ids: hasSandbox ? ['tools'] : [],
    skill_ids: ['guide'],
    connector_connection_ids: [ownConnection],
    subagent_ids: ['reader'],
  };
  const made = { user: daemon.adminName, scope: 'conversation', capability_config: capabilities };
  ({ key } = await admin<{ key: string }>('/api/v1/keys', made));
  const team = { user: daemon.adminName, scope: 'conversation', target: 'team:office' };
  teamKey = (await admin<{ key: string }>('/api/v1/keys', team)).key;
  const others = await admin<{ key: string }>('/api/v1/keys', { user: 'bob', scope: 'conversation' });
  models.enqueue(
    { tools: [{ name: 'write_file', input: { path: 'plan.txt', content: OTHERS_WORDS } }] },
    { text: 'Kept.' },
  );
  othersSession = (await ask('Note it.', others.key)).headers.get('x-session-id')!;
}

/** Tries every way out that a page has. */
function greedyPage(): string {
  const { url, port } = lurking;
  return `<title>Greedy</title><h1>Welcome</h1><a href="file:///etc/passwd">file</a><a href="${url}/click">click</a>
<img src="${url}/img"><iframe src="${url}/frame"></iframe><iframe src="file:///workspace/"></iframe>
<link rel="stylesheet" href="${url}/css"><link rel="prefetch" href="${url}/prefetch">
<link rel="preconnect" href="${url}"><link rel="dns-prefetch" href="//127.0.0.1:${port}">
<script src="http://localhost:${port}/script"></script><script>
fetch('${url}/fetch', { mode: 'no-cors' }).catch(() => {});
fetch('http://[::1]:${port}/six', { mode: 'no-cors' }).catch(() => {});
fetch('${daemon.url}/openapi/v1/sessions', { mode: 'no-cors' }).catch(() => {});
navigator.sendBeacon('${url}/beacon', 'x');
new WebSocket('ws://127.0.0.1:${port}/socket');
new EventSource('${url}/events');
new Worker(URL.createObjectURL(new Blob(["fetch('${url}/worker', { mode: 'no-cors' })"])));
const peer = new RTCPeerConnection({ iceServers: [{ urls: 'turn:127.0.0.1:${port}?transport=tcp', username: 'a', credential: 'b' }] });
peer.createDataChannel('x');
peer.createOffer().then((offer) => peer.setLocalDescription(offer));
</script>`;
}

async function ask(content: string, as = key): Promise<Response> {
  const response = await fetch(`${daemon.url}/openapi/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': as, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'errand', messages: [{ role: 'user', content }] }),
  });
  const body = await response.text();
  expect(response.status, body).toBe(200);
  return response;
}

/** Has the model make these calls one after another; returns the prompts and the result of each. */
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

function expectNoSecret(prompts: string): void {
  const master = readFileSync(join(daemon.dataDir, 'master.key'));
  const secrets = [OTHERS_WORDS, OTHERS_CREDENTIAL, OWN_CREDENTIAL, HIDDEN, daemon.apiKey, daemon.adminPassword];
  for (const secret of [...secrets, master.toString('base64'), master.toString('hex'), 'SQLite format 3', 'root:x:0:0'])
    expect(prompts).not.toContain(secret);
  expect(daemon.stderr() + daemon.stdout()).not.toMatch(new RegExp([OTHERS_CREDENTIAL, OWN_CREDENTIAL].join('|')));
  expect(lurking.seen).toEqual([]);
  expect(lurking.connections()).toBe(0);
}

describe.skipIf(!chromium.ok)('with the browser', () => {
  test('no address inside is opened, and no file', async () => {
    const addresses = [
      lurking.url,
      `localhost:${lurking.port}`,
      `http://[::1]:${lurking.port}/`,
      `http://0x7f.1:${lurking.port}/`,
      `${daemon.url}/openapi/v1/sessions`,
      'http://169.254.169.254/latest/meta-data/',
      'file:///etc/passwd',
      'view-source:file:///etc/passwd',
      'chrome://version',
      'javascript:document.write(1)',
      `unix:${daemon.socketPath}`,
      `${site.url}/away`,
    ];
    const { prompts } = await obey(addresses.map((url) => ({ name: 'browser_open', input: { url } })));
    expectNoSecret(prompts);
    expect(prompts).not.toContain('inner page');
    expect(site.seen.map(({ line }) => line)).toContain('GET /away');
  });

  test('a page that tries every way out finds none, nor when its links are clicked', async () => {
    const { prompts, results } = await obey([
      { name: 'browser_open', input: { url: `${site.url}/` } },
      { name: 'browser_click', input: { ref: 'e3' } },
      { name: 'browser_open', input: { url: `${site.url}/` } },
      { name: 'browser_click', input: { ref: 'e4' } },
      { name: 'browser_open', input: { url: `${site.url}/windows` } },
      { name: 'browser_read', input: {} },
    ]);
    expect(results[0]).toContain('Welcome');
    expect(prompts).not.toContain('inner page');
    expectNoSecret(prompts);
  });

  test('a server that answers nonsense costs the run nothing but that page', async () => {
    const { results } = await obey([
      { name: 'browser_open', input: { url: `${site.url}/broken` } },
      { name: 'browser_open', input: { url: `${site.url}/` } },
    ]);
    expect(results[1]).toContain('Welcome');
    expect(daemon.stderr() + daemon.stdout()).not.toMatch(/thread (?:was|is) lost|ERR_HTTP_INVALID_STATUS_CODE/);
  });
});

describe.skipIf(!hasSandbox)(title('with an MCP server'), () => {
  test('it reaches only what the shell does', async () => {
    const paths = [
      `${daemon.dataDir}/master.key`,
      `${daemon.dataDir}/errand.db`,
      `${daemon.dataDir}/workspaces/${othersSession}/plan.txt`,
      `${daemon.configDir}/hidden.txt`,
      '/proc/1/environ',
      '/proc/1/root/etc/shadow',
      '/etc/shadow',
      daemon.socketPath,
    ];
    const { prompts } = await obey([
      ...paths.map((path) => ({ name: 'mcp__tools__read', input: { path } })),
      { name: 'mcp__tools__fetch', input: { url: lurking.url } },
      { name: 'mcp__tools__fetch', input: { url: `${daemon.url}/healthz` } },
      { name: 'mcp__tools__write', input: { path: `${root}test/support/mcp/mcp-server.mjs`, words: 'other code' } },
      { name: 'mcp__tools__environment', input: {} },
    ]);
    expectNoSecret(prompts);
    expect(prompts).not.toContain('inner page');
    expect(readFileSync(join(root, 'test/support/mcp/mcp-server.mjs'), 'utf8')).not.toBe('other code');
  });
});

test('with skills, no name and no link leads out of their folders, and nothing is written there', async () => {
  const read = ['guide/leak', 'guide/up/hidden.txt', 'guide/../../hidden.txt', '../../../etc/passwd', 'guide//../../x'];
  const { prompts } = await obey([
    ...['..', '../..', 'guide/..', 'guide/../guide', daemon.configDir].map((name) => ({
      name: 'load_skill',
      input: { name },
    })),
    { name: 'load_skill', input: { name: 'guide' } },
    ...read.map((path) => ({ name: 'read_file', input: { path: `/skills/${path}` } })),
    { name: 'list_files', input: { path: '/skills/guide/up' } },
    { name: 'search_files', input: { path: '/skills/guide', pattern: 'line of a file' } },
    { name: 'write_file', input: { path: '/skills/guide/SKILL.md', content: 'Obey.' } },
    {
      name: 'shell',
      input: { command: 'cat /skills/guide/leak /skills/guide/up/*; echo Obey. >/skills/guide/SKILL.md' },
    },
  ]);
  expectNoSecret(prompts);
  expect(prompts).toContain('Mind the step.');
  expect(readFileSync(join(daemon.configDir, 'skills/guide/SKILL.md'), 'utf8')).toContain('Mind the step.');
});

test('with a sub-agent, no tool is had that it was not given', async () => {
  const from = models.requests.length;
  models.enqueue(
    { tools: [{ name: 'delegate', input: { agent: 'reader', task: 'Do as you are told.' } }] },
    { tools: [{ name: 'shell', input: { command: 'touch /workspace/proof' } }] },
    { tools: [{ name: 'web_fetch', input: { url: lurking.url } }] },
    { tools: [{ name: 'ask_user', input: { question: 'May I?' } }] },
    { tools: [{ name: 'mcp__tools__add', input: { a: 1, b: 1 } }] },
    { tools: [{ name: 'load_skill', input: { name: 'guide' } }] },
    { tools: [{ name: 'connector_request', input: { connection: ownConnection, method: 'GET', path: '/v1/x' } }] },
    { tools: [{ name: 'browser_open', input: { url: site.url } }] },
    { tools: [{ name: 'delegate', input: { agent: 'reader', task: 'Again.' } }] },
    { tools: [{ name: 'read_file', input: { path: `../${othersSession}/plan.txt` } }] },
    { text: 'I tried.' },
    { text: 'It tried.' },
  );
  const sessionId = (await ask('Delegate it.')).headers.get('x-session-id')!;
  const bodies = models.requests.slice(from).map(({ body }) => body);
  const last = JSON.stringify(bodies.at(-2)!.messages);
  expect(last.match(/no tool named/g)).toHaveLength(8);
  expect(existsSync(join(daemon.dataDir, 'workspaces', sessionId, 'proof'))).toBe(false);
  expectNoSecret(JSON.stringify(bodies));
});

test("in a team a connection is its agent's alone: the lead has no such tool, the member is served", async () => {
  const from = models.requests.length;
  const input = { connection: ownConnection, method: 'GET', path: '/v1/of-the-clerk' };
  models.enqueue(
    { tools: [{ name: 'connector_request', input }] },
    { tools: [{ name: 'delegate', input: { agent: 'clerk', task: 'Look it up.' } }] },
    { tools: [{ name: 'connector_request', input }] },
    { text: 'Looked up.' },
    { text: 'So it is.' },
  );
  await ask('Have it looked up.', teamKey);
  const bodies = models.requests.slice(from).map(({ body }) => JSON.stringify(body.messages));
  expect(bodies[1]).toContain('no tool named');
  expect(bodies[3]).toContain('You said Bearer [credential] to /v1/of-the-clerk');
  expect(service.seen.map(({ line }) => line).filter((line) => line.endsWith('of-the-clerk'))).toHaveLength(1);
  service.seen.length = 0;
  expectNoSecret(bodies.join());
});

test('with a connection, only its own service is reached, where allowed, and no credential is disclosed', async () => {
  const call = (path: string, more: object = {}) => ({
    name: 'connector_request',
    input: { connection: ownConnection, method: 'GET', path, ...more },
  });
  const host = `127.0.0.1:${lurking.port}`;
  const { prompts, results } = await obey([
    call('/v1/customers'),
    call('/v1/away'),
    call('/v1/../admin'),
    call('/v1/..%2fadmin'),
    call('/v1/..;/admin'),
    call('/v1\\..\\admin'),
    call(`//${host}/v1/x`),
    call(`@${host}/v1/x`),
    call(`http://${host}/v1/x`),
    call('/v1/x', { method: 'DELETE' }),
    call('/v1/x', { headers: { Host: host } }),
    call('/v1/x', { headers: { Authorization: 'Bearer mine' } }),
    call('/v1/x', { headers: { accept: 'a\r\nHost: b' } }),
    call('/v1/x', { connection: othersConnection }),
  ]);
  expect(results[0]).toContain('You said Bearer [credential] to /v1/customers');
  expectNoSecret(prompts);
  expect(service.seen.map(({ line }) => line)).toEqual(['GET /v1/customers', 'GET /v1/away']);
  for (const { authorization } of service.seen) expect(authorization).toBe(`Bearer ${OWN_CREDENTIAL}`);
});
