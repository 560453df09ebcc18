// A hostile peer on loopback, in every role that a definition names: it repeats all that it is called with, in several encodings.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Of } from '../files/temporary-directory.ts';

export interface EchoingPeer {
  readonly url: string;
  /** All that it was called with, one request an entry. */
  readonly heard: readonly string[];
}

interface RpcRequest {
  readonly id?: number | string;
  readonly method?: string;
}

/** `more`: what a receiver of webhooks at `/plain/hook` knows. Answers as a collector, a token server and a service below `/plain`, and as an MCP server everywhere else. */
export async function startEchoingPeer(more: readonly string[], { onTestFinished }: Of): Promise<EchoingPeer> {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      heard.push(partsOf(request, body).join('\n'));
      const known = request.url === '/plain/hook' ? more : [];
      const said = [...known, ...partsOf(request, body)].flatMap(encodingsOf).join(' | ');
      const { status, type, sent } = replyTo(request, body, said);
      const headers = type === 'text/plain' ? { etag: said.slice(0, 4_000) } : {};
      response.writeHead(status, { 'content-type': type, ...headers }).end(sent);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

interface EchoReply {
  readonly status: number;
  readonly type: 'application/json' | 'text/plain';
  readonly sent: string;
}

/** In the role that the path of a request names. */
function replyTo({ url = '', method }: IncomingMessage, body: string, said: string): EchoReply {
  const json = (status: number, value: object): EchoReply => {
    return { status, type: 'application/json', sent: JSON.stringify(value) };
  };
  if (url.startsWith('/token')) return json(400, { error: 'invalid_client', error_description: said });
  if (url.startsWith('/plain')) return { status: 400, type: 'text/plain', sent: said };
  if (method !== 'POST') return json(405, {});
  const asked = JSON.parse(body) as RpcRequest;
  return asked.id === undefined ? json(202, {}) : json(200, { jsonrpc: '2.0', id: asked.id, ...answerTo(asked, said) });
}

/** What a request carries, with each value by itself, as a careless server quotes it. */
function partsOf({ url = '', headers, headersDistinct }: IncomingMessage, body: string): string[] {
  const values = Object.values(headersDistinct).flatMap((each) => each ?? []);
  const queries = [...new URL(url, 'http://peer.example').searchParams.values()];
  const words = [...queries, ...wordsIn(body, 100)];
  const passwords = words.flatMap((word) => /:\/\/[^\s:/]*:([^\s@/]+)@/.exec(word)?.[1] ?? []);
  // What a log of its errors shows is their beginning, so the small values come first.
  return [...passwords, ...queries, ...values, ...wordsIn(body, 40), url, JSON.stringify(headers), body];
}

/** The short texts in a body. */
function wordsIn(body: string, below: number): string[] {
  const words: string[] = [];
  const keep = (_name: string, value: unknown) => {
    if (typeof value === 'string' && value.length < below) words.push(value);
    return value;
  };
  if (body.startsWith('{')) JSON.parse(body, keep);
  return words;
}

function encodingsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  return [value, encodeURIComponent(value), bytes.toString('base64'), bytes.toString('hex'), JSON.stringify(value)].map(
    // A header has no line breaks and nothing beyond ASCII.
    (one) => one.replaceAll(/[^\x20-\x7e]/g, ' '),
  );
}

function answerTo({ method }: RpcRequest, said: string): object {
  if (method === 'initialize') {
    const serverInfo = { name: said.slice(0, 2_000), version: '1' };
    return { result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo, instructions: said } };
  }
  if (method === 'tools/list') {
    const tools = ['repeat', 'refuse'].map((name) => ({ name, description: said, inputSchema: { type: 'object' } }));
    return { result: { tools } };
  }
  return { result: { content: [{ type: 'text', text: said }], structuredContent: { [said.slice(0, 4_000)]: said } } };
}
