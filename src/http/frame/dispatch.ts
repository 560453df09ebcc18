// Takes a request to its route: guards it, reads its body and answers it, in the promised order of checks (A1).
import { Router, type RouterContext } from '@koa/router';
import type Koa from 'koa';
import { KB } from '../../domain/byte-units.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { Clock } from '../../domain/clock.ts';
import { type Caller, type Identity, type Origin, ownerOf } from '../../domain/people/user.ts';
import { ANYONE, type Slices } from '../../domain/loop/slices.ts';
import type { ClientAddressOf } from '../server/client-address.ts';
import { isFromOperator } from '../server/peers.ts';
import { readCredential } from './credentials.ts';
import { callerAt } from './guards.ts';
import { readOfficeCookie } from './office-cookie.ts';
import type { WithExchange } from './open-exchange.ts';
import type { Operations } from '../../operations/operations.ts';
import { inEnvelope, sendWhole } from '../replies/reply.ts';
import { quotasOfAddress, quotasOfUser, type ReplyBudget } from '../replies/reply-budget.ts';
import type { Route } from './route.ts';

export interface DispatchParts {
  readonly operations: Pick<Operations, 'authenticate' | 'officeLogins'>;
  readonly clientAddressOf: ClientAddressOf;
  readonly withExchange: WithExchange;
  readonly slices: Slices;
  readonly replyBudget: ReplyBudget;
  readonly clock: Clock;
}

/** Of what a reply is made of before it is known how much that is. */
const ROOM_AT_FIRST_BYTES = 512 * KB;

/**
 * The middleware that takes requests to the table's routes; what none matches falls through it. A router tests a path against all that it
 * has, so there is one for each beginning of paths.
 */
export function makeRouting(routes: readonly Route[], parts: DispatchParts): Koa.Middleware {
  const streams = new Set(routes.filter((route) => route.sse).map(({ path }) => path));
  const among = (own: readonly Route[]) => {
    const router = new Router({ sensitive: true, strict: true });
    for (const route of own) router.register(route.path, [route.method], makeHandler(route, streams, parts));
    return router.routes() as Koa.Middleware;
  };
  const others = routes.filter(({ path }) => beginningOf(path) === null);
  // What takes every path below its own has only those that nothing else has.
  const inAll = others.filter(({ path }) => !path.includes('*'));
  const byBeginning = Map.groupBy(routes, ({ path }) => beginningOf(path));
  const routings = new Map(
    [...byBeginning].map(([beginning, own]) => {
      const candidates = new Set([...own, ...inAll]);
      return [beginning, among(routes.filter((route) => candidates.has(route)))] as const;
    }),
  );
  const rest = among(others);
  return (ctx, next) => (routings.get(beginningOf(ctx.path)) ?? rest)(ctx, next);
}

/** The first three segments of a path, as in `/api/v1/runs`, if they are the same in all paths of a route; else null. */
function beginningOf(path: string): string | null {
  let end = 0;
  for (let segment = 0; segment < 3; segment += 1) {
    if (end === -1) return null;
    end = path.indexOf('/', end + 1);
  }
  const beginning = end === -1 ? path : path.slice(0, end);
  return beginning.includes(':') ? null : beginning;
}

function makeHandler(route: Route, streams: ReadonlySet<string>, parts: DispatchParts) {
  return async (ctx: RouterContext): Promise<void> => {
    ctx.state['route'] = route.path;
    // The router answers HEAD wherever it answers GET.
    if (ctx.method === 'HEAD' && route.sse) throw methodNotAllowed(ctx.matched, streams);
    const asker = await identify(route, ctx, parts);
    await answer(route, ctx, asker, parts);
  };
}

/** Whom a request is from. */
interface Asker {
  readonly caller: Caller | undefined;
  /** Whom its work and its body are charged to: all without a credential have their slices together. */
  readonly owner: string;
  readonly address: string;
  readonly admit: () => Promise<unknown>;
}

async function identify(route: Route, ctx: RouterContext, parts: DispatchParts): Promise<Asker> {
  const { operations, clientAddressOf } = parts;
  const address = clientAddressOf(ctx.req);
  const { guard } = route;
  if (guard === 'none') return { caller: undefined, owner: address, address, admit: async () => undefined };
  const origin = ctx.state['origin'] as Origin;
  const viaSocket = isFromOperator(ctx.req);
  const credential = readCredential(ctx.req.rawHeaders, guard === 'key' ? 'both' : 'authorization');
  const cookie =
    guard === 'web' && credential === null ? readOfficeCookie(ctx.req, operations.officeLogins.cookieName) : null;
  let known: Identity | undefined;
  const admit = async () => {
    // Streams that are open end then, whether a cookie or a key opened them.
    if (guard === 'web') operations.officeLogins.requireOn();
    known = await (cookie === null
      ? operations.authenticate(credential, { viaSocket, origin, known })
      : operations.officeLogins.identify(cookie));
    return callerAt(guard, known, origin);
  };
  const caller = await admit();
  return { caller, owner: ownerOf(caller), address, admit };
}

async function answer(route: Route, ctx: RouterContext, asker: Asker, parts: DispatchParts): Promise<void> {
  const { withExchange, slices, replyBudget, clock } = parts;
  const { caller, owner, address, admit } = asker;
  const { res } = ctx;
  const isAnyone = caller === undefined;
  const pause = slices.of(isAnyone ? ANYONE : owner);
  const share = replyBudget(isAnyone ? quotasOfAddress(address) : quotasOfUser(owner), () => res.headersSent);
  const release = () => share.release();
  res.once('close', release);
  try {
    const reply = await withExchange({ route, ctx, owner, admit, pause }, async (exchange) => {
      if (isMetered(route)) await share.hold(ROOM_AT_FIRST_BYTES);
      return route.handler(exchange, caller);
    });
    if (reply === undefined) return;
    await pause();
    const whole = route.errors === 'envelope' ? inEnvelope(reply) : reply;
    await sendWhole(res, whole, { share, pause, clock });
  } finally {
    res.off('close', release);
    release();
  }
}

/** Whether a reply may have much: those that wait are small, and streams and files are limited otherwise. */
function isMetered({ method, sse, sendsFile, isSmall }: Route): boolean {
  return method === 'GET' && !sse && !sendsFile && !isSmall;
}

type Matched = RouterContext['matched'];

/** The refusal of a request that matched no route: 405 when its path is known, else 404 (A1). */
export function refusalOf(matched: Matched, path: string, routes: readonly Route[]): ErrandError {
  if (matched === undefined || matched.length === 0) return noSuchEndpoint(path);
  return methodNotAllowed(matched, new Set(routes.filter((route) => route.sse).map(({ path }) => path)));
}

/** Client libraries call more endpoints than this API has, and some call another one by default. */
export function noSuchEndpoint(path: string): ErrandError {
  const hint = path.startsWith('/openapi/v1/')
    ? ' Conversations are at POST /openapi/v1/chat/completions, /openapi/v1/responses and /openapi/v1/messages.'
    : '';
  return new ErrandError('not_found', `No such endpoint.${hint}`);
}

function methodNotAllowed(matched: Matched, streams: ReadonlySet<string>): ErrandError {
  const methods = new Set<string>();
  for (const layer of matched ?? [])
    for (const method of layer.methods) if (method !== 'HEAD' || !streams.has(String(layer.path))) methods.add(method);
  const allow = [...methods].sort();
  return new ErrandError('method_not_allowed', `This endpoint answers ${allow.join(', ')} only.`, {
    details: { allow },
  });
}
