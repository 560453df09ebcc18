// The well-behaved MCP server over streamable HTTP on loopback, with sessions, and what it saw of its clients.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { randomUUID } from 'node:crypto';
// @ts-expect-error a module of plain JavaScript, which also runs in the sandbox
import { makeServer } from './mcp-server.mjs';

type Transport = WebStandardStreamableHTTPServerTransport;

export interface McpHttpServer {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly { readonly method: string; readonly headers: Headers }[];
  /** What happened to calls, such as `canceled`. */
  readonly notes: readonly string[];
  /** Replies to every request this way, until it is called with null. */
  answerWith(answer: ((response: ServerResponse) => void) | null): void;
  /** Forgets its sessions, like a restarted server. */
  forget(): void;
  close(): Promise<void>;
}

type MakeServer = (note: (what: string) => void) => { connect(transport: Transport): Promise<void> };

/** A server on the official SDK that lists and calls tools as they are, of which the SDK checks nothing. */
export function makeServerOf(tools: readonly unknown[]): MakeServer {
  return () => {
    const server = new Server({ name: 'raw', version: '1' }, { capabilities: { tools: {} } });
    server.fallbackRequestHandler = async ({ method, params }) =>
      method === 'tools/list' ? { tools } : { content: [{ type: 'text', text: JSON.stringify(params) }] };
    return server;
  };
}

/** Starts it on a free port. */
export async function startMcpHttp(make = makeServer as MakeServer): Promise<McpHttpServer> {
  const sessions = new Map<string, Transport>();
  const requests: { method: string; headers: Headers }[] = [];
  const notes: string[] = [];
  let answer: ((response: ServerResponse) => void) | null = null;

  async function openSession(): Promise<Transport> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await make((what) => void notes.push(what)).connect(transport);
    return transport;
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = requestOf(incoming, response);
    requests.push({ method: request.method, headers: request.headers });
    if (answer !== null) return answer(response);
    const id = request.headers.get('mcp-session-id');
    const transport = id === null ? await openSession() : sessions.get(id);
    if (transport === undefined) return void response.writeHead(404).end();
    const reply = await transport.handleRequest(request);
    response.writeHead(reply.status, Object.fromEntries(reply.headers));
    if (reply.body === null) return void response.end();
    response.flushHeaders();
    Readable.fromWeb(reply.body as never)
      .on('error', () => response.destroy())
      .pipe(response);
  }

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    requests,
    notes,
    answerWith: (next) => {
      answer = next;
    },
    forget: () => sessions.clear(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function requestOf(incoming: IncomingMessage, response: ServerResponse): Request {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const hasBody = incoming.method === 'POST';
  return new Request(`http://${incoming.headers.host}${incoming.url}`, {
    method: incoming.method ?? 'GET',
    headers: incoming.headers as Record<string, string>,
    signal: gone.signal,
    ...(hasBody && { body: Readable.toWeb(incoming) as never, duplex: 'half' }),
  });
}
