// The Node servers of the application: their limits, and a reply to requests that are not valid HTTP.
import { randomUUID } from 'node:crypto';
import { createServer, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { type Clock, systemClock } from '../../domain/clock.ts';
import type { HttpApp } from '../app.ts';
import { errorBody, type ErrorFacts } from '../replies/render-error.ts';
import { contextOptions, type KeyPair } from './secure-server.ts';

/** From the connection to the end of the TLS handshake. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** How often connections are checked for timeouts. */
const LOOK_MS = 1_000;
/** All headers of a request together, with its first line. */
const MAX_HEADER_BYTES = 16_384;
const MAX_HEADERS = 200;
const REQUEST_TIMEOUT_MS = 300_000;
const KEEP_ALIVE_MS = 65_000;
/** A client that has received its reply and does not close its end is disconnected after this time. */
const LINGER_MS = 2_000;

const OPTIONS: ServerOptions = {
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  connectionsCheckingInterval: LOOK_MS,
  // Longer than that of common proxies, so that a proxy never sends on a connection that was just closed.
  keepAliveTimeout: KEEP_ALIVE_MS,
  // The application reports a missing Host in its own shape.
  requireHostHeader: false,
};

/** A server that is not listening yet; the same application may stand behind several. */
export function makeHttpServer(app: HttpApp, clock: Clock = systemClock): Server {
  return prepare(createServer(OPTIONS), app, clock);
}

interface SecureParts {
  readonly clock: Clock;
  readonly handshakeTimeoutMs: number;
}

/** The same over TLS, with the certificate that it presents until it is given another one. */
export function makeHttpsServer(app: HttpApp, pair: KeyPair, over: Partial<SecureParts> = {}): SecureServer {
  const { clock = systemClock, handshakeTimeoutMs = HANDSHAKE_TIMEOUT_MS } = over;
  const tls = { ...contextOptions(pair), ALPNProtocols: ['http/1.1'], handshakeTimeout: handshakeTimeoutMs };
  const server = createSecureServer({ ...OPTIONS, ...tls });
  // Not as a request that can't be parsed: there is nobody yet who could read a reply.
  server.removeAllListeners('tlsClientError');
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  return prepare(server, app, clock);
}

function prepare<S extends Server | SecureServer>(server: S, app: HttpApp, clock: Clock): S {
  /** Connections that were refused. */
  const refused = new WeakSet<Duplex>();
  const begin: HttpApp = (req, res) => {
    // It has arrived after all, as after a standstill, but its client was told that it hasn't, and may have sent it elsewhere.
    if (refused.has(req.socket)) return;
    // Of more than a thousand, Node leaves out the last in silence: those that a proxy appends.
    if (req.rawHeaders.length <= 2 * MAX_HEADERS) app(req, res);
    else refuse(TOO_MANY_HEADERS, req.socket);
  };
  const refuse = (error: ParserError, socket: Duplex) => {
    refused.add(socket);
    answerParserError(error, socket);
    // The client may keep its end open forever: a reply with only a FIN would not free the connection.
    const timer = clock.after(LINGER_MS, () => socket.destroy());
    socket.once('close', () => timer.cancel());
  };
  server.on('request', begin);
  // A body is asked for (100 Continue) only after the request has passed every check that does not need it.
  server.on('checkContinue', begin);
  server.on('checkExpectation', begin);
  server.on('clientError', refuse);
  return server;
}

type ParserError = Error & { readonly code?: string };

const TOO_MANY_HEADERS: ParserError = Object.assign(new Error('too many headers'), { code: 'HPE_HEADER_OVERFLOW' });

interface ParserAnswer {
  readonly status: string;
  readonly message: string;
}

const TOO_LATE = 'ERR_HTTP_REQUEST_TIMEOUT';
const BAD_FRAMING: ParserAnswer = { status: '400 Bad Request', message: 'The request is not valid HTTP.' };
const PARSER_ANSWERS: ReadonlyMap<string, ParserAnswer> = new Map([
  [
    'HPE_HEADER_OVERFLOW',
    { status: '431 Request Header Fields Too Large', message: 'The headers are too large, or too many.' },
  ],
  [
    'HPE_CHUNK_EXTENSIONS_OVERFLOW',
    { status: '413 Content Too Large', message: 'The chunk extensions are too large.' },
  ],
  [TOO_LATE, { status: '408 Request Timeout', message: 'The request took too long to arrive.' }],
]);

/** Replies in the first shape to what the parser could not read, and closes the connection (A2). */
function answerParserError(error: ParserError, socket: Duplex): void {
  const { _httpMessage: current } = socket as Duplex & { readonly _httpMessage?: ServerResponse };
  // In the middle of another reply, this one can't be sent.
  if (!socket.writable || current?.headersSent === true) return void socket.destroy(error);
  // What is left of its body may arrive as well.
  if (error.code === TOO_LATE) socket.once('finish', () => current?.req.destroy());
  const { status, message } = PARSER_ANSWERS.get(error.code ?? '') ?? BAD_FRAMING;
  const facts: ErrorFacts = { type: 'invalid_request_error', message, status: Number.parseInt(status, 10) };
  const body = JSON.stringify(errorBody(facts, 'bare'));
  socket.end(
    [
      `HTTP/1.1 ${status}`,
      'Connection: close',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${randomUUID()}`,
      'X-Content-Type-Options: nosniff',
      // Its path is unknown here, and may be that of the token endpoint.
      'Cache-Control: no-store',
      'Pragma: no-cache',
      '',
      body,
    ].join('\r\n'),
  );
}
