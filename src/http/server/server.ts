// The Node servers of the application: their limits, and a reply to requests that are not valid HTTP.
import { randomUUID } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Clock, systemClock } from '../../domain/clock.ts';
import type { HttpApp } from '../app.ts';
import { errorBody, type ErrorFacts } from '../frame/render-error.ts';

const HEADERS_TIMEOUT_MS = 10_000;
/** How often connections are checked for timeouts. */
const LOOK_MS = 1_000;
const REQUEST_TIMEOUT_MS = 300_000;
const KEEP_ALIVE_MS = 65_000;
/** A client that has received its reply and does not close its end is disconnected after this time. */
const LINGER_MS = 2_000;

/** A server that is not listening yet; the same application may stand behind several. */
export function makeHttpServer(app: HttpApp, clock: Clock = systemClock): Server {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: LOOK_MS,
      // Longer than that of common proxies, so that a proxy never sends on a connection that was just closed.
      keepAliveTimeout: KEEP_ALIVE_MS,
      // The application reports a missing Host in its own shape.
      requireHostHeader: false,
    },
    app,
  );
  // A body is asked for (100 Continue) only after the request has passed every check that does not need it.
  server.on('checkContinue', app);
  server.on('checkExpectation', app);
  server.on('clientError', (error, socket) => {
    answerParserError(error, socket);
    // The client may keep its end open forever: a reply with only a FIN would not free the connection.
    const timer = clock.after(LINGER_MS, () => socket.destroy());
    socket.once('close', () => timer.cancel());
  });
  return server;
}

interface ParserAnswer {
  readonly status: string;
  readonly message: string;
}

const BAD_FRAMING: ParserAnswer = { status: '400 Bad Request', message: 'The request is not valid HTTP.' };
const PARSER_ANSWERS: ReadonlyMap<string, ParserAnswer> = new Map([
  ['HPE_HEADER_OVERFLOW', { status: '431 Request Header Fields Too Large', message: 'The headers are too large.' }],
  [
    'HPE_CHUNK_EXTENSIONS_OVERFLOW',
    { status: '413 Content Too Large', message: 'The chunk extensions are too large.' },
  ],
  ['ERR_HTTP_REQUEST_TIMEOUT', { status: '408 Request Timeout', message: 'The request took too long to arrive.' }],
]);

/** Replies in the first shape to what the parser could not read, and closes the connection (A2). */
function answerParserError(error: Error & { code?: string }, socket: Duplex): void {
  const { _httpMessage: current } = socket as Duplex & { readonly _httpMessage?: ServerResponse };
  // In the middle of another reply, this one can't be sent.
  if (!socket.writable || current?.headersSent === true) return void socket.destroy(error);
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
