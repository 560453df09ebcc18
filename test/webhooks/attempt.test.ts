// One attempt: what the receiver gets, and what is recorded of what it replies.
import type { RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { EGRESS_PURPOSES, type EgressRule } from '../../src/domain/egress.ts';
import { makeGuardedPool } from '../../src/outbound/guarded-pool.ts';
import { attempt, type WebhookRequest } from '../../src/webhooks/attempt.ts';
import { type Certificate, makeCertificate } from '../support/http/certificates.ts';
import { startWebServer } from '../support/http/web-server.ts';
import { fakeClock } from '../support/time/fake-clock.ts';
import { waitFor } from '../support/time/wait-for.ts';

const LOOPBACK: EgressRule = { cidr: '127.0.0.0/8', host: null, ports: null, for: EGRESS_PURPOSES };
const SECRET = `whsec_${Buffer.from('thirty-two bytes that nobody has').toString('base64')}`;
const BODY = '{"title":"Grüße \\u2028 👩‍🚀"}';
const DAY_MS = 86_400_000;

/** Sends attempts to this machine, whatever the name. */
function openSender(clock = fakeClock()) {
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  const pool = makeGuardedPool({
    policy: () => ({ purpose: 'webhook', allow: [LOOPBACK], resolve }),
    maxIdle: 4,
    clock,
  });
  onTestFinished(pool.close);
  const send = (url: string, over: Partial<WebhookRequest> = {}) =>
    attempt(
      { pool, clock },
      { url, eventType: 'session.completed', eventId: 'e-1', body: BODY, secrets: null, timeoutMs: 10_000, ...over },
    );
  return { clock, send };
}

/** Sends one attempt to a receiver that replies with a body. */
async function replyWith(handler: RequestListener, over: Partial<WebhookRequest> = {}) {
  const server = await startWebServer(handler);
  return openSender().send(server.url, over);
}

test('a receiver gets the exact bytes, and the headers of the specification', {
  tags: ['§5-rule-6', '§6.3-headers', 'H6'],
}, async () => {
  const bodies: Buffer[] = [];
  const names: string[] = [];
  const server = await startWebServer((req, res) => {
    names.push(...req.rawHeaders.filter((_, index) => index % 2 === 0));
    req.on('data', (piece: Buffer) => bodies.push(piece)).on('end', () => res.end());
  });
  const { clock, send } = openSender(fakeClock(Date.now()));
  const result = await send(`${server.url}/hook?a=b`, { secrets: { current: SECRET, previous: null } });
  expect(result).toEqual({
    at: clock.now(),
    statusCode: 200,
    durationMs: 0,
    error: null,
    responseExcerpt: null,
    retryAfterMs: null,
  });
  const [hit] = server.hits;
  expect(hit).toMatchObject({
    method: 'POST',
    path: '/hook?a=b',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Errand/1.0',
      'x-service-event': 'session.completed',
      'x-service-event-id': 'e-1',
      'x-service-timestamp': new Date(clock.now()).toISOString(),
      'x-service-signature': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
    },
  });
  expect(names).toEqual(
    expect.arrayContaining([
      'Content-Type',
      'User-Agent',
      'X-Service-Event',
      'X-Service-Event-Id',
      'X-Service-Signature',
    ]),
  );
  const body = Buffer.concat(bodies);
  expect(body.toString()).toBe(BODY);
  expect(new Webhook(SECRET).verify(body, hit!.headers as Record<string, string>)).toEqual(JSON.parse(BODY));
});

test('each attempt has a time and a signature of its own', async () => {
  const server = await startWebServer();
  const { clock, send } = openSender();
  const secrets = { current: SECRET, previous: null };
  await send(server.url, { secrets });
  clock.advance(1_000);
  await send(server.url, { secrets });
  const [first, second] = server.hits.map(({ headers }) => headers);
  expect(second!['x-service-timestamp']).not.toBe(first!['x-service-timestamp']);
  expect(second!['x-service-signature']).not.toBe(first!['x-service-signature']);
  expect(second!['webhook-id']).toBe(first!['webhook-id']);
});

test.each([
  [200, null],
  [204, null],
  [299, null],
  [302, 'The receiver redirects with status 302; redirects are not followed.'],
  [404, 'The receiver replied with status 404.'],
  [410, 'The receiver replied with status 410.'],
  [503, 'The receiver replied with status 503.'],
])('a reply of status %i has the error %s', { tags: ['H3-retries'] }, async (statusCode, error) => {
  const result = await replyWith((_req, res) => void res.writeHead(statusCode, { location: '/elsewhere' }).end());
  expect(result).toMatchObject({ statusCode, error });
});

test('a reply that does not come in time is a failure', async () => {
  const clock = fakeClock();
  let hits = 0;
  const server = await startWebServer(() => void (hits += 1));
  const { send } = openSender(clock);
  const result = send(server.url, { timeoutMs: 1_500 });
  await waitFor(() => hits === 1);
  clock.advance(1_500);
  expect(await result).toMatchObject({
    statusCode: null,
    durationMs: 1_500,
    error: `No reply from 127.0.0.1:${server.port} within 1.5 s.`,
  });
});

test('a reply of status 200 that breaks off is a failure', async () => {
  const result = await replyWith((_req, res) => {
    res.writeHead(200, { 'content-length': '9' }).write('abc');
    res.socket!.destroySoon();
  });
  expect(result).toMatchObject({ statusCode: 200, error: expect.stringMatching(/broke off/), responseExcerpt: 'abc' });
});

test('a reply of 10 MB of status 200 is a success, and 1 KB of it is kept', { tags: ['H3-replies'] }, async () => {
  const result = await replyWith((_req, res) => void res.end('é'.repeat(5_000_000)));
  expect(result).toMatchObject({ statusCode: 200, error: null });
  expect(Buffer.byteLength(result.responseExcerpt!)).toBe(1_024);
});

test.each([
  ['text', 'no room', 'no room'],
  ['white space alone', ' \r\n\t ', null],
  ['control characters', 'a\0b\x1b[31mc\x07\r\nd\u202ee', 'abc\nde'],
  ['bytes that are not UTF-8', Buffer.from([0x61, 0xff, 0xfe, 0x62]), 'a\ufffd\ufffdb'],
  ['half a character', Buffer.from('é').subarray(0, 1), '\ufffd'],
])('of a body of %s, safe text is kept', async (_, body, responseExcerpt) => {
  const result = await replyWith((_req, res) => void res.writeHead(500).end(body));
  expect(result).toMatchObject({ responseExcerpt });
});

test('of a compressed body nothing is kept', async () => {
  const bomb = gzipSync(Buffer.alloc(10_000_000));
  const result = await replyWith((_req, res) => void res.setHeader('content-encoding', 'gzip').end(bomb));
  expect(result).toMatchObject({ statusCode: 200, error: null, responseExcerpt: null });
});

const HIDDEN = SECRET.replace('whsec_', '');

test.each([
  ['as it is', SECRET],
  ['without its prefix', HIDDEN],
  ['split by control characters', `${SECRET.slice(0, 9)}\0\x1b[0m${SECRET.slice(9)}`],
  ['in Base64', Buffer.from(`x${SECRET}`).toString('base64')],
  ['at the end of what is kept', `${'x'.repeat(1_000)}${SECRET}${'x'.repeat(100_000)}`],
  ['at the end of what is searched', `${'x'.repeat(16 * 1_024 - 20)}${SECRET}${'x'.repeat(100_000)}`],
])('a receiver that repeats the secret %s does not put it into the record', async (_, body) => {
  const secrets = { current: 'another secret of a rotation', previous: SECRET };
  const { responseExcerpt } = await replyWith((_req, res) => void res.end(body), { secrets });
  for (let at = 0; at + 12 <= HIDDEN.length; at += 1) expect(responseExcerpt).not.toContain(HIDDEN.slice(at, at + 12));
  expect(Buffer.byteLength(responseExcerpt!)).toBeLessThanOrEqual(1_024);
});

test.each([
  ['120', 120_000],
  ['604800', 604_800_000],
  ['Sun, 01 Mar 2026 12:01:00 GMT', 60_000],
  ['Sun, 01 Mar 2026 11:59:00 GMT', null],
  ['-5', null],
  ['soon', null],
  ['1e9', null],
  ['99999999999999999999', null],
])('Retry-After: %s is a wait of %s ms', async (value, retryAfterMs) => {
  const result = await replyWith((_req, res) => void res.writeHead(503, { 'retry-after': value }).end());
  expect(result).toMatchObject({ statusCode: 503, retryAfterMs });
});

const trusted = makeCertificate('Issuer of these tests');
const usual = getCACertificates('default');
beforeAll(() => setDefaultCACertificates([...usual, trusted.cert]));
afterAll(() => setDefaultCACertificates(usual));

async function startSecureServer({ cert, key }: Certificate): Promise<number> {
  const server = createSecureServer(
    { cert, key: key.export({ type: 'pkcs8', format: 'pem' }) },
    (_req, res) => void res.end(),
  );
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

const NAME = 'receiver.example';

test.each([
  ['a trusted certificate', makeCertificate(NAME, { issuer: trusted }), null],
  ['an expired certificate', makeCertificate(NAME, { issuer: trusted, until: Date.now() - DAY_MS / 2 }), /has expired/],
  ['a future certificate', makeCertificate(NAME, { issuer: trusted, from: Date.now() + DAY_MS / 2 }), /not valid yet/],
  ['a self-signed certificate', makeCertificate(NAME), /is self-signed/],
  ['the certificate of another name', makeCertificate('other.example', { issuer: trusted }), /is for another name/],
  [
    'an unknown issuer',
    makeCertificate(NAME, { issuer: makeCertificate('Unknown') }),
    /is issued by "Unknown", which is not trusted/,
  ],
] as const)('a receiver with %s', async (_, certificate, error) => {
  const port = await startSecureServer(certificate);
  const result = await openSender().send(`https://${NAME}:${port}/`);
  if (error === null) expect(result).toMatchObject({ statusCode: 200, error });
  else expect(result).toMatchObject({ statusCode: null, error: expect.stringMatching(error) });
});

test('a receiver without TLS where TLS is expected', async () => {
  const { port } = await startWebServer();
  const result = await openSender().send(`https://127.0.0.1:${port}/`);
  expect(result).toMatchObject({ error: `The host 127.0.0.1:${port} does not complete a TLS handshake.` });
});
