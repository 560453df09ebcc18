// One route: its path, who may use it, what it reads, and what it replies with.
import type { Caller } from '../../domain/people/user.ts';
import type { FieldsShape } from '../../wire/composites.ts';
import type { AnyShape, Readable, Shape } from '../../wire/shape.ts';
import type { Exchange } from './exchange.ts';
import type { CallerOf, Guard } from './guards.ts';
import type { ErrorShape, ErrorWire } from '../../wire/error.ts';
import type { Streamable } from '../replies/json-pieces.ts';
import type { Reply } from '../replies/reply.ts';

/** A reply; nothing when the handler has taken over the response for a stream. */
type Answer<R extends object> = Promise<Reply<Streamable<R> & object> | undefined> | Reply<Streamable<R> & object>;

/** A failed run is reported as an error. */
export type AnswerOrError<R extends object> = Answer<R | ErrorWire<ErrorShape>>;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What a route reads and sends, without its handler. */
export interface Traits<Q = unknown, B = unknown, R extends object = object> {
  /** Parameters of the path; those that aren't here are texts. */
  readonly params?: Readonly<Record<string, AnyShape>>;
  /** Absent: the query is ignored. */
  readonly query?: FieldsShape<Q>;
  /** The headers that its handler reads, for the description of the interface. */
  readonly headers?: FieldsShape;
  /** Absent: no body is read. */
  readonly body?: Readable<B>;
  /** An absent body is read as `{}`. */
  readonly bodyIsOptional?: true;
  /** Its body may contain attachments, and so be as large as they are (A5); others have 1 MB. */
  readonly takesAttachments?: true;
  /** A smaller limit than that. */
  readonly maxBodyBytes?: number;
  /** The JSON that it replies with; absent when it has none. */
  readonly reply?: Shape<unknown, R, never>;
  /** The statuses of that reply; 200 when absent. */
  readonly statuses?: readonly number[];
  /** In an envelope: the messages that may replace `ok`. */
  readonly messages?: readonly string[];
  /** The data of each event, where it replies with an event stream, always or on request. */
  readonly events?: AnyShape;
  /** Replies with a file of any type. */
  readonly sendsFile?: true;
  /** Replies with a page for people. */
  readonly sendsPage?: true;
  /** Its reply is small whatever there is, so that it needs no room among the large ones: it answers when they have it all. */
  readonly isSmall?: true;
  /** Always replies with an event stream, so HEAD has no meaning here (A7). */
  readonly sse?: true;
}

/** A route of the table. */
export interface Route extends Traits {
  /** What it does, for the description of the interface. */
  readonly summary: string;
  readonly method: Method;
  readonly path: string;
  readonly guard: Guard | 'none';
  /** Of its errors; in the shape `envelope` its successes have one too. */
  readonly shape: ErrorShape;
  /** The guard makes the caller; without a guard, anyone may use the route. */
  readonly handler: (exchange: Exchange, caller: Caller | undefined) => Answer<object>;
}

export type CallerAt<G extends Guard | 'none'> = G extends Guard ? CallerOf[G] : undefined;

interface Line<G extends Guard | 'none', Q, B, R extends object> extends Traits<Q, B, R> {
  readonly handler: (exchange: Exchange<Q, B>, caller: CallerAt<G>) => AnswerOrError<NoInfer<R>>;
}

/** Makes the lines of one guard and one shape of errors. A handler that doesn't fit the shapes of its line doesn't compile. */
export function routesWith<G extends Guard | 'none'>(guard: G, shape: ErrorShape) {
  return <Q, B, R extends object>(place: `${Method} /${string}`, summary: string, line: Line<G, Q, B, R>): Route => {
    const [method, path] = place.split(' ') as [Method, string];
    return { ...line, summary, method, path, guard, shape, handler: line.handler as Route['handler'] };
  };
}
