// `errand webhooks listen`, `trigger` and `verify`: what they ask for, what they keep, and how they end.
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { signatureHeaders } from '../../../../src/webhooks/sign.ts';
import { waitFor } from '../../../support/time/wait-for.ts';
import { makeDirectory, NOW, refuse, type Route, run, start, startFakeDaemon } from '../../outside.ts';

const EVENTS = '/api/v1/webhook-events';
const EVENT_ID = '0190f6a0-0000-8000-8000-00000000000e';
const SESSION = '0190f6a0-0000-7000-8000-000000000009';
const SECRET = 'a secret that is long enough';

function anEvent(id: number) {
  const user = { username: 'mara\u001b[31m' };
  const body = { occurred_at: '2026-03-01T11:00:00.000Z', user, session: { session_id: SESSION } };
  return { id, event_id: EVENT_ID, event_type: 'session.failed', body: JSON.stringify(body) };
}

const page = (ids: readonly number[], next: number) => ({
  items: ids.map(anEvent),
  next_after_id: next,
  has_more: false,
});
/** The path of a request: the first is never held. */
const after = (id: number | null, wait = 25) =>
  `GET ${EVENTS}?${id === null ? '' : `after_id=${id}&`}wait_seconds=${wait}`;
const held: Route = () => undefined;

function stateOf(state: string) {
  const directory = path.join(state, 'errand', 'listen');
  return readdirSync(directory).map((file) => JSON.parse(readFileSync(path.join(directory, file), 'utf8')).after_id);
}

/** Resolves when the position is kept. */
const kept = (state: string, position: number) => waitFor(() => stateOf(state).join() === String(position));

async function receiver(statuses: readonly number[]) {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString());
      response.writeHead(statuses[bodies.length - 1] ?? 200).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, bodies };
}

test('a new name begins with now, and keeps its position after each event', async () => {
  const { dataDir } = await startFakeDaemon({
    [after(null, 0)]: () => page([], 7),
    [after(7)]: () => page([9], 9),
    [after(9)]: () => page([12], 20),
    [after(20)]: held,
  });
  const environment = { XDG_STATE_HOME: makeDirectory() };
  const listening = start(['webhooks', 'listen'], { dataDir, environment });
  await listening.until('\n2026-03-01T11:00:00.000Z');
  await kept(environment.XDG_STATE_HOME, 20);
  listening.signal('SIGINT');
  expect(await listening.code).toBe(130);
  expect(listening.stderr()).toContain('Listening as "default" from now on');
  expect(listening.stdout()).toBe(`2026-03-01T11:00:00.000Z session.failed mara ${SESSION}\n`.repeat(2));
});

test('a known name continues, with the filters of this time, as JSON lines', async () => {
  const query = 'event_type=session.failed&owner_scope=system&';
  const { dataDir } = await startFakeDaemon({
    [`GET ${EVENTS}?${query}wait_seconds=0`]: () => page([], 7),
    [`GET ${EVENTS}?after_id=7&${query}wait_seconds=0`]: () => page([9], 9),
    [`GET ${EVENTS}?after_id=7&${query}wait_seconds=25`]: held,
    [`GET ${EVENTS}?after_id=9&${query}wait_seconds=25`]: held,
  });
  const setting = { dataDir, environment: { XDG_STATE_HOME: makeDirectory() } };
  const args = ['webhooks', 'listen', '--name', 'dev', '--event', 'session.failed', '--system', '-o', 'json'];
  const first = start(args, setting);
  await first.until('from now on');
  await kept(setting.environment.XDG_STATE_HOME, 7);
  first.signal('SIGINT');
  await first.code;
  const second = start(args, setting);
  await second.until(EVENT_ID);
  second.signal('SIGTERM');
  expect(await second.code).toBe(143);
  expect(second.stderr()).toContain('from event 7 on');
  expect(JSON.parse(second.stdout())).toEqual({ ...anEvent(9), forwarded: null });
});

test('too many listeners, a restart and a silence are waited out, and said once', async () => {
  let asked = 0;
  const { dataDir } = await startFakeDaemon({
    [after(null, 0)]: () => page([], 7),
    [after(7)]: (_received, response) => {
      asked += 1;
      if (asked === 1) return refuse(response, 429, 'Too many.');
      if (asked === 2) return void response.destroy();
      return page([9], 9);
    },
    [after(9)]: held,
  });
  const listening = start(['webhooks', 'listen'], { dataDir, environment: { XDG_STATE_HOME: makeDirectory() } });
  await listening.until(SESSION);
  listening.signal('SIGINT');
  await listening.code;
  const notes = listening.stderr().split('\n');
  expect(notes.filter((note) => /trying again|answers again/.test(note))).toEqual([
    'The daemon does not answer; trying again.',
    'The daemon answers again.',
  ]);
});

test('a journal that ends before the position is reported, and listened to from its end on', async () => {
  const { dataDir } = await startFakeDaemon({
    [after(null, 0)]: () => page([], 70),
    [after(70)]: held,
    [after(70, 0)]: () => page([], 3),
    [after(3)]: held,
  });
  const setting = { dataDir, environment: { XDG_STATE_HOME: makeDirectory() } };
  for (const [words, position] of [
    ['from now on', 70],
    ['may have been restored', 3],
  ] as const) {
    const listening = start(['webhooks', 'listen'], setting);
    await listening.until(words);
    await kept(setting.environment.XDG_STATE_HOME, position);
    listening.signal('SIGINT');
    await listening.code;
  }
});

test('each answer of the receiver is shown, and a failure does not stop what follows', async () => {
  const { url, bodies } = await receiver([200, 500]);
  const { dataDir } = await startFakeDaemon({
    [after(null, 0)]: () => page([8, 9], 9),
    [after(9)]: held,
  });
  const setting = { dataDir, environment: { XDG_STATE_HOME: makeDirectory() } };
  const listening = start(['webhooks', 'listen', '--forward-to', url, '--body'], setting);
  await listening.until('The receiver replied with status 500.');
  await kept(setting.environment.XDG_STATE_HOME, 9);
  listening.signal('SIGINT');
  await listening.code;
  expect(listening.stderr()).toContain('nothing is signed');
  expect(listening.stdout()).toMatch(/→ 200 in \d+ ms\n.*→ 500 in \d+ ms: The receiver/s);
  expect(listening.stdout()).toContain('\n  "occurred_at": ');
  expect(bodies).toEqual([anEvent(8).body, anEvent(9).body]);
});

test.each([
  ['a damaged position', (file: string) => writeFileSync(file, '{"after_id":'), 1, 'is damaged'],
  ['a position that is a directory', (file: string) => mkdirSync(file), 1, "can't be read"],
] as const)('%s is an error, and not a new beginning', async (_name, damage, code, words) => {
  const { dataDir, received } = await startFakeDaemon({ [after(null, 0)]: () => page([], 7), [after(7)]: held });
  const setting = { dataDir, environment: { XDG_STATE_HOME: makeDirectory() } };
  const listening = start(['webhooks', 'listen'], setting);
  await listening.until('from now on');
  const directory = path.join(setting.environment.XDG_STATE_HOME, 'errand', 'listen');
  await kept(setting.environment.XDG_STATE_HOME, 7);
  listening.signal('SIGINT');
  await listening.code;
  const file = path.join(directory, readdirSync(directory)[0]!);
  rmSync(file);
  damage(file);
  const before = received.length;
  expect(await run(['webhooks', 'listen'], setting)).toMatchObject({ code, stderr: expect.stringContaining(words) });
  expect(received).toHaveLength(before);
});

test.each([
  [['--name', '../x'], 2, 'letters, digits'],
  [['--forward-to', 'localhost:1'], 2, 'absolute http'],
  [['--event', 'x'], 2, 'Allowed choices'],
] as const)('listen %j is refused', async (flags, code, words) => {
  const { dataDir } = await startFakeDaemon({});
  const setting = { dataDir, environment: { XDG_STATE_HOME: makeDirectory() } };
  const ended = await run(['webhooks', 'listen', ...flags], setting);
  expect(ended).toMatchObject({ code, stderr: expect.stringContaining(words) });
});

test('without a directory for the position, it says which variables to set', async () => {
  const { dataDir } = await startFakeDaemon({});
  expect(await run(['webhooks', 'listen'], { dataDir })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('XDG_STATE_HOME'),
  });
});

test('a triggered event is printed, or posted to an address and its answer shown', async () => {
  const { url, bodies } = await receiver([200, 410]);
  const { id: _id, ...sample } = anEvent(1);
  const { dataDir } = await startFakeDaemon({
    [`GET ${EVENTS}/sample?event_type=session.failed&session_id=${SESSION}`]: () => sample,
  });
  const args = ['webhooks', 'trigger', 'session.failed', '--session', SESSION];
  expect(await run(args, { dataDir })).toMatchObject({ code: 0, stdout: `${sample.body}\n` });
  const posted = await run([...args, '--to', url, '--print-request'], { dataDir });
  expect(posted).toMatchObject({ code: 0, stdout: expect.stringContaining('status_code\t200\n') });
  expect(posted.stdout).toContain(`\n${sample.body}\n`);
  const refused = await run([...args, '--to', url, '-o', 'json'], { dataDir });
  expect([refused.code, refused.stderr, JSON.parse(refused.stdout)]).toMatchObject([8, '', { status_code: 410 }]);
  expect(bodies).toEqual([sample.body, sample.body]);
});

test('an event that is triggered for a webhook is its test event', async () => {
  const { dataDir, received } = await startFakeDaemon({
    'GET /api/v1/webhooks/3': (_received, response) => refuse(response, 404, 'Gone.'),
  });
  expect((await run(['webhooks', 'trigger', 'session.failed', '--to', '3'], { dataDir })).code).toBe(5);
  expect(received.map(({ path }) => path)).toEqual(['/api/v1/webhooks/3']);
});

test('verify exits with 0 or 8, and says what does not fit', async () => {
  const file = path.join(makeDirectory(), 'secret');
  writeFileSync(file, `${SECRET}\n`);
  const body = Buffer.from('{"a":1}');
  const headers = signatureHeaders({ eventId: EVENT_ID, body, at: NOW }, { current: SECRET, previous: null });
  const verify = (flags: readonly string[], stdin = body.toString()) =>
    run(['webhooks', 'verify', '--secret-file', file, ...flags], { stdin });
  const service = ['--timestamp', '2026-03-01T12:00:00.000Z', '--signature', headers['X-Service-Signature']!];
  const standard = ['--timestamp', headers['webhook-timestamp']!, '--signature', headers['webhook-signature']!];
  for (const flags of [service, [...standard, '--id', EVENT_ID]]) expect((await verify(flags)).code).toBe(0);
  const wrong = await verify(service, '{"a":1}\n');
  expect(wrong).toMatchObject({ code: 8, stderr: 'errand: What does not fit: signature.\n' });
  expect(wrong.stdout).toContain('line break at its end');
  const json = await verify([...standard, '-o', 'json']);
  expect([json.code, json.stderr]).toEqual([8, '']);
  expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, checks: expect.any(Array) });
});
