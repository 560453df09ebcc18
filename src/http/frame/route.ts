// A route: an endpoint with its handler.
import type { Caller } from '../../domain/people/user.ts';
import type { Endpoint, Method } from '../../wire/endpoint.ts';
import type { ErrorShape, ErrorWire } from '../../wire/error.ts';
import type { Streamable } from '../replies/json-pieces.ts';
import type { Reply } from '../replies/reply.ts';
import type { Exchange } from './exchange.ts';
import type { CallerOf, Guard } from './guards.ts';

/** A reply; nothing when the handler has taken over the response for a stream. */
type Answer<R extends object> = Promise<Reply<Streamable<R> & object> | undefined> | Reply<Streamable<R> & object>;

/** A failed run is reported as an error. */
export type AnswerOrError<R extends object> = Answer<R | ErrorWire<ErrorShape>>;

/** A route of the table. */
export interface Route extends Endpoint {
  readonly method: Method;
  readonly path: string;
  /** The guard makes the caller; without a guard, anyone may use the route. */
  readonly handler: (exchange: Exchange, caller: Caller | undefined) => Answer<object>;
}

export type CallerAt<G extends Guard | 'none'> = G extends Guard ? CallerOf[G] : undefined;
