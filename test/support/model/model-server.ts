// A model server that follows a script, over real HTTP: both protocols, every way a model server fails.
// The replies it knows, and the directives a request can carry in its own text, are told in model-reply.ts.
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { play } from './model-play.ts';
import type { ModelProtocol, ModelRequestBody, Reply, Script } from './model-reply.ts';
import { questionOf, replyFromDirectives } from './model-reply.ts';
import { modelListWire } from './model-wire.ts';

/** One model call as the server saw it. The last two fields are filled when it ends. */
interface RecordedRequest {
  readonly protocol: ModelProtocol;
  readonly body: ModelRequestBody;
  readonly headers: IncomingHttpHeaders;
  /** Path and query. */
  readonly path: string;
  /** Epoch milliseconds, when the body had arrived. */
  readonly at: number;
  closedBy?: 'client' | 'server';
  endedAt?: number;
}

/** A running model server. */
export interface ModelServer {
  /** Without `/v1`. */
  readonly url: string;
  readonly port: number;
  /** Every model call, in order of arrival; stays empty when recording is off. */
  readonly requests: readonly RecordedRequest[];
  /** Sets what answers when nothing is queued. */
  script(script: Script): void;
  /** Queues answers for one request each. */
  enqueue(...scripts: readonly Script[]): void;
  inFlight(): number;
  maxInFlight(): number;
  /** Resolves with the nth request, counted from 1, once it has arrived. */
  waitForRequest(n: number, timeoutMs?: number): Promise<RecordedRequest>;
  /** Ends every connection, also those that hang. */
  close(): Promise<void>;
}

interface Desk {
  fallback: Script;
  readonly queue: Script[];
  readonly requests: RecordedRequest[];
  readonly arrivals: Set<() => void>;
  readonly keeps: boolean;
  inFlight: number;
  maxInFlight: number;
  closing: boolean;
}

const PROTOCOLS: Readonly<Record<string, ModelProtocol>> = {
  '/v1/chat/completions': 'openai',
  '/v1/messages': 'anthropic',
};

export interface ModelServerOptions {
  readonly port?: number;
  /** An address of loopback; 127.0.0.1 when it is absent. */
  readonly host?: string;
  /** With false it keeps no requests, so that a long load costs no memory. */
  readonly record?: boolean;
}

/** Starts a server on loopback. */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const desk: Desk = {
    fallback: replyFromDirectives,
    queue: [],
    requests: [],
    arrivals: new Set(),
    keeps: options.record ?? true,
    inFlight: 0,
    maxInFlight: 0,
    closing: false,
  };
  const { host = '127.0.0.1' } = options;
  const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 }, (request, response) => {
    serve(desk, request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: options.port ?? 0, host, backlog: 1024 }, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    port,
    requests: desk.requests,
    script: (script) => void (desk.fallback = script),
    enqueue: (...scripts) => void desk.queue.push(...scripts),
    inFlight: () => desk.inFlight,
    maxInFlight: () => desk.maxInFlight,
    waitForRequest: (n, timeoutMs = 60_000) => waitForRequest(desk, n, timeoutMs),
    close: () => close(desk, server),
  };
}

function serve(desk: Desk, request: IncomingMessage, response: ServerResponse): void {
  // A client that resets its connection is an event of the script, not a fault of this server.
  request.on('error', () => {});
  response.on('error', () => {});
  const path = (request.url ?? '').split('?', 1)[0] ?? '';
  if (request.method === 'GET' && path === '/v1/models') {
    sendJson(response, 200, modelListWire([{ id: 'scripted' }, { id: 'scripted-large', max_model_len: 65_536 }]));
    return;
  }
  const protocol = PROTOCOLS[path];
  if (protocol === undefined || request.method !== 'POST') {
    sendJson(response, 404, '{"error":{"message":"The scripted model server has no such path."}}');
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = parseBody(chunks);
    if (body === undefined) sendJson(response, 400, '{"error":{"message":"The body is no JSON object."}}');
    else answer(desk, { protocol, body, headers: request.headers, path: request.url ?? '', at: Date.now() }, response);
  });
}

function answer(desk: Desk, record: RecordedRequest, response: ServerResponse): void {
  const question = questionOf(record.protocol, record.body);
  const script = desk.queue.shift() ?? desk.fallback;
  const reply: Reply = typeof script === 'function' ? script(question) : script;
  desk.inFlight += 1;
  desk.maxInFlight = Math.max(desk.maxInFlight, desk.inFlight);
  response.on('close', () => {
    desk.inFlight -= 1;
    record.endedAt = Date.now();
    record.closedBy ??= response.writableFinished || desk.closing ? 'server' : 'client';
  });
  if (desk.keeps) {
    desk.requests.push(record);
    for (const arrived of desk.arrivals) arrived();
  }
  play({ question, reply, response, cutting: () => void (record.closedBy = 'server') });
}

function parseBody(chunks: readonly Buffer[]): ModelRequestBody | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as ModelRequestBody) : undefined;
  } catch {
    return undefined;
  }
}

function sendJson(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

async function waitForRequest(desk: Desk, n: number, timeoutMs: number): Promise<RecordedRequest> {
  if (!desk.keeps) throw new Error('This model server records no requests.');
  const { promise, resolve, reject } = Promise.withResolvers<RecordedRequest>();
  const check = (): void => {
    const record = desk.requests[n - 1];
    if (record !== undefined) resolve(record);
  };
  const timer = setTimeout(
    () => reject(new Error(`Request ${n} did not arrive within ${timeoutMs} ms; ${desk.requests.length} did.`)),
    timeoutMs,
  );
  desk.arrivals.add(check);
  check();
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    desk.arrivals.delete(check);
  }
}

async function close(desk: Desk, server: Server): Promise<void> {
  desk.closing = true;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
