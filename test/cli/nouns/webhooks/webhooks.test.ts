// `errand webhooks`: what it asks for, what it prints, and how it ends.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import type { FilteredReason } from '../../../../src/domain/webhooks/webhook-filter.ts';
import type { DeliveryRecordWire, WebhookTestResultWire } from '../../../../src/wire/webhooks/delivery.ts';
import type { WebhookWire } from '../../../../src/wire/webhooks/webhook.ts';
import { makeDirectory, type Route, run, startFakeDaemon } from '../../outside.ts';

const SESSION = '0190f6a0-0000-7000-8000-000000000009';
const PROJECT = '0190f6a0-0000-4000-8000-00000000000a';
const OTHER_PROJECT = '0190f6a0-0000-4000-8000-00000000000b';
const EVENT_ID = '0190f6a0-0000-8000-8000-00000000000e';
const AT = '2026-03-01T11:59:59.500Z';
const BODY = '{"title":"Fähre \'N\' Co. 🛳"}';
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

const HOOK: WebhookWire = {
  id: 3,
  name: 'ledger',
  url: 'https://ledger.example:8443/hook?a=1',
  events: ['session.completed'],
  scope: 'global',
  project_id: null,
  session_kinds: null,
  has_secret: true,
  timeout_ms: 10_000,
  retry_count: 7,
  retry_backoff_ms: 5_000,
  enabled: true,
  owner_scope: 'user',
  username: 'mara',
  created_at: AT,
  updated_at: AT,
  disabled_reason: null,
  failing_since: null,
  last_success_at: null,
};

const TESTED: WebhookTestResultWire = {
  delivered: true,
  matched: true,
  filtered_reason: null,
  tested_session_id: SESSION,
  tested_session_kind: 'chat',
  tested_project_id: null,
  event_id: EVENT_ID,
  status_code: 204,
  duration_ms: 12,
  error: null,
  response_excerpt: null,
};

const SENT: DeliveryRecordWire = {
  id: 41,
  webhook_id: 3,
  event_id: EVENT_ID,
  event_type: 'session.completed',
  session_id: SESSION,
  is_test: true,
  state: 'delivered',
  attempt_count: 1,
  next_attempt_at: null,
  last_status_code: 204,
  last_error: null,
  created_at: AT,
  delivered_at: AT,
  attempts: [{ no: 1, at: AT, status_code: 204, duration_ms: 12, error: null, response_excerpt: null }],
  body: BODY,
};

function secretFile(text = `${SECRET}\n`): string {
  const file = path.join(makeDirectory(), 'secret');
  writeFileSync(file, text);
  return file;
}

/** A daemon whose webhook 3 is as given, and whose test ends so. */
async function testedDaemon(over: Partial<WebhookTestResultWire> = {}, hook: Partial<WebhookWire> = {}) {
  return startFakeDaemon({
    'GET /api/v1/webhooks/3': () => ({ ...HOOK, ...hook }),
    'POST /api/v1/webhooks/3/test': () => ({ ...TESTED, ...over }),
    [`GET /api/v1/ids/sessions/0190f6a0-0000-7`]: () => ({ id: SESSION }),
    [`GET /api/v1/webhook-deliveries?webhook_id=3&event_id=${EVENT_ID}`]: () => ({ items: [SENT], total: 1 }),
    'GET /api/v1/webhook-deliveries/41': () => SENT,
  });
}

const TEST = ['webhooks', 'test', '3', '--event', 'session.completed'];

test.each([
  ['what its options say', ['--session-kind', 'api', '--timeout', '500ms', '--backoff', '30s'], [500, 30_000]],
  ['their earlier names', ['--kind', 'api', '--timeout-ms', '500', '--backoff-ms', '100'], [500, 100]],
])(
  'a webhook is created with %s, and its generated secret is shown once',
  { tags: ['K7-webhooks'] },
  async (_name, pace, [timeout, backoff]) => {
    const { dataDir, received } = await startFakeDaemon({ 'POST /api/v1/webhooks': () => HOOK });
    const flags = ['--event', 'session.completed', '--event', 'session.failed', '--project', PROJECT];
    const patience = [...pace, '--retries', '0', '--disabled', '--user', 'mara'];
    const args = ['webhooks', 'create', 'ledger', HOOK.url, ...flags, ...patience, '--generate-secret'];
    const { code, stdout, stderr } = await run([...args, '-o', 'json'], { dataDir });
    const { secret, ...webhook } = JSON.parse(stdout);
    expect([code, webhook]).toEqual([0, HOOK]);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(stderr).toContain('shown only now');
    expect(stderr).toContain('webhooks test 3 --event session.completed');
    expect(received.at(-1)?.body).toEqual({
      name: 'ledger',
      url: HOOK.url,
      events: ['session.completed', 'session.failed'],
      session_kinds: ['api'],
      scope: 'project',
      project_id: PROJECT,
      timeout_ms: timeout,
      retry_count: 0,
      retry_backoff_ms: backoff,
      enabled: false,
      user: 'mara',
      secret,
    });
  },
);

test('a secret comes from a file, and is never printed', async () => {
  const { dataDir, received } = await startFakeDaemon({ 'POST /api/v1/webhooks': () => HOOK });
  const args = ['webhooks', 'create', 'ops', HOOK.url, '--system', '--event', 'all', '--secret-file', secretFile()];
  const { code, stdout, stderr } = await run(args, { dataDir });
  expect(code).toBe(0);
  expect(stdout + stderr).not.toContain(SECRET);
  expect(received.at(-1)?.body).toMatchObject({ owner_scope: 'system', secret: SECRET });
  expect((received.at(-1)!.body as WebhookWire).events).toHaveLength(10);
});

test.each([
  ['no event', ['create', 'x', HOOK.url], '--event'],
  ['an unknown event', ['create', 'x', HOOK.url, '--event', 'x'], 'Allowed choices are'],
  [
    'a secret of two kinds',
    ['create', 'x', HOOK.url, '--event', 'all', '--generate-secret', '--secret-file', '/x'],
    'either',
  ],
  ['no such secret file', ['create', 'x', HOOK.url, '--event', 'all', '--secret-file', '/none'], 'cannot be read'],
  ['nothing to change', ['set', '3'], 'at least one field'],
  ['a timeout without a unit', ['set', '3', '--timeout', '500'], 'a duration from 100ms to 30s, such as 500ms or 10s'],
  ['a pause over the limit', ['set', '3', '--backoff', '61m'], 'a duration from 100ms to 1h'],
  ['a pause under two names', ['set', '3', '--backoff', '1s', '--backoff-ms', '100'], 'cannot be used with'],
  ['an id that is none', ['show', 'x'], 'It must be a number from 1'],
  ['a rotation to nothing', ['rotate-secret', '3'], '--generate-secret'],
  ['a deletion without a terminal', ['delete', '3'], '--yes'],
])('%s is a usage error', { tags: ['K7-webhooks'] }, async (_name, args, words) => {
  const { dataDir } = await startFakeDaemon({ 'GET /api/v1/webhooks/3': () => HOOK });
  expect(await run(['webhooks', ...args], { dataDir })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(words),
  });
});

test.each([
  ['empty', ''],
  ['too short', 'too short'],
  ['too long', 'x'.repeat(1_025)],
  ['far too long', 'x'.repeat(100_000)],
  ['of two lines', 'two lines of a\nsecret that is long enough'],
])('a file that is %s is no secret', async (_name, text) => {
  const { dataDir, received } = await startFakeDaemon({});
  const args = ['webhooks', 'rotate-secret', '3', '--secret-file', secretFile(text)];
  expect(await run(args, { dataDir })).toMatchObject({ code: 2, stderr: expect.stringContaining('16 to 1024 bytes') });
  expect(received).toEqual([]);
});

test('a list is asked for page by page, and says what is left', async () => {
  const path = '/api/v1/webhooks?owner_scope=user&enabled=false&limit=1&offset=2';
  const off: WebhookWire = { ...HOOK, enabled: false };
  const { dataDir } = await startFakeDaemon({ [`GET ${path}`]: () => ({ items: [off], total: 9 }) });
  const flags = ['--owner-scope', 'user', '--disabled', '--limit', '1', '--offset', '2'];
  const { code, stdout, stderr } = await run(['webhooks', 'list', ...flags], { dataDir });
  expect([code, stderr]).toEqual([0, '1 of 9 webhooks.\n']);
  expect(stdout).toBe(`3\tdisabled\tledger\tmara\tsession.completed\t\t${HOOK.url}\n`);
});

test.each<readonly [readonly string[], unknown]>([
  [
    ['set', '3', '--name', 'n', '--kind', 'all', '--project', 'none'],
    { name: 'n', session_kinds: null, scope: 'global' },
  ],
  [['set', '3', '--to', 'http://x.example', '--event', 'all'], { url: 'http://x.example', events: expect.any(Array) }],
  [['enable', '3'], { enabled: true }],
  [['disable', '3'], { enabled: false }],
  [['rotate-secret', '3', '--remove'], { secret: null }],
])('%j changes just that', { tags: ['K7-deliveries'] }, async (args, body) => {
  const { dataDir, received } = await startFakeDaemon({ 'PATCH /api/v1/webhooks/3': () => HOOK });
  expect((await run(['webhooks', ...args], { dataDir })).code).toBe(0);
  expect(received.at(-1)?.body).toEqual(body);
});

test('a rotation says that both secrets sign', { tags: ['K7-deliveries'] }, async () => {
  const { dataDir, received } = await startFakeDaemon({ 'PATCH /api/v1/webhooks/3': () => HOOK });
  const { stdout, stderr } = await run(['webhooks', 'rotate-secret', '3', '--generate-secret'], { dataDir });
  expect(stderr).toContain('24 hours');
  expect(stdout).toContain((received.at(-1)!.body as { secret: string }).secret);
});

test('a deletion asks first', async () => {
  const { dataDir } = await startFakeDaemon({
    'GET /api/v1/webhooks/3': () => HOOK,
    'DELETE /api/v1/webhooks/3': () => ({ id: 3 }),
  });
  const terminal = { stdin: true, stderr: true };
  const no = await run(['webhooks', 'delete', '3'], { dataDir, terminal, stdin: 'n\n' });
  expect(no).toMatchObject({ code: 1, stderr: expect.stringContaining('Delete webhook 3 "ledger"') });
  const yes = await run(['webhooks', 'delete', '3', '--yes'], { dataDir });
  expect(yes).toMatchObject({ code: 0, stdout: 'id\t3\n' });
});

test('a test event for a session, given by the start of its id, shows what was sent', async () => {
  const { dataDir, received } = await testedDaemon();
  const { code, stdout } = await run([...TEST, '--session', '0190f6a0-0000-7'], { dataDir });
  expect(code).toBe(0);
  expect(received.find(({ method }) => method === 'POST')?.body).toEqual({
    event_type: 'session.completed',
    session_id: SESSION,
  });
  expect(stdout).toContain(`delivered\ttrue\n`);
  expect(stdout).toContain(`url\t${HOOK.url}\n`);
  expect(stdout).toContain('delivery_id\t41\n');
  expect(stdout).toContain(BODY);
});

const HELD: readonly (readonly [FilteredReason, Partial<WebhookWire>, Partial<WebhookTestResultWire>, string])[] = [
  ['disabled', { enabled: false }, {}, 'errand webhooks enable 3'],
  ['disabled', {}, {}, 'errand users enable mara'],
  ['event_type_filtered', { events: ['session.failed'] }, {}, 'set 3 --event session.failed --event session.completed'],
  [
    'session_kind_filtered',
    { session_kinds: ['api'] },
    {},
    'errand webhooks set 3 --session-kind api --session-kind chat',
  ],
  ['session_project_missing', { project_id: PROJECT }, {}, 'errand webhooks set 3 --project none'],
  [
    'project_mismatch',
    { project_id: PROJECT },
    { tested_project_id: OTHER_PROJECT },
    `errand webhooks set 3 --project ${OTHER_PROJECT}`,
  ],
];

test.each(HELD)('held back by %s, it says the command that lets it pass: %j', async (reason, hook, over, command) => {
  const held = { delivered: false, matched: false, filtered_reason: reason, event_id: null, status_code: null };
  const { dataDir } = await testedDaemon({ ...held, ...over }, hook);
  const { code, stdout, stderr } = await run(TEST, { dataDir });
  expect(code).toBe(8);
  expect(stderr).toContain('Nothing was sent: ');
  expect(stderr).toContain(command);
  expect(stdout).toContain(`filtered_reason\t${reason}\n`);
  const json = await run([...TEST, '-o', 'json'], { dataDir });
  expect([json.code, json.stderr, JSON.parse(json.stdout).filtered_reason]).toEqual([8, '', reason]);
});

test('a receiver that refuses ends it with 8 and its error', async () => {
  const error = 'The receiver replied with status 500.';
  const { dataDir } = await testedDaemon({ delivered: false, status_code: 500, error });
  expect(await run(TEST, { dataDir })).toMatchObject({ code: 8, stderr: expect.stringContaining(error) });
});

test('the printed request is what the receiver verified, byte for byte', async () => {
  const { dataDir } = await testedDaemon();
  const file = secretFile();
  const { stdout, stderr } = await run([...TEST, '--print-request', '--secret-file', file], { dataDir });
  const { request } = JSON.parse(
    (await run([...TEST, '--print-request', '--secret-file', file, '-o', 'json'], { dataDir })).stdout,
  );
  expect(request.headers).toMatchObject({
    Host: 'ledger.example:8443',
    'Content-Length': String(Buffer.byteLength(BODY)),
    'X-Service-Event': 'session.completed',
    'X-Service-Timestamp': AT,
  });
  const head = Object.entries(request.headers).map(([name, value]) => `${name}: ${String(value)}\n`);
  expect(stdout).toContain(`POST /hook?a=1 HTTP/1.1\n${head.join('')}\n${BODY}\n`);
  expect(stdout).toContain(`${AT}.${BODY}\n`);
  expect(stdout).toContain(`${EVENT_ID}.${Math.floor(Date.parse(AT) / 1_000)}.${BODY}\n`);
  expect(stdout).not.toContain(SECRET);
  expect(stderr).toContain('five minutes');
  // Its own clock decides, so the library gets only what does not age.
  expect(request.headers['webhook-signature']).toBe(new Webhook(SECRET).sign(EVENT_ID, new Date(AT), BODY));
});

test('the printed line for curl is one command of a POSIX shell', async () => {
  const { execFileSync } = await import('node:child_process');
  const { dataDir } = await testedDaemon();
  const { stdout } = await run([...TEST, '--print-request', '-o', 'json'], { dataDir });
  const { request } = JSON.parse(stdout);
  const words = execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }; ${request.curl}`])
    .toString()
    .split('\0');
  expect(words[0]).toBe(HOOK.url);
  expect(words).toContain(`X-Service-Event-Id: ${EVENT_ID}`);
  expect(words[words.indexOf('--data-binary') + 1]).toBe(BODY);
});

test('without the secret there are no signatures, and it says how to see them', async () => {
  const { dataDir } = await testedDaemon();
  const { stdout, stderr } = await run([...TEST, '--print-request'], { dataDir });
  expect(stdout).not.toContain('X-Service-Signature: ');
  expect(stderr).toContain('--secret-file');
});

const ROUTES: Readonly<Record<string, Route>> = {
  'GET /api/v1/webhook-deliveries/41': () => SENT,
  'GET /api/v1/webhooks/3': () => HOOK,
};

test('a delivery is shown with its attempts and its body', async () => {
  const { dataDir } = await startFakeDaemon(ROUTES);
  const { stdout } = await run(['deliveries', 'show', '41'], { dataDir });
  expect(stdout).toContain('state\tdelivered\n');
  expect(stdout).toContain(`1\t${AT}\t204\t12\t\t\n`);
  expect(stdout).toContain(BODY);
  expect(await run(['deliveries', 'show', '41', '--body'], { dataDir })).toMatchObject({ code: 0, stdout: BODY });
  const json = await run(['deliveries', 'show', '41', '-o', 'json'], { dataDir });
  expect(JSON.parse(json.stdout)).toEqual(SENT);
});

test('what a deleted session has left of a delivery has no body', async () => {
  const { dataDir } = await startFakeDaemon({
    ...ROUTES,
    'GET /api/v1/webhook-deliveries/41': () => ({ ...SENT, body: null }),
  });
  for (const flag of ['--body', '--print-request'])
    expect(await run(['deliveries', 'show', '41', flag], { dataDir })).toMatchObject({ code: 6, stdout: '' });
  expect((await run(['deliveries', 'show', '41'], { dataDir })).code).toBe(0);
});

test('deliveries are asked for with their filters, of one webhook or of all', { tags: ['K7-deliveries'] }, async () => {
  const query = `webhook_id=3&event_type=session.failed&event_id=${EVENT_ID}&state=failed&since=2026-02-28T12%3A00%3A00.000Z&until=2026-03-01&limit=1&offset=5`;
  const { dataDir } = await startFakeDaemon({
    [`GET /api/v1/webhook-deliveries?${query}`]: () => ({ items: [SENT], total: 7 }),
  });
  const flags = ['--event', 'session.failed', '--event-id', EVENT_ID, '--state', 'failed', '--since', '24h'];
  const rest = ['--until', '2026-03-01', '--limit', '1', '--offset', '5'];
  for (const verb of [
    ['webhooks', 'deliveries', '3'],
    ['deliveries', 'list', '--webhook', '3'],
  ]) {
    const { code, stdout, stderr } = await run([...verb, ...flags, ...rest], { dataDir });
    expect([code, stderr]).toEqual([0, '1 of 7 deliveries.\n']);
    expect(stdout).toContain(`41\tdelivered\t3\tsession.completed\t${SESSION}`);
  }
});

test('a redelivery that is waited for ends as its attempt did', async () => {
  let looks = 0;
  const { dataDir } = await startFakeDaemon({
    'POST /api/v1/webhook-deliveries/41/redeliver': () => ({ ...SENT, state: 'pending' }),
    'GET /api/v1/webhook-deliveries/41': () => {
      looks += 1;
      return looks === 1 ? { ...SENT, state: 'pending' } : { ...SENT, state: 'failed', last_error: 'It is closed.' };
    },
  });
  const { code, stderr } = await run(['deliveries', 'redeliver', '41', '--wait'], { dataDir });
  expect(code).toBe(8);
  expect(stderr).toContain('Sending delivery 41 again…');
  expect(stderr).toContain('It is closed.');
});

test('all of a webhook since a time, and all of an event, are sent again', async () => {
  const { dataDir, received } = await startFakeDaemon({
    'POST /api/v1/webhook-deliveries/redeliver': () => ({ count: 2 }),
    [`GET /api/v1/webhook-deliveries?event_id=${EVENT_ID}&limit=500`]: () => ({
      items: [SENT, { ...SENT, id: 42, state: 'pending' }],
      total: 2,
    }),
    'POST /api/v1/webhook-deliveries/41/redeliver': () => SENT,
  });
  const some = ['deliveries', 'redeliver', '--webhook', '3', '--since', '24h', '--state', 'canceled'];
  expect((await run(some, { dataDir })).stdout).toBe('2 deliveries will be sent again.\n');
  expect(received.at(-1)?.body).toEqual({ webhook_id: 3, since: '2026-02-28T12:00:00.000Z', state: 'canceled' });
  const event = await run(['deliveries', 'redeliver', '--event-id', EVENT_ID, '-o', 'json'], { dataDir });
  expect(JSON.parse(event.stdout)).toEqual({ count: 1 });
});

test.each([[[]], [['41', '--webhook', '3']], [['--webhook', '3']], [['--state', 'failed']]])(
  'redeliver %j names nothing to deliver',
  async (args) => {
    const { dataDir, received } = await startFakeDaemon({});
    expect((await run(['deliveries', 'redeliver', ...args], { dataDir })).code).toBe(2);
    expect(received).toEqual([]);
  },
);
