// Takes a request to its route: guards it, reads its body and answers it, in the promised order of checks (A1).
import { Router, type RouterContext } from '@koa/router';
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

/** A router of the table's routes. What no route matches falls through it. */
export function makeRouter(routes: readonly Route[], parts: DispatchParts): Router {
  const router = new Router({ sensitive: true, strict: true });
  const streams = new Set(routes.filter((route) => route.sse).map(({ path }) => path));
  for (const route of routes) {
    router.register(route.path, [route.method], async (ctx: RouterContext) => {
      ctx.state['route'] = route.path;
      // The router answers HEAD wherever it answers GET.
      if (ctx.method === 'HEAD' && route.sse) throw methodNotAllowed(ctx.matched, streams);
      const reply = await answer(route, ctx, parts);
      if (reply === undefined) return;
      const whole = route.shape === 'envelope' ? inEnvelope(reply) : reply;
      if (hasLongList(whole.body)) await sendLongJson(ctx.res, whole, parts.clock);
      else sendReply(ctx.res, whole);
    });
  }
  return router;
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
