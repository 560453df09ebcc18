// MCP servers at an address as a run uses them: a real server on loopback, which an exception allows.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { EgressRule } from '../../../src/domain/egress.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { makeCertificate } from '../../support/http/certificates.ts';
import { startTlsFront } from '../../support/http/tls-front.ts';
import { httpServer, openRun } from '../../support/mcp/mcp-run.ts';
import { makeServerOf, startMcpHttp } from '../../support/mcp/mcp-http.ts';
// @ts-expect-error a module of plain JavaScript, which also runs in the sandbox
import { MENDED_TOOLS, SLOPPY_TOOLS } from '../../support/mcp/sloppy-tools.mjs';
import { waitFor } from '../../support/time/wait-for.ts';

const ALLOWED: readonly EgressRule[] = [{ cidr: '127.0.0.0/8', host: null, ports: null, for: ['mcp'] }];

async function startServer() {
  const server = await startMcpHttp();
  onTestFinished(() => server.close());
  return server;
}

test('its tools are offered and called, with the headers that were given, and its session is ended', async () => {
  const server = await startServer();
  const run = await openRun([httpServer(server.url, { headers: { Authorization: 'Bearer of-the-test' } })], {
    egress: ALLOWED,
  });
  expect(run.opened.tools.map(({ name }) => name)).toContain('mcp__remote__add');
  expect(await run.call('mcp__remote__add', { a: 2, b: 3 })).toEqual({ ok: true, output: '5' });
  await run.opened.close();
  expect(server.requests.map(({ method }) => method)).toContain('DELETE');
  for (const { headers } of server.requests) expect(headers.get('authorization')).toBe('Bearer of-the-test');
});

test('a server on the official library that lists tools carelessly lends those that can be mended', async () => {
  const server = await startMcpHttp(makeServerOf(SLOPPY_TOOLS as readonly unknown[]));
  onTestFinished(() => server.close());
  const run = await openRun([httpServer(server.url)], { egress: ALLOWED });
  const mended = Object.keys(MENDED_TOOLS as object);
  expect(run.opened.tools.map(({ name }) => name)).toEqual(mended.map((name) => `mcp__remote__${name}`));
  const input = { kind: 'id', id: 7 };
  const { ok, output } = await run.call('mcp__remote__alternatives', input);
  expect([ok, JSON.parse(output)]).toMatchObject([true, { name: 'alternatives', arguments: input }]);
});

test('an address that is not allowed is never reached', async () => {
  const server = await startServer();
  const run = await openRun([httpServer(server.url)]);
  expect(run.opened.tools).toEqual([]);
  expect(run.opened.notes[0]).toMatch(/^The MCP server "remote" could not be reached: .* Its tools are not available/);
  expect(server.requests).toEqual([]);
});

test('no server at the address', async () => {
  const server = await startMcpHttp();
  await server.close();
  const run = await openRun([httpServer(server.url)], { egress: ALLOWED });
  expect(run.opened.notes[0]).toContain('The MCP server "remote" could not be reached');
});

test('a file of the server is trusted for it, and without one the issuer is named', async () => {
  const server = await startServer();
  const issuer = makeCertificate('Corp Root CA');
  const port = await startTlsFront(makeCertificate('localhost', { issuer }), server.port);
  const caFile = join(temporaryDirectory({ 'ca.pem': issuer.cert }), 'ca.pem');
  const url = `https://localhost:${port}${new URL(server.url).pathname}`;
  const run = await openRun([httpServer(url, { caFile })], { egress: ALLOWED });
  expect(await run.call('mcp__remote__add', { a: 2, b: 3 })).toEqual({ ok: true, output: '5' });
  const other = await openRun([httpServer(url)], { egress: ALLOWED });
  expect(other.opened.notes[0]).toContain('of localhost is issued by "Corp Root CA", which is not trusted');
});

test('a stop of the run reaches the server', async () => {
  const server = await startServer();
  const run = await openRun([httpServer(server.url)], { egress: ALLOWED });
  const waiting = run.call('mcp__remote__wait', { path: '/nothing/here' });
  await waitFor(() => server.notes.includes('waiting'));
  run.stop();
  await expect(waiting).rejects.toThrow();
  await waitFor(() => server.notes.includes('canceled'));
});

test('a restarted server is asked for a new session at the next call', async () => {
  const server = await startServer();
  const run = await openRun([httpServer(server.url)], { egress: ALLOWED });
  server.forget();
  expect(await run.call('mcp__remote__add', { a: 1, b: 1 })).toEqual({
    ok: false,
    output: 'The MCP server "remote" replied with HTTP status 404.',
  });
  expect(await run.call('mcp__remote__add', { a: 1, b: 1 })).toEqual({ ok: true, output: '2' });
});

test.each([
  [401, 'replied with HTTP status 401 (are its credentials right?)'],
  [500, 'replied with HTTP status 500'],
])('a refusal with status %i is reported', async (status, words) => {
  const server = await startServer();
  server.answerWith((response) => response.writeHead(status).end('no'));
  const run = await openRun([httpServer(server.url)], { egress: ALLOWED });
  expect(run.opened.notes[0]).toContain(`The MCP server "remote" ${words}.`);
});

test('a page that is not MCP is reported', async () => {
  const server = await startServer();
  server.answerWith((response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hello</p>'));
  const run = await openRun([httpServer(server.url)], { egress: ALLOWED });
  expect(run.opened.notes[0]).toContain('The MCP server "remote" replied with something other than MCP.');
});

test.each([['application/json'], ['text/event-stream']])('a reply of %s without end is cut off', async (type) => {
  const server = await startServer();
  const run = await openRun([httpServer(server.url)], { egress: ALLOWED });
  let sent = 0;
  server.answerWith((response) => {
    response.writeHead(200, { 'content-type': type });
    const piece = type === 'application/json' ? 'x'.repeat(65_536) : `: ${'x'.repeat(65_534)}\n`;
    const more = () => {
      sent += piece.length;
      if (response.write(piece)) setImmediate(more);
      else response.once('drain', more);
    };
    more();
    response.on('close', () => response.off('drain', more));
  });
  expect(await run.call('mcp__remote__add', { a: 1, b: 1 })).toEqual({
    ok: false,
    output: 'The MCP server "remote" has ended: it sent too much and was disconnected.',
  });
  expect(sent).toBeLessThan(64 * 1_024 * 1_024);
});

test('a server that falls silent is given up after its time', async () => {
  const server = await startServer();
  server.answerWith(() => undefined);
  const run = await openRun([httpServer(server.url, { startTimeoutMs: 400 })], { egress: ALLOWED });
  expect(run.opened.notes[0]).toContain('The MCP server "remote" was not ready within 0.4 seconds.');
});

test('a server that ends every stream at once and wants us back at once is not asked without end', async () => {
  const server = await startServer();
  const run = await openRun([httpServer(server.url, { callTimeoutMs: 1_200 })], { egress: ALLOWED });
  const from = server.requests.length;
  server.answerWith((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: 1\nretry: 0\ndata: \n\n');
  });
  expect((await run.call('mcp__remote__add', { a: 1, b: 1 })).ok).toBe(false);
  const opened = server.requests.slice(from).filter(({ method }) => method === 'GET');
  expect(opened.length).toBeLessThan(8);
});

/** A server that repeats in everything it says what it was sent. */
async function startParrot(say: (secret: string) => string): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const words = say(request.headers.authorization!.slice('Bearer '.length));
      const tool = { name: 'tell', description: `Tells ${words}.`, inputSchema: { type: 'object' } };
      const answers: Readonly<Record<string, object>> = {
        initialize: {
          result: {
            protocolVersion: '2025-06-18',
            capabilities: { tools: {} },
            serverInfo: { name: 'parrot', version: '1' },
            instructions: `${'x'.repeat(1_990)} ${words}`,
          },
        },
        'tools/list': { result: { tools: [tool, { ...tool, name: 'fail' }] } },
        tell: { result: { content: [{ type: 'text', text: `You: ${words}.` }] } },
        fail: { error: { code: -32_000, message: `No: ${words}.` } },
      };
      const asked = request.method === 'POST' ? JSON.parse(Buffer.concat(chunks).toString()) : {};
      const answer = answers[asked.params?.name ?? asked.method] ?? answers[asked.method];
      const status = answer === undefined ? (asked.method === undefined ? 405 : 202) : 200;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(answer === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id: asked.id, ...answer }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

test.each<[string, (secret: string) => string]>([
  ['as it is', (secret) => secret],
  ['in Base64', (secret) => Buffer.from(secret).toString('base64')],
  [
    'in percent escapes',
    (secret) =>
      Array.from(secret)
        .map((one) => `%${one.charCodeAt(0).toString(16)}`)
        .join(''),
  ],
])(
  'a credential that a server repeats %s is redacted in results, descriptions, instructions and errors',
  async (_, say) => {
    const secret = 'sesame-open-1234';
    const url = await startParrot(say);
    const server = httpServer(url, { headers: { Authorization: `Bearer ${secret}` } });
    const run = await openRun([server], { egress: ALLOWED });
    const [replied, refused] = [await run.call('mcp__remote__tell'), await run.call('mcp__remote__fail')];
    expect(replied).toEqual({ ok: true, output: expect.stringMatching(/^You: .{0,2}\[credential\]=*\.$/) });
    expect(refused.output).toContain('refused: No: ');
    expect(run.opened.tools[0]!.description).toContain('[credential]');
    const everything = JSON.stringify([replied, refused, run.opened.notes, run.opened.tools]);
    // The instructions are cut in its middle.
    for (const part of [secret, secret.slice(0, 4), say(secret), say(secret).slice(0, 8)])
      expect(everything).not.toContain(part);
  },
);
