// Converts anything thrown to a status, headers and a body of the route group's shape.
import { ErrandError, type ErrorType, REASONS } from '../../domain/errors.ts';
import type { ErrorShape, ErrorWire } from '../../wire/error.ts';
import type { Reply } from './reply.ts';

/** The content of an error body, before it has a shape. */
export interface ErrorFacts {
  readonly type: ErrorType;
  readonly message: string;
  readonly status: number;
  /** The request field at fault, reported as `param` in the chat shape. */
  readonly field?: string | undefined;
}

const PREFIXES: readonly (readonly [prefix: string, shape: ErrorShape])[] = [
  ['/openapi/v1/chat/', 'chat'],
  ['/openapi/v1/models', 'chat'],
  ['/openapi/v1/responses', 'chat'],
  ['/api/', 'envelope'],
  ['/mcp', 'rpc'],
  ['/office/api/', 'envelope'],
  ['/office/login', 'envelope'],
  ['/office/logout', 'envelope'],
];

/** The shape of errors under a path, whether or not a route exists there. */
export function shapeOfPath(path: string): ErrorShape {
  return PREFIXES.find(([prefix]) => path.startsWith(prefix))?.[1] ?? 'bare';
}

const BODIES: { readonly [S in ErrorShape]: (facts: ErrorFacts) => ErrorWire<S> } = {
  bare: ({ type, message }) => ({ type: 'error', error: { type, message } }),
  chat: ({ type, message, field }) => ({ error: { message, type, param: field ?? null, code: null } }),
  envelope: ({ status, message }) => ({ code: status, message, data: null }),
  rpc: ({ status, message }) => ({
    jsonrpc: '2.0',
    id: null,
    error: { code: RPC_CODES.get(status) ?? -32_000, message },
  }),
};

/** What JSON-RPC calls a body that is no JSON, and one that is no message. */
const RPC_CODES: ReadonlyMap<number, number> = new Map([
  [400, -32_700],
  [422, -32_600],
]);

/** The body of an error in a shape. Streams use it too. */
export function errorBody<S extends ErrorShape>(facts: ErrorFacts, shape: S): ErrorWire<S> {
  return BODIES[shape](facts);
}

/** The official clients repeat 429 and 5xx by default unless they are told not to, and some wait as long as `Retry-After` says. */
export const NO_RETRY: Readonly<Record<string, string>> = { 'X-Should-Retry': 'false' };

const INTERNAL = new ErrandError('internal', 'Internal error.');

/** The content of an error, for a place that isn't a reply of its own. */
export function factsOf(thrown: unknown): ErrorFacts {
  const { reason, message } = thrown instanceof ErrandError ? thrown : INTERNAL;
  const { status, type } = REASONS[reason];
  return { status, type, message };
}

/** The reply to anything thrown. Anything but an `ErrandError` is a bug: 500, with its cause in the log only. */
export function errorReply(thrown: unknown, shape: ErrorShape): Reply {
  const error = thrown instanceof ErrandError ? thrown : INTERNAL;
  const { status, type, retryAfterSeconds } = REASONS[error.reason];
  const { details } = error;
  const retryAfter = details.retryAfterSeconds === undefined ? retryAfterSeconds : details.retryAfterSeconds;
  // Caches may keep a 404 otherwise, while what was missing appears.
  const headers: Record<string, string> = { 'Cache-Control': 'no-store' };
  if (typeof retryAfter === 'number') headers['Retry-After'] = String(Math.max(1, Math.ceil(retryAfter)));
  if (details.noRetry === true) Object.assign(headers, NO_RETRY);
  if (details.allow !== undefined) headers['Allow'] = details.allow.join(', ');
  if (details.size !== undefined) headers['Content-Range'] = `bytes */${details.size}`;
  if (error.reason === 'unauthenticated') headers['WWW-Authenticate'] = 'Bearer';
  return { status, headers, body: errorBody({ status, type, message: error.message, field: details.field }, shape) };
}
