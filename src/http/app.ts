// The HTTP application: the frame around every request, from its id to its log line.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';
import { MB } from '../domain/byte-units.ts';
import type { Clock } from '../domain/clock.ts';
import { ErrandError } from '../domain/errors.ts';
import type { Settings } from '../domain/settings.ts';
import type { Slices } from '../domain/loop/slices.ts';
import type { Origin } from '../domain/people/user.ts';
import type { Tails } from '../events/tail.ts';
import type { OpenSpool } from '../files/blobs/spool.ts';
import { type Log, logOf, logRequest } from '../log/log.ts';
import type { Renderer } from '../rendering/renderer.ts';
import { makeInTurn } from './server/pipelining.ts';
import { type BasesOf, makeBasesOf } from './server/bases.ts';
import { type ClientAddressOf, makeClientAddressOf, makeIsTrustedProxy } from './server/client-address.ts';
import { makeConversations } from './conversations/conversation.ts';
import { makeCredentialWatch } from './frame/credential-watch.ts';
import { makeReplyBudget } from './replies/reply-budget.ts';
import { isFromOperator } from './server/peers.ts';
import { makeRouting, noSuchEndpoint, refusalOf } from './frame/dispatch.ts';
import type { Operations } from '../operations/operations.ts';
import type { Readiness } from '../operations/status.ts';
import { setHeaders } from './replies/head.ts';
import { loggedPath } from './frame/logged-path.ts';
import { makeWithExchange } from './frame/open-exchange.ts';
import { errorReply, shapeOfPath } from './replies/render-error.ts';
import { makeIsServedAt } from './frame/share-host.ts';
import { type Reply, sendReply, sendReplyAndClose } from './replies/reply.ts';
import type { Route } from './frame/route.ts';
import { makeOfficeStreams } from './office/streams.ts';
import { isOfficePath, officeHeaders } from './office/web/headers.ts';
import { isPlainPath, plainErrorReply } from './office/web/plain.ts';
import { makeWatchers } from './office/watchers.ts';
import { makeMissLimit } from './public/miss-limit.ts';
import { makeRoutes } from './routes.ts';
import { errorPageReply, isPagePath } from './share/page-reply.ts';
import { makeMcpHandlers } from './mcp/handler.ts';
import { makeResponseHandlers } from './conversations/responses.ts';
import { makeRunHandlers } from './sessions/runs.ts';
import { makeRunStreams } from './conversations/streams/run-stream.ts';
import { standingHeaders } from './management/token.ts';

/** What the HTTP room is handed by the daemon. */
export interface HttpParts {
  readonly operations: Operations;
  readonly tail: Tails;
  readonly settings: () => Settings;
  /** Whether an administrator has set `public_url`. */
  readonly isPublicUrlSet: () => boolean;
  readonly clock: Clock;
  readonly slices: Slices;
  readonly log: Log;
  /** Where long strings of bodies are spooled. */
  readonly openSpool: OpenSpool;
  readonly readiness: () => Readiness;
  /** Resolves when a first start is over, or the daemon drains before; null when there is none. */
  readonly starting: () => Promise<void> | null;
  readonly renderer: Pick<Renderer, 'render'>;
  /** Fires when open streams must end with "server restarting". */
  readonly draining: AbortSignal;
  /** Called for each accepted turn, with the header of its request that names a trace. */
  readonly traceParentOf?: ((header: string | undefined) => string | null) | undefined;
  /** Called after each answered request. */
  readonly requestEnded?: ((request: EndedRequest) => void) | undefined;
}

/** An answered request. `route` is the pattern of its route; null where none matched. */
export interface EndedRequest {
  readonly route: string | null;
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
}

/** Answers one request; serves TCP and the Unix socket alike, and knows which by the listening server. */
export type HttpApp = (req: IncomingMessage, res: ServerResponse) => void;

/** The table of routes over the given parts. */
export function routesOf(parts: HttpParts, clientAddressOf: ClientAddressOf): readonly Route[] {
  const { operations, tail, settings, clock, log, readiness, draining } = parts;
  const watchCredential = makeCredentialWatch(clock);
  const openStream = makeRunStreams({ tail, clock, settings, draining, watchCredential });
  const conversations = makeConversations({
    operations,
    openStream,
    watchCredential,
    settings,
    traceParentOf: parts.traceParentOf,
  });
  const openWatch = makeWatchers({ clock, log, settings, draining, watchCredential });
  const officeStreams = makeOfficeStreams({ operations, openWatch });
  const runs = makeRunHandlers({ operations, openStream });
  const responses = makeResponseHandlers({ operations, openStream });
  const mcp = makeMcpHandlers({ ...parts, watchCredential });
  return makeRoutes({
    operations,
    conversations,
    officeStreams,
    runs,
    responses,
    mcp,
    readiness,
    starting: parts.starting,
    clientAddressOf,
    countMisses: makeMissLimit({ clock, clientAddressOf }),
    renderer: parts.renderer,
    settings,
    clock,
  });
}

/** Codes of a connection that the client has left. That is its right, and no fault to report. */
const CLIENT_GONE: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'HPE_INVALID_EOF_STATE']);

/** Builds the application. */
export function makeHttpApp(parts: HttpParts): HttpApp {
  const { operations, settings, clock, slices, log, openSpool } = parts;
  const isTrustedProxy = makeIsTrustedProxy(() => settings().trustedProxies);
  const clientAddressOf = makeClientAddressOf(isTrustedProxy);
  const basesOf = makeBasesOf({ settings, isPublicUrlSet: parts.isPublicUrlSet, isTrustedProxy });
  const routes = routesOf(parts, clientAddressOf);
  const withExchange = makeWithExchange({ settings, openSpool, clock });
  const replyBudget = makeReplyBudget(() => settings().limits.repliesInFlightMb * MB, clock);
  const routing = makeRouting(routes, { operations, clientAddressOf, withExchange, slices, replyBudget, clock });
  const koa = new Koa();
  const isOnHost = makeIsServedAt(() => settings().shareOrigin);
  const isServed: IsServed = (req, authority, path) =>
    (isFromOperator(req) || isOnHost(authority, path)) && (settings().office.web || !isOfficePath(path));
  const aliases = () => settings().aliases;
  koa.use(makeFrame({ aliases, clientAddressOf, basesOf, isServed, clock, log, requestEnded: parts.requestEnded }));
  koa.use(routing);
  koa.use((ctx) => {
    throw refusalOf(ctx['matched'] as Parameters<typeof refusalOf>[0], ctx.path, routes);
  });
  koa.on('error', (error: unknown) => {
    const level = CLIENT_GONE.has((error as NodeJS.ErrnoException).code ?? '') ? 'debug' : 'error';
    log[level]({ err: error }, 'response failed');
  });
  const handle = koa.callback();
  const inTurn = makeInTurn();
  return (req, res) => inTurn(req, res, () => void handle(req, res));
}

/** Whether a path is served to a request that names this authority. */
type IsServed = (req: IncomingMessage, authority: string | undefined, path: string) => boolean;

interface FrameParts extends Pick<HttpParts, 'clock' | 'log' | 'requestEnded'> {
  readonly aliases: () => boolean;
  readonly clientAddressOf: ClientAddressOf;
  readonly basesOf: BasesOf;
  readonly isServed: IsServed;
}

function makeFrame({
  aliases,
  clientAddressOf,
  basesOf,
  isServed,
  clock,
  log,
  requestEnded,
}: FrameParts): Koa.Middleware {
  return async (ctx, next) => {
    const { req, res } = ctx;
    const { path, authority } = targetOf(req, aliases());
    const startedAt = clock.monotonic();
    const requestId = randomUUID();
    // Now, while the connection is there.
    const clientAddress = clientAddressOf(req);
    ctx.state['origin'] = { address: clientAddress, requestId } satisfies Origin;
    ctx.state['bases'] = basesOf(req, authority);
    // Replies are written here and by handlers, never by Koa.
    ctx.respond = false;
    setHeaders(res, {
      'X-Request-Id': requestId,
      'X-Content-Type-Options': 'nosniff',
      ...standingHeaders(path),
      ...officeHeaders(path),
    });
    const isHere = isServed(req, authority, path);
    try {
      requireForm(req, path);
      if (!isHere) throw noSuchEndpoint(path);
      await next();
    } catch (error) {
      refuse(error, {
        req,
        res,
        replyTo: isHere ? replyAt(path) : errorReplyAt(path),
        clock,
        log: logOf(log, { requestId }),
      });
    }
    const durationMs = clock.monotonic() - startedAt;
    const ended = { method: ctx.method, status: res.statusCode };
    const shown = { path: loggedPath(path), durationMs: Math.round(durationMs) };
    logRequest(log, { ...ended, ...shown, requestId, clientAddress });
    requestEnded?.({ ...ended, durationMs, route: (ctx.state['route'] as string | undefined) ?? null });
  };
}

const WHOLE_ADDRESS = /^https?:\/\/([^/?#]*)/i;

/**
 * Where a request leads: `/v1/` may be short for `/openapi/v1/` (M5). Proxies may send the whole address, whose authority then counts instead of the header's. It is cut off before Koa parses
 * it, which throws at odd ones.
 */
function targetOf(
  req: IncomingMessage,
  hasAliases: boolean,
): { readonly path: string; readonly authority: string | undefined } {
  const { url = '', headers } = req;
  const [origin = '', authority = headers.host] = WHOLE_ADDRESS.exec(url) ?? [];
  const sent = url.slice(origin.length);
  const target = hasAliases && sent.startsWith('/v1/') ? `/openapi${sent}` : sent;
  req.url = target;
  const end = target.indexOf('?');
  return { path: end === -1 ? target : target.slice(0, end), authority };
}

function requireForm(req: IncomingMessage, path: string): void {
  if (!path.startsWith('/')) throw new ErrandError('not_found', 'No such endpoint.');
  if (req.headers.host === undefined && req.httpVersionMinor >= 1)
    throw new ErrandError('bad_request', 'The Host header is missing.');
}

/** Whoever asks for a page is told by a page. */
function replyAt(path: string): (error: unknown) => Reply {
  if (isPlainPath(path)) return plainErrorReply;
  return isPagePath(path) ? errorPageReply : errorReplyAt(path);
}

const errorReplyAt = (path: string) => (error: unknown) => errorReply(error, shapeOfPath(path));

interface Refusal {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  replyTo(error: unknown): Reply;
  readonly clock: Clock;
  readonly log: Log;
}

function refuse(error: unknown, { req, res, replyTo, clock, log }: Refusal): void {
  if (!(error instanceof ErrandError)) log.error({ err: error }, 'request failed');
  // A stream that breaks after it began can only be cut: the client rejoins.
  if (res.headersSent) return void res.destroy();
  if (res.destroyed) return;
  const reply = replyTo(error);
  // A body that has not come in whole would otherwise be waited for, however long it takes.
  if (req.complete) sendReply(res, reply);
  else sendReplyAndClose(req, res, reply, clock);
}
