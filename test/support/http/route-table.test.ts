import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { holdEvents, holdReply } from './route-table.ts';

const HEALTH = { method: 'GET', path: '/healthz', status: 200, json: { status: 'ok' } };
const REFUSAL = { error: { type: 'not_found_error', message: 'No.' }, type: 'error' };

test('a reply that is as its route says passes', () => {
  holdReply(HEALTH);
  holdReply({ method: 'GET', path: '/openapi/v1/sessions/x/messages', status: 404, json: REFUSAL });
});

test.each([
  [
    'a field that the shape lacks',
    { ...HEALTH, json: { status: 'ok', more: 1 } },
    'fields that its shape does not have',
  ],
  ['another value', { ...HEALTH, json: { status: 'fine' } }, 'status: must be "ok"'],
  ['the envelope where there is none', { ...HEALTH, json: { code: 0, message: 'ok', data: {} } }, 'status: must be'],
  ['the error of another interface', { ...HEALTH, path: '/api/v1/x', status: 404, json: REFUSAL }, 'code: must be'],
  ['a status that the route does not have', { ...HEALTH, status: 201 }, 'type: must be one of error'],
])('%s does not', (_what, reply, words) => {
  expect(() => holdReply(reply)).toThrow(words);
});

test('an event that its route does not have is found in a stream', () => {
  const stream = { method: 'GET', path: '/openapi/v1/runs/x/stream' };
  const stop = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
  holdEvents({ ...stream, text: `${stop}: ping\n\ndata: [DONE]\n\n` });
  expect(() => holdEvents({ ...stream, text: `${stop}data: {"type":"odd"}\n\n` })).toThrow('sent an event');
  expect(() => holdEvents({ ...stream, path: '/healthz', text: stop })).toThrow('its line has none');
});

test('what a test fetches from a daemon is held, and nothing else', async () => {
  const server = createServer((req, res) => {
    if (req.url === '/healthz') res.setHeader('X-Request-Id', '1');
    res.setHeader('Content-Type', 'application/json').end('{"status":"odd"}');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow('GET /healthz replied 200');
  expect(await (await fetch(`http://127.0.0.1:${port}/other`)).json()).toEqual({ status: 'odd' });
});
