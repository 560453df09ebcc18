// `POST /mcp`: a message of the Model Context Protocol, which the official library reads and answers (0053).
import { ErrandError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import { randomUUID } from 'node:crypto';
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { KeyCaller } from '../../domain/people/user.ts';
import type { Settings } from '../../domain/settings.ts';
import type { Log } from '../../log/log.ts';
import type { Operations } from '../../operations/operations.ts';
import { once } from '../../wire/shapes/composites.ts';
import type { Exchange } from '../frame/exchange.ts';
import { untilGone } from '../frame/until-gone.ts';
import { setHeaders } from '../replies/head.ts';
import { makeCancellations } from './cancellations.ts';
import { makeFileTools, makeReadResource } from './files.ts';
import { sendResponse } from './send-response.ts';
import { type Incoming, makeMcpServer } from './server.ts';
import { makeTaskTools } from './tasks.ts';
import { makeWaitForTask, type WaitParts } from './wait-for-task.ts';

export interface McpParts extends WaitParts {
  readonly operations: Operations;
  readonly settings: () => Settings;
  readonly isPublicUrlSet: () => boolean;
  readonly log: Log;
  readonly traceParentOf?: ((header: string | undefined) => string | null) | undefined;
}

type Message = Exchange<unknown, JsonObject>;

/** Makes the handler. Nothing of a message is kept beyond its answer: any node answers any of them. */
export function makeMcpHandlers(parts: McpParts) {
  const { operations, settings, isPublicUrlSet, clock, log, traceParentOf = () => null } = parts;
  const waitForTask = makeWaitForTask(parts);
  const tools = {
    ...makeTaskTools({ operations, settings, waitForTask, traceParentOf }),
    ...makeFileTools(operations),
  };
  const readResource = makeReadResource(operations);
  const cancellations = makeCancellations();
  const incomings = new WeakMap<Request, Omit<Incoming, 'endsWithConnection'>>();

  /** At the first message: loading the library takes time and memory that a daemon without such clients need not have. */
  const library = once(async (): Promise<McpHttpHandler> => {
    const sdk = await import('@modelcontextprotocol/server');
    const serverFor = makeMcpServer(sdk, { tools, readResource, log });
    return sdk.createMcpHandler(
      ({ era, requestInfo }) => serverFor({ ...incomings.get(requestInfo!)!, endsWithConnection: era === 'modern' }),
      // A stream tells at once that somebody waits: many clients give up on a reply that does not begin.
      // Nothing of ours changes while somebody watches.
      { responseMode: 'sse', maxSubscriptions: 0, onerror: (error) => log.debug({ err: error }, 'message refused') },
    );
  });

  return {
    mcp: async (exchange: Message, caller: KeyCaller): ReturnType<typeof sendResponse> => {
      const { req, res, body } = exchange;
      requireOwnOrigin(req.headers.origin, isPublicUrlSet() ? settings().publicUrl : null);
      const session = req.headers['mcp-session-id'];
      const client = typeof session === 'string' ? `${caller.key.seq} ${session}` : null;
      cancellations.take(client, body);
      if (body['method'] === 'initialize') setHeaders(res, { 'Mcp-Session-Id': randomUUID() });
      const request = requestOf(exchange);
      const onCancelled: Incoming['onCancelled'] = (id, cancel) => cancellations.listen(client, id, cancel);
      incomings.set(request, { caller, exchange, onCancelled });
      const { fetch } = await library();
      return sendResponse(exchange, await fetch(request, { parsedBody: body }), clock);
    },
  };
}

/** Browsers name the page that asks. Only one of our own may: a page of others may have got our name from its server (DNS rebinding). */
function requireOwnOrigin(origin: string | undefined, publicUrl: string | null): void {
  if (origin === undefined || (publicUrl !== null && origin === URL.parse(publicUrl)?.origin)) return;
  throw new ErrandError('forbidden', 'Pages of other origins have no access.');
}

/** Of no concern to the library. */
const HEADERS_KEPT = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id'];

/** The request as the library reads it, without its credential. Its body is read already. */
function requestOf({ req, res, bases }: Message): Request {
  const headers = new Headers();
  for (const name of HEADERS_KEPT) {
    const value = req.headers[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  return new Request(`${bases.own}/mcp`, { method: 'POST', headers, signal: untilGone({ res }) });
}
