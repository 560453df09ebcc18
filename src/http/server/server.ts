// The Node servers under the application: their limits, and an answer to requests that are not HTTP.
import { randomUUID } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Clock, systemClock } from '../../domain/clock.ts';
import type { HttpApp } from '../app.ts';
import { errorBody, type ErrorFacts } from '../frame/render-error.ts';

const HEADERS_TIMEOUT_MS = 10_000;
/** How often connections are looked at for being late. */
const LOOK_MS = 1_000;
const REQUEST_TIMEOUT_MS = 300_000;
const KEEP_ALIVE_MS = 65_000;
/** A client that has been answered and does not close its end is let go after this. */
const LINGER_MS = 2_000;

/** A server that is not listening yet; the same application may stand behind several. */
export function makeHttpServer(app: HttpApp, clock: Clock = systemClock): Server {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: LOOK_MS,
      // Longer than common proxies keep theirs, so that a proxy never sends into a connection just closed.
      keepAliveTimeout: KEEP_ALIVE_MS,
      // The application answers a missing Host in its own shape.
      requireHostHeader: false,
    },
    app,
  );
  // Bodies are invited only once the request has passed every check that needs none.
  server.on('checkContinue', app);
  server.on('checkExpectation', app);
  server.on('clientError', (error, socket) => {
    answerParserError(error, socket);
    // Its end may be kept open for ever: an answer with a FIN alone would not give the connection back.
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

/** Answers what the parser could not read in the first shape, and closes the connection (A2). */
function answerParserError(error: Error & { code?: string }, socket: Duplex): void {
  const { _httpMessage: current } = socket as Duplex & { readonly _httpMessage?: ServerResponse };
  // In the middle of another answer there is no place for this one.
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
      // Its path is not known here, and may be that of the token endpoint.
      'Cache-Control: no-store',
      'Pragma: no-cache',
      '',
      body,
    ].join('\r\n'),
  );
}
