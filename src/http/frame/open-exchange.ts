// Opens the exchange of a guarded request: reads its body within the current limits, and releases it after the reply.
import type { RouterContext } from '@koa/router';
import { MB } from '../../domain/byte-units.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Settings } from '../../domain/settings.ts';
import type { Pause } from '../../domain/loop/slices.ts';
import type { OpenSpool } from '../../files/blobs/spool.ts';
import { readWhole } from '../../wire/shapes/composites.ts';
import { makeBodyBudget } from '../body/body-budget.ts';
import type { Exchange } from './exchange.ts';
import { NO_SPOOLED_STRINGS } from '../body/spooled-strings.ts';
import { bodyLimit, readJsonBody, type RequestBody } from '../body/request-body.ts';
import { readQuery } from './query.ts';
import type { Route } from './route.ts';
import type { Bases } from '../server/bases.ts';

/** The largest body of a route that takes no attachments. */
const PLAIN_BODY_BYTES = MB;
/** Limit on what is parsed of a turn at once, its short texts and the history, as a multiple of its longest text. */
const PARSED_TEXTS = 2;

export interface BodyReadingParts {
  readonly settings: () => Settings;
  readonly openSpool: OpenSpool;
  readonly clock: Clock;
}

/** An admitted request. */
export interface Admitted {
  readonly route: Route;
  readonly ctx: RouterContext;
  /** The owner that its body is charged to. */
  readonly owner: string;
  readonly admit: Exchange['admit'];
  readonly pause: Pause;
}

/** Has a handler reply to a request. Throws the errors of reading the body, and those of the handler. */
export type WithExchange = <T>(admitted: Admitted, handle: (exchange: Exchange) => Promise<T> | T) => Promise<T>;

const NO_BODY: RequestBody = {
  value: {},
  spooled: NO_SPOOLED_STRINGS,
  takeRoom: () => undefined,
  release: async () => undefined,
};

/** Makes it. All bodies share one budget. */
export function makeWithExchange({ settings, openSpool, clock }: BodyReadingParts): WithExchange {
  const budget = makeBodyBudget(() => settings().limits.bodiesInFlightMb * MB);

  async function openBody({ route, ctx, owner, pause }: Admitted): Promise<RequestBody> {
    if (route.body === undefined) return NO_BODY;
    const { limits, maxUploadSizeMb } = settings();
    const lays = route.takesAttachments === true;
    const largest = bodyLimit(maxUploadSizeMb);
    const rules = {
      limitBytes: lays ? largest : Math.min(largest, route.maxBodyBytes ?? PLAIN_BODY_BYTES),
      limitParsedBytes: Math.max(PLAIN_BODY_BYTES, limits.maxTextMb * MB * PARSED_TEXTS),
      maxNodes: limits.maxNodes,
      optional: route.bodyIsOptional === true,
      lays,
    };
    return readJsonBody(ctx.req, ctx.res, { rules, share: budget(owner), openSpool, clock, pause });
  }

  return async (admitted, handle) => {
    const { route, ctx } = admitted;
    const { req, res, params } = ctx;
    let body = await openBody(admitted);
    let read: unknown;
    let query: unknown;
    const letGoOfBody = async () => {
      const { release } = body;
      body = NO_BODY;
      read = undefined;
      await release();
    };
    const exchange: Exchange = {
      req,
      res,
      params,
      bases: ctx.state['bases'] as Bases,
      get query() {
        return query;
      },
      get body() {
        return read;
      },
      get spooled() {
        return body.spooled;
      },
      takeRoom: (bytes) => body.takeRoom(bytes),
      letGoOfBody,
      admit: admitted.admit,
      pause: admitted.pause,
    };
    try {
      await admitted.pause();
      query = route.query && readQuery(ctx.querystring, route.query);
      read = route.body && readWhole(route.body, body.value);
      return await handle(exchange);
    } finally {
      await letGoOfBody();
    }
  };
}
