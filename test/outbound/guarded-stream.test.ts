// The guarded `fetch` that streams: the same guard, nothing held back.
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import { EGRESS_PURPOSES, type EgressRule } from '../../src/domain/egress.ts';
import { guardedFetchFor } from '../../src/outbound/guarded-stream.ts';
import { watchLookUps } from '../../src/outbound/look-ups.ts';
import { startWebServer } from '../support/http/web-server.ts';

const LOOPBACK: EgressRule = { cidr: '127.0.0.0/8', host: null, ports: null, for: EGRESS_PURPOSES };
const guarded = guardedFetchFor(
  watchLookUps({
    purpose: 'mcp',
    allow: [LOOPBACK],
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  }),
);

test('a body can be read as it arrives, before its end', async () => {
  let finish: () => void = () => undefined;
  const server = await startWebServer((_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write('data: one\n\n');
    finish = () => res.end('data: two\n\n');
  });
  const answer = await guarded(server.url, { method: 'POST', body: '{}', headers: { accept: 'text/event-stream' } });
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader.read()).value).toBe('data: one\n\n');
  finish();
  expect((await reader.read()).value).toBe('data: two\n\n');
  expect((await reader.read()).done).toBe(true);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
});

const sentBack: RequestListener = (req, res) => {
  const pieces: Buffer[] = [];
  req.on('data', (piece: Buffer) => pieces.push(piece));
  req.on('end', () => res.end(Buffer.concat(pieces)));
};

test('text, bytes and forms are sent, and what it cannot send is said', async () => {
  const { url, hits } = await startWebServer(sentBack);
  const put = async (body: RequestInit['body']) => (await guarded(url, { method: 'PUT', body: body ?? null })).text();
  expect(await put('täxt')).toBe('täxt');
  expect(await put(Buffer.from('bytes'))).toBe('bytes');
  expect(await put(new URLSearchParams({ a: 'b c' }))).toBe('a=b+c');
  expect(hits.at(-1)?.headers['content-type']).toBe('application/x-www-form-urlencoded;charset=UTF-8');
  await expect(put(new Blob(['x']))).rejects.toThrow('text or bytes');
  await expect(guarded(new Request(url))).rejects.toThrow('address and options');
});

test('a redirect on one host is followed with all headers, to another one with none that may be a secret', async () => {
  const other = await startWebServer();
  const server = await startWebServer((req, res) => {
    const location = req.url === '/' ? '/next' : `http://other.example:${other.port}/`;
    res.writeHead(307, { location }).end();
  });
  const headers = {
    authorization: 'Bearer s',
    'x-secret': 's',
    'mcp-protocol-version': '1',
    'content-type': 'text/plain',
  };
  const answer = await guarded(server.url, { method: 'POST', body: 'hi', headers });
  expect([answer.status, answer.url]).toEqual([200, `http://other.example:${other.port}/`]);
  expect(server.hits[1]?.headers).toMatchObject(headers);
  expect(other.hits[0]).toMatchObject({ method: 'POST', headers: { 'mcp-protocol-version': '1' } });
  expect(other.hits[0]?.headers.authorization).toBeUndefined();
  expect(other.hits[0]?.headers['x-secret']).toBeUndefined();
});

test('redirects are left alone or refused when the caller says so, and a loop of them ends', async () => {
  const { url } = await startWebServer((_req, res) => void res.writeHead(302, { location: '/again' }).end());
  expect((await guarded(url, { redirect: 'manual' })).status).toBe(302);
  await expect(guarded(url, { redirect: 'error' })).rejects.toMatchObject({ kind: 'too_many_redirects' });
  await expect(guarded(url)).rejects.toMatchObject({ kind: 'too_many_redirects' });
});

test('what cannot be reached is reported as such', async () => {
  const refused = guardedFetchFor(watchLookUps({ purpose: 'mcp', allow: [] }));
  const { url } = await startWebServer();
  await expect(refused(url)).rejects.toMatchObject({ name: 'EgressError', kind: 'refused' });
  const { port } = await startWebServer((req) => void req.socket.destroy());
  await expect(guarded(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ kind: 'unreachable' });
});

test("the caller's signal ends the request with its own reason, also while its body comes", async () => {
  const leaving = new AbortController();
  let closed: Promise<unknown> | undefined;
  const { url } = await startWebServer((_req, res) => {
    closed = once(res, 'close');
    res.write('abc');
  });
  const answer = await guarded(url, { signal: leaving.signal });
  leaving.abort(new Error('enough'));
  await expect(answer.text()).rejects.toThrow('enough');
  await closed;
  await expect(guarded(url, { signal: leaving.signal })).rejects.toThrow('enough');
});
