// Takes a request to its route: guards it, reads its body and answers it, in the promised order of checks (A1).
import { Router, type RouterContext } from '@koa/router';
import type Koa from 'koa';
import { ErrandError } from '../../domain/errors.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Origin } from '../../domain/people/user.ts';
import type { ClientAddressOf } from '../server/client-address.ts';
import { isFromOperator } from '../server/peers.ts';
import { readCredential } from './credentials.ts';
import { callerAt } from './guards.ts';
import type { WithExchange } from './open-exchange.ts';
import type { Operations } from '../../operations/operations.ts';
import { inEnvelope, type Reply, sendLongJson, sendReply } from './reply.ts';
import { hasLongList } from './long-json.ts';
import type { Route } from './route.ts';

export interface DispatchParts {
  readonly operations: Pick<Operations, 'authenticate'>;
  readonly clientAddressOf: ClientAddressOf;
  readonly withExchange: WithExchange;
  readonly clock: Clock;
}

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
  const byBeginning = Map.groupBy(routes, ({ path }) => beginningOf(path));
  const routings = new Map(
    [...byBeginning].map(([beginning, own]) => {
      const candidates = new Set([...own, ...others]);
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
    const reply = await answer(route, ctx, parts);
    if (reply === undefined) return;
    const whole = route.shape === 'envelope' ? inEnvelope(reply) : reply;
    if (hasLongList(whole.body)) await sendLongJson(ctx.res, whole, parts.clock);
    else sendReply(ctx.res, whole);
  };
}

async function answer(
  route: Route,
  ctx: RouterContext,
  { operations, clientAddressOf, withExchange }: DispatchParts,
): Promise<Reply | undefined> {
  if (route.guard === 'none')
    return withExchange({ route, ctx, owner: clientAddressOf(ctx.req), admit: async () => undefined }, (exchange) =>
      route.handler(exchange, undefined),
    );
  const { guard } = route;
  const origin = ctx.state['origin'] as Origin;
  const viaSocket = isFromOperator(ctx.req);
  const credential = readCredential(ctx.req.rawHeaders, guard === 'key' ? 'both' : 'authorization');
  const admit = async () => callerAt(guard, await operations.authenticate(credential, viaSocket), origin);
  const caller = await admit();
  const owner = caller.kind === 'operator' ? 'operator' : caller.user.id;
  return withExchange({ route, ctx, owner, admit }, (exchange) => route.handler(exchange, caller));
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
    ? ' Conversations are at POST /openapi/v1/chat/completions and POST /openapi/v1/messages.'
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
