// The table of routes without a daemon behind it, and the JSON that a reply of theirs must be.
import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '../../../src/domain/json.ts';
import { shapeOfPath } from '../../../src/http/replies/render-error.ts';
import type { Route } from '../../../src/http/frame/route.ts';
import { makeRoutes, type RouteParts } from '../../../src/http/routes.ts';
import { envelopeOf, ERROR_SHAPES } from '../../../src/wire/error.ts';
import type { AnyShape } from '../../../src/wire/shapes/shape.ts';
import { makeSseParser } from './sse.ts';

const nothing = {
  operations: {},
  conversations: {},
  officeStreams: {},
  runs: {},
  responses: {},
} as unknown as RouteParts;

export const ROUTES = makeRoutes(nothing);

/** A JSON reply, and what it answers. `path` is without a query. */
export interface SeenReply {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly json: unknown;
}

/** Throws when a reply isn't what its route says, down to the last field. */
export function holdReply({ method, path: asked, status, json }: SeenReply): void {
  const path = wholePathOf(asked);
  // A file may be JSON of any kind.
  if (status < 300 && routeOf(method, path)?.sendsFile) return;
  hold(shapeOf(method, path, status), json, `${method} ${path} replied ${status}`);
}

/** Throws when an event of a stream isn't what its route says. `text` is all of the stream. */
export function holdEvents({
  method,
  path: asked,
  text,
}: Pick<SeenReply, 'method' | 'path'> & { readonly text: string }): void {
  const path = wholePathOf(asked);
  const events = routeOf(method, path)?.events;
  if (events === undefined) throw new Error(`${method} ${path} replied with a stream of events, and its line has none`);
  for (const { data } of makeSseParser().push(text)) {
    if (data === null || data === '[DONE]') continue;
    hold(events, JSON.parse(data), `${method} ${path} sent an event`);
  }
}

/** `/v1/` is short for `/openapi/v1/` (M5). */
const wholePathOf = (path: string) => (path.startsWith('/v1/') ? `/openapi${path}` : path);

function hold(shape: AnyShape, json: unknown, what: string): void {
  let read: unknown;
  try {
    read = shape.read(json as JsonValue, '');
  } catch (cause) {
    throw new Error(`${what} that its shape does not allow: ${String(cause)}`, { cause });
  }
  if (!isDeepStrictEqual(read, json))
    throw new Error(`${what} with fields that its shape does not have: ${JSON.stringify(json)}`);
}

function shapeOf(method: string, path: string, status: number): AnyShape {
  const route = routeOf(method, path);
  if (route?.reply === undefined || !(route.statuses ?? [200]).includes(status)) return ERROR_SHAPES[shapeOfPath(path)];
  return route.errors === 'envelope' ? envelopeOf(route.reply, route.messages) : route.reply;
}

const routeOf = (method: string, path: string) =>
  ROUTES.find((route) => route.method === method && patternOf(route).test(path));

const patternOf = ({ path }: Route) =>
  new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+').replace(/\*\w+/, '.+')}$`);
