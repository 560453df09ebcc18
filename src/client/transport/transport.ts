// One HTTP exchange with the daemon, over TCP or its Unix socket.
import { request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { MB } from '../../domain/byte-units.ts';
import { watchIssuer } from '../../outbound/ways/missing-issuer.ts';
import { trustedContext } from '../../outbound/ways/trusted.ts';
import { waysNow } from '../../outbound/ways/ways.ts';
import { ClientError, type FailureTrace } from './client-error.ts';

/** Where the daemon is. Anyone who can open the socket needs no token there (K1). */
export type Address =
  | { readonly socketPath: string }
  | {
      readonly url: string;
      /** An API key, sent as a bearer credential. */
      readonly token: string | null;
    };

/** One request. Without `timeoutMs`, only connecting has a time limit. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: object;
  /** Instead of the address's own credential. */
  readonly token?: string | null;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const CONNECT_TIMEOUT_MS = 10_000;
const MAX_BODY_BYTES = 256 * MB;

/**
 * Sends one request and resolves with the reply's head; the caller must read or destroy its body.
 * Throws `unreachable`, `denied`, `timeout`, or `lost` when an established connection broke.
 */
export function send(address: Address, call: Call): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  let request: ClientRequest;
  try {
    request = openRequest(address, call);
  } catch (cause) {
    const message = `The address cannot be used: ${nameOf(address)}`;
    return Promise.reject(new ClientError({ kind: 'unreachable' }, message, { cause }));
  }
  let connected = false;
  let explain = (error: Error) => error;
  const connecting = setTimeout(() => {
    request.destroy(new ClientError({ kind: 'unreachable' }, `No connection to ${nameOf(address)} within 10 seconds.`));
  }, CONNECT_TIMEOUT_MS);
  request.once('socket', (socket) => {
    const isSecure = (socket as Partial<TLSSocket>).encrypted === true;
    if (isSecure) explain = watchIssuer(socket as TLSSocket, request.host);
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      connected = true;
      clearTimeout(connecting);
    });
  });
  request.once('close', () => clearTimeout(connecting));
  request.once('response', resolve);
  request.on('error', (error) => reject(describe(explain(error), address, connected)));
  request.end(call.body === undefined ? undefined : JSON.stringify(call.body));
  return promise;
}

/** Reads a reply's whole body as text. Throws `lost` when it breaks off, `malformed` when it is over 256 MB. */
export async function readText(reply: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of reply as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) throw new ClientError({ kind: 'malformed' }, 'The answer is larger than 256 MB.');
      chunks.push(chunk);
    }
  } catch (error) {
    throw lostWhile(error, traceOf(reply));
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** What a reply's headers say about the request and its conversation. */
export function traceOf(reply: IncomingMessage): FailureTrace {
  return {
    requestId: headerOf(reply, 'x-request-id'),
    sessionId: headerOf(reply, 'x-session-id'),
    runId: headerOf(reply, 'x-run-id'),
  };
}

/** An error met while reading a reply: kept when it is the client's or the caller's own abort, else `lost`. */
export function lostWhile(error: unknown, trace: FailureTrace): Error {
  if (error instanceof ClientError) return error;
  if (error instanceof Error && error.name === 'AbortError') return error;
  return new ClientError({ kind: 'lost' }, 'The connection to the daemon was lost.', { cause: error, trace });
}

function headerOf(reply: IncomingMessage, name: string): string | undefined {
  const value = reply.headers[name];
  return typeof value === 'string' ? value : undefined;
}

function openRequest(address: Address, call: Call): ClientRequest {
  const token = call.token ?? ('url' in address ? address.token : null);
  const headers = {
    accept: 'application/json',
    ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...call.headers,
  };
  const options = { method: call.method, headers, agent: false as const, ...(call.signal && { signal: call.signal }) };
  if ('socketPath' in address) {
    return requestHttp({ ...options, socketPath: address.socketPath, host: 'localhost', path: call.path });
  }
  const url = new URL(`${address.url.replace(/\/+$/, '')}${call.path}`);
  if (url.protocol === 'http:') return requestHttp(url, options);
  // Its types don't have it, but it is handed on to the connection.
  const trust = { secureContext: trustedContext(waysNow(), null) };
  return requestHttps(url, { ...options, ...trust });
}

function describe(error: NodeJS.ErrnoException, address: Address, connected: boolean): Error {
  if (error instanceof ClientError || error.name === 'AbortError') return error;
  const where = nameOf(address);
  if (error.code === 'EACCES') {
    const message = `You may not open ${where}: ask for membership of its group, or run as the daemon's user.`;
    return new ClientError({ kind: 'denied' }, message, { cause: error });
  }
  if (connected) {
    return new ClientError({ kind: 'lost' }, `The connection to ${where} was lost.`, { cause: error });
  }
  const why = REASONS_NOT_TO_CONNECT[error.code ?? ''] ?? error.message.replace(/\.$/, '');
  return new ClientError({ kind: 'unreachable' }, `The daemon is not reachable at ${where}: ${why}.`, { cause: error });
}

const REASONS_NOT_TO_CONNECT: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no process listens there',
  ENOENT: 'there is no such socket',
  ENOTDIR: 'a part of that path is a file, not a directory',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name service does not answer',
  EHOSTUNREACH: 'there is no route to the host',
  ETIMEDOUT: 'the host does not answer',
};

function nameOf(address: Address): string {
  return 'socketPath' in address ? address.socketPath : address.url;
}
