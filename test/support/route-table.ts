// The table of routes without a daemon behind it, and the JSON that a reply of theirs must be.
import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '../../src/domain/json.ts';
import { shapeOfPath } from '../../src/http/frame/render-error.ts';
import type { Route } from '../../src/http/frame/route.ts';
import { makeRoutes, type RouteParts } from '../../src/http/routes.ts';
import { envelopeOf, ERROR_SHAPES } from '../../src/wire/error.ts';
import type { Shape } from '../../src/wire/shape.ts';

const nothing = { operations: {}, conversations: {}, administration: {}, runs: {} } as unknown as RouteParts;

export const ROUTES = makeRoutes(nothing);

/** A JSON reply, and what it answers. `path` is without a query. */
export interface SeenReply {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly json: unknown;
}

/** Throws when a reply isn't what its route says, down to the last field. */
export function holdReply({ method, path, status, json }: SeenReply): void {
  try {
    const read = shapeOf(method, path, status).read(json as JsonValue, '');
    if (isDeepStrictEqual(read, json)) return;
  } catch (cause) {
    throw new Error(`${method} ${path} replied ${status} with what its shape does not allow: ${String(cause)}`, {
      cause,
    });
  }
  throw new Error(
    `${method} ${path} replied ${status} with fields that its shape does not have: ${JSON.stringify(json)}`,
  );
}

function shapeOf(method: string, path: string, status: number): Shape<unknown> {
  const route = ROUTES.find((one) => one.method === method && patternOf(one).test(path));
  if (route?.reply === undefined || !(route.statuses ?? [200]).includes(status)) return ERROR_SHAPES[shapeOfPath(path)];
  return route.shape === 'envelope' ? envelopeOf(route.reply) : route.reply;
}

const patternOf = ({ path }: Route) => new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+')}$`);
