// The commands of webhooks against the real daemon: test events, deliveries, and listening across restarts of both.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { replyFromDirectives } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const BINARY = fileURLToPath(new URL('../../../bin/errand', import.meta.url));
const SECRET = 'a secret of the receiver, in a file';

interface Arrival {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

let model: ModelServer;
let daemon: DaemonProcess;
let receiver: Server;
let hook: string;
let arrivals: Arrival[];
let status: number;
let stateHome: string;
let secretFile: string;
let started: ChildProcess[];

beforeAll(async () => {
  model = await startModelServer();
  model.script(replyFromDirectives);
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      arrivals.push({ headers: request.headers as Arrival['headers'], body: Buffer.concat(chunks).toString() });
      response.writeHead(status).end('Noted.');
    });
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  hook = `http://127.0.0.1:${port}/hook`;
  daemon = await startDaemonProcess({
    modelServerUrl: model.url,
    errandYaml: `egress: { allow: [{ cidr: 127.0.0.1/32, ports: [${port}], for: [webhook] }] }\n`,
  });
});
afterAll(async () => {
  await daemon.close();
  receiver.closeAllConnections();
  receiver.close();
  await model.close();
});
beforeEach(() => {
  [arrivals, status, started] = [[], 200, []];
  stateHome = temporaryDirectory();
  secretFile = path.join(stateHome, 'secret');
  writeFileSync(secretFile, `${SECRET}\n`);
});
afterEach(() => started.forEach((child) => child.kill('SIGKILL')));

const environment = () => ({ XDG_STATE_HOME: stateHome });

async function errand<T>(...args: readonly string[]): Promise<T> {
  const { stdout } = await runErrand([...args, '--data-dir', daemon.dataDir, '-o', 'json']);
  return JSON.parse(stdout) as T;
}

async function failing(...args: readonly string[]): Promise<{ code: number; stderr: string }> {
  return runErrand([...args, '--data-dir', daemon.dataDir]).then(
    () => ({ code: 0, stderr: '' }),
    (error: { code: number; stderr: string }) => error,
  );
}

/** Starts a listener, and resolves when it listens. */
async function listen(...flags: readonly string[]) {
  const args = ['webhooks', 'listen', '--name', 'dev', '--data-dir', daemon.dataDir, '-o', 'json', ...flags];
  const env = { PATH: process.env['PATH'], HOME: stateHome, ...environment() };
  const child = spawn(BINARY, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  started.push(child);
  let [out, notes] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (notes += text));
  await waitFor(() => notes.includes('Listening as "dev"'));
  return {
    heard: () =>
      out
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as { event_id: string; event_type: string; forwarded: object; body: string }),
    notes: () => notes,
    stop: async () => {
      child.kill('SIGINT');
      return (await once(child, 'exit'))[0] as number;
    },
  };
}

const sessionOf = ({ body }: { readonly body: string }) => JSON.parse(body).session.session_id as string;
const finishTurn = async () =>
  (await takeTurn({ url: daemon.url, apiKey: daemon.apiKey }, { content: 'Tides?' })).sessionId!;

interface Made {
  readonly id: number;
  readonly secret: string;
}

async function makeHook(...flags: readonly string[]): Promise<Made> {
  return errand('webhooks', 'create', 'test', hook, '--event', 'session.completed', ...flags);
}

test('a test event arrives signed, and what is printed of it is what arrived', async () => {
  const { id, secret } = await makeHook('--generate-secret');
  const file = path.join(stateHome, 'generated');
  writeFileSync(file, secret);
  const session = await finishTurn();
  await waitFor(() => arrivals.length === 1);
  const args = ['webhooks', 'test', String(id), '--event', 'session.completed', '--session', session.slice(0, 18)];
  const tested = await errand<{ delivered: boolean; request: { headers: Record<string, string>; body: string } }>(
    ...args,
    '--print-request',
    '--secret-file',
    file,
  );
  const { headers, body } = arrivals[1]!;
  expect(tested).toMatchObject({ delivered: true, request: { body } });
  const printed = Object.entries(tested.request.headers).map(([name, value]) => [name.toLowerCase(), value]);
  expect(Object.fromEntries(printed)).toEqual(headers);
  const given = ['--timestamp', headers['x-service-timestamp']!, '--signature', headers['x-service-signature']!];
  const verifying = promisify(execFile)(BINARY, ['webhooks', 'verify', '--secret-file', file, ...given]);
  verifying.child.stdin!.end(body);
  expect((await verifying).stdout).toContain('signature\ttrue');
  await errand('webhooks', 'delete', String(id), '--yes');
});

test('each reason that holds a test event back names a command that lets it pass', async () => {
  const { id } = await makeHook('--kind', 'chat', '--disabled');
  const session = await finishTurn();
  const said: string[] = [];
  const args = ['webhooks', 'test', String(id), '--event', 'session.stopped', '--session', session];
  for (let fixes = 0; ; fixes += 1) {
    const { code, stderr } = await failing(...args);
    if (code === 0) break;
    expect([code, fixes < 3]).toEqual([8, true]);
    const [, command] = /To change that: \S+ (?:--data-dir \S+ )?(.*)$/m.exec(stderr)!;
    said.push(command!);
    await errand(...command!.split(' '));
  }
  const events = '--event session.completed --event session.stopped';
  expect(said).toEqual([
    `webhooks enable ${id}`,
    `webhooks set ${id} ${events}`,
    `webhooks set ${id} --session-kind chat --session-kind api`,
  ]);
  await errand('webhooks', 'delete', String(id), '--yes');
});

test('a delivery that failed is delivered again when the receiver works', async () => {
  status = 503;
  const { id } = await makeHook('--retries', '0');
  await finishTurn();
  const listed = () =>
    errand<{ items: { id: number; state: string }[] }>('webhooks', 'deliveries', String(id), '--state', 'failed');
  await waitFor(async () => (await listed()).items.length === 1);
  const [failed] = (await listed()).items;
  const again = ['deliveries', 'redeliver', String(failed!.id), '--wait'];
  expect(await failing(...again)).toMatchObject({ code: 8, stderr: expect.stringContaining('status 503') });
  status = 200;
  expect(await errand(...again)).toMatchObject({ state: 'delivered', attempt_count: 3 });
  expect(new Set(arrivals.map(({ body }) => body)).size).toBe(1);
  await errand('webhooks', 'delete', String(id), '--yes');
});

test('a listener hears all events once, in order, across restarts of itself and of the daemon', {
  tags: ['K7-deliveries'],
}, async () => {
  await finishTurn();
  const first = await listen('--forward-to', hook, '--secret-file', secretFile, '--event', 'session.completed');
  const sessions = [await finishTurn()];
  await waitFor(() => first.heard().length === 1);
  expect(first.heard()[0]).toMatchObject({ forwarded: { status_code: 200, error: null } });
  const { headers, body } = arrivals[0]!;
  const mac = createHmac('sha256', SECRET).update(`${headers['x-service-timestamp']}.${body}`).digest('hex');
  expect(headers['x-service-signature']).toBe(`sha256=${mac}`);

  // A listener that asks nothing meanwhile doesn't notice a restart.
  await daemon.stop();
  await waitFor(() => first.notes().includes('The daemon does not answer; trying again.'));
  await daemon.restart();
  await waitFor(() => first.notes().includes('The daemon answers again.'));
  sessions.push(await finishTurn());
  await waitFor(() => first.heard().length === 2);
  expect(await first.stop()).toBe(130);

  sessions.push(await finishTurn());
  await daemon.restart();
  sessions.push(await finishTurn());
  const second = await listen('--forward-to', hook, '--event', 'session.completed');
  await waitFor(() => second.heard().length === 2);
  expect([...first.heard(), ...second.heard()].map(sessionOf)).toEqual(sessions);
  expect(arrivals.map(sessionOf)).toEqual(sessions);
  expect(arrivals.at(-1)!.headers).not.toHaveProperty('x-service-signature');
  await second.stop();
});

test('the place of a listener is only for its user to read', async () => {
  const { stop } = await listen();
  await stop();
  const directory = path.join(stateHome, 'errand', 'listen');
  const [file, ...others] = readdirSync(directory);
  expect([file, others]).toEqual([expect.stringMatching(/^dev-[0-9a-f]{12}\.json$/), []]);
  expect([directory, path.join(directory, file!)].map((name) => statSync(name).mode & 0o777)).toEqual([0o700, 0o600]);
});

test('a test event is posted to an address, signed as the daemon does', async () => {
  const args = ['webhooks', 'trigger', 'session.failed', '--secret-file', secretFile];
  const posted = await errand<{ delivered: boolean; event_id: string }>(
    ...args,
    '--to',
    hook.replace('127.0.0.1', 'localhost'),
  );
  expect(posted).toMatchObject({ delivered: true, status_code: 200, response_excerpt: 'Noted.' });
  expect(JSON.parse(arrivals[0]!.body)).toMatchObject({ event_id: posted.event_id, is_test: true });
  expect(arrivals[0]!.headers).toHaveProperty('webhook-signature');
  status = 400;
  expect((await failing(...args, '--to', hook)).code).toBe(8);
});
