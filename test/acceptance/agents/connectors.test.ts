// A user's credential at work: connected from the shell, used by an agent that never sees it, ended again.
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';

const BINARY = fileURLToPath(new URL('../../../bin/errand', import.meta.url));
const CREDENTIAL = 'crm-token-of-alice-0123456789';

let models: ModelServer;
let daemon: DaemonProcess;
let service: { url: string; seen: { url: string; headers: IncomingHttpHeaders }[]; close(): void };

async function startService() {
  const seen: { url: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer((request, response) => {
    seen.push({ url: request.url ?? '', headers: request.headers });
    const known = request.headers.authorization === `Bearer ${CREDENTIAL}`;
    response.writeHead(known ? 200 : 401, { 'content-type': 'application/json' });
    response.end(JSON.stringify(known ? { customers: ['Ada'], echo: request.headers.authorization } : {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, seen, close: () => void server.close() };
}

beforeAll(async () => {
  models = await startModelServer();
  service = await startService();
  daemon = await startDaemonProcess({
    modelServerUrl: models.url,
    errandYaml: 'egress: { allow: [{ cidr: 127.0.0.0/8, for: [connector] }] }\n',
  });
  await writeFile(
    join(daemon.configDir, 'connectors.yaml'),
    `connectors:\n  crm: { description: customers, base_url: "${service.url}", auth: { kind: token }, methods: [GET], paths: ["/v1/*"] }\n`,
  );
  await daemon.restart();
});

afterAll(async () => {
  await daemon.close();
  await models.close();
  service.close();
});

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function errand(args: readonly string[], input = ''): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(BINARY, [...args, '--data-dir', daemon.dataDir], { stdio: 'pipe' });
    const [out, err]: [string[], string[]] = [[], []];
    child.stdout.setEncoding('utf8').on('data', (text: string) => out.push(text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => err.push(text));
    child.once('close', (code) => resolve({ code, stdout: out.join(''), stderr: err.join('') }));
    child.stdin.end(input);
  });
}

async function json(args: readonly string[], input = ''): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await errand([...args, '-o', 'json'], input);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Record<string, unknown>;
}

test('an agent calls a service with a credential that it never sees, as long as the connection is there', {
  tags: ['§2.10-connections', 'I4'],
}, async () => {
  const made = await json(
    ['connections', 'create', 'crm', '--user', daemon.adminName, '--secret-stdin'],
    `${CREDENTIAL}\n`,
  );
  expect(made).toMatchObject({ connector: 'crm', state: 'active', username: daemon.adminName });
  expect(JSON.stringify(made)).not.toContain(CREDENTIAL);
  const id = String(made['id']);
  const owner = ['--user', daemon.adminName];
  const key = await json(['keys', 'create', ...owner, '--scope', 'conversation', '--connections', id]);

  const checked = await errand(['connectors', 'check', 'crm']);
  expect(checked.code, checked.stderr).toBe(0);
  expect(service.seen.at(-1)?.headers.authorization).toBe(`Bearer ${CREDENTIAL}`);

  const call = { name: 'connector_request', input: { connection: id, method: 'GET', path: '/v1/customers' } };
  const ask = async (sessionId?: string) => {
    models.enqueue({ tools: [call] }, { text: 'Looked it up.' });
    const response = await fetch(`${daemon.url}/openapi/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': String(key['key']), 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'errand',
        messages: [{ role: 'user', content: 'Who are our customers?' }],
        ...(sessionId !== undefined && { metadata: { session_id: sessionId } }),
      }),
    });
    expect(response.status).toBe(200);
    return response.headers.get('x-session-id')!;
  };
  const sessionId = await ask();
  const prompts = JSON.stringify(models.requests.map(({ body }) => body));
  expect(prompts).toContain('Ada');
  expect(prompts).toContain('[credential]');
  expect(prompts).not.toContain(CREDENTIAL);
  expect(service.seen.at(-1)).toMatchObject({ url: '/v1/customers' });
  expect(daemon.stderr() + daemon.stdout()).not.toContain(CREDENTIAL);

  const capabilities = await fetch(`${daemon.url}/openapi/v1/sessions/${sessionId}/capability-config`, {
    headers: { 'x-api-key': String(key['key']) },
  });
  expect(await capabilities.json()).toMatchObject({ capability_config: { connector_connection_ids: [id] } });

  expect((await json(['connections', 'revoke', id, '--yes']))['state']).toBe('revoked');
  const before = service.seen.length;
  await ask(sessionId);
  expect(service.seen).toHaveLength(before);
  expect(JSON.stringify(models.requests.at(-1)!.body)).toContain('no tool named');
});

test('a connector that does not work is reported with exit code 8, and an unknown one with 5', async () => {
  const made = await json(
    ['connections', 'create', 'crm', '--user', daemon.adminName, '--secret-stdin'],
    'not the right one\n',
  );
  const checked = await errand(['connections', 'check', String(made['id'])]);
  expect(checked.code).toBe(8);
  expect(checked.stderr).toContain('401');
  expect((await errand(['connectors', 'check', 'crm'])).code).toBe(8);
  expect((await errand(['connectors', 'check', 'nope'])).code).toBe(5);
  const missing = await errand(['connections', 'create', 'crm', '--user', daemon.adminName]);
  expect(missing.code).toBe(2);
  expect(missing.stderr).toContain('secret');
});
