// An endpoint: what it reads, what it replies, and who may use it, in a line of a table. Routes, the typed client and the
// description of the interface read these tables.
import { notFound } from '../domain/errors.ts';
import { type IdNoun, isUuid } from '../domain/ids.ts';
import type { FieldsShape } from './shapes/composites.ts';
import type { ErrorShape } from './error.ts';
import { integer, string, uuid } from './shapes/scalars.ts';
import type { AnyShape, JsonOf, Shape, Static } from './shapes/shape.ts';

/** Who may use it. Without a guard, anyone may. */
export type Guard = 'none' | 'key' | 'admin' | 'office' | 'web' | 'user';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A line of the table. */
export interface EndpointLine {
  /** Such as `GET /api/v1/runs/:id`. */
  readonly route: `${Method} /${string}`;
  /** What it does, for the description of the interface. */
  readonly summary: string;
  /**
   * The operation that it asks, with the caller, the parameters of the path in their order, and what the query or the body says.
   * Absent where the handler is code of its own.
   */
  readonly operation?: string;
  /** Parameters of the path; those that aren't here are texts. */
  readonly params?: Readonly<Record<string, AnyShape>>;
  /** Absent: the query is ignored. */
  readonly query?: FieldsShape;
  /** The headers that its handler reads, for the description of the interface. */
  readonly headers?: FieldsShape;
  /** Absent: no body is read. */
  readonly body?: AnyShape;
  /** An absent body is read as `{}`. */
  readonly bodyIsOptional?: true;
  /** Its body may contain attachments, and so be as large as they are (A5); others have 1 MB. */
  readonly takesAttachments?: true;
  /** A smaller limit than that. */
  readonly maxBodyBytes?: number;
  /** The JSON that it replies with; absent when it has none. */
  readonly reply?: Shape<unknown, object, never>;
  /** How many items of a long list are read at once: as many as have `PORTION_BYTES` when they are as long as they may be. */
  readonly perPart?: number;
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
  /** What addresses in its reply begin with: the record is rendered from what was found and `Addressing`. */
  readonly base?: 'own' | 'shares';
  /** Its operation also takes a signal, which fires when the client disconnects. */
  readonly endsWithClient?: true;
  /** Always replies with an event stream, so HEAD has no meaning here (A7). */
  readonly sse?: true;
  /** How long a client waits for the reply; 30 s when absent. */
  readonly patienceMs?: number;
}

/** A line with what its whole table has in common. `errors`: the shape of its errors; that of `envelope` is one of successes, too. */
export interface Endpoint extends EndpointLine {
  readonly guard: Guard;
  readonly errors: ErrorShape;
}

/** Endpoints by the names of the client's verbs. */
export type Endpoints = Readonly<Record<string, Endpoint>>;

/** A table of endpoints that have one guard and one shape of errors. */
export function endpoints<const G extends Guard, const L extends Readonly<Record<string, EndpointLine>>>(
  guard: G,
  errors: ErrorShape,
  lines: L,
): { readonly [V in keyof L]: L[V] & { readonly guard: G; readonly errors: ErrorShape } } {
  const table = Object.entries(lines).map(([verb, line]) => [verb, { ...line, guard, errors }]);
  return Object.fromEntries(table) as ReturnType<typeof endpoints<G, L>>;
}

/** The names of the parameters in a path, in their order. */
type ParamNames<P extends string> = P extends `${string}/${':' | '*'}${infer Name}/${infer Rest}`
  ? [Name, ...ParamNames<`/${Rest}`>]
  : P extends `${string}/${':' | '*'}${infer Name}`
    ? [Name]
    : [];

type ParamShape<E extends EndpointLine, N> =
  E['params'] extends Readonly<Record<N & string, infer S>> ? S : Shape<string>;

type ParamShapes<E extends EndpointLine, N extends readonly unknown[] = ParamNames<E['route']>> = {
  readonly [I in keyof N]: ParamShape<E, N[I]>;
};

/** What the query or the body says; no endpoint reads both. */
type Asked<E extends EndpointLine> = E extends { readonly query: infer Q }
  ? Q
  : E extends { readonly body: infer B }
    ? B
    : never;

type ReadAll<S extends readonly unknown[]> = { readonly [I in keyof S]: Static<S[I]> };
type JsonOfAll<S extends readonly unknown[]> = { readonly [I in keyof S]: JsonOf<S[I]> };

/** The parameters of the path, as they are read. */
export type ParamsOf<E extends EndpointLine> = ReadAll<ParamShapes<E>>;

/** What an operation is asked: the parameters of the path, then the query or the body. */
export type InputOf<E extends EndpointLine> = readonly [
  ...ParamsOf<E>,
  ...([Asked<E>] extends [never] ? [] : [Static<Asked<E>>]),
  ...(E extends { readonly endsWithClient: true } ? [AbortSignal] : []),
];

/** What a client says. */
export type RequestOf<E extends EndpointLine> = readonly [...JsonOfAll<ParamShapes<E>>, ...AskedOf<E>];

type AskedOf<E extends EndpointLine> = E extends { readonly query: infer Q }
  ? [QueryOf<JsonOf<Q>>?]
  : E extends { readonly body: infer B; readonly bodyIsOptional: true }
    ? [JsonOf<B>?]
    : E extends { readonly body: infer B }
      ? [JsonOf<B>]
      : [];

/** In a query, undefined is as good as absent. */
type QueryOf<J> = { readonly [N in keyof J]: object extends Pick<J, N> ? J[N] | undefined : J[N] };

/** Method and path of a route. */
export function splitRoute(route: EndpointLine['route']): { readonly method: Method; readonly path: string } {
  const [method, path] = route.split(' ') as [Method, string];
  return { method, path };
}

/** The parameters of a path, in their order, with their shapes. */
export function paramsOf({
  route,
  params = {},
}: EndpointLine): readonly { readonly name: string; readonly shape: AnyShape }[] {
  return [...route.matchAll(/[:*](\w+)/g)].map(([, name]) => ({ name: name!, shape: params[name!] ?? pathText }));
}

/** A text of a path, as it is: what names nothing isn't found. */
export const pathText: Shape<string> = { ...string, read: (value) => value as string };

/** The id of a thing in a path, in lower case. A thing of no such form isn't found (A8). */
export function idOf(kind: string, noun?: IdNoun): Shape<string> {
  return {
    ...uuid,
    read: (value) => {
      if (typeof value === 'string' && isUuid(value)) return value.toLowerCase();
      throw notFound(kind);
    },
    ...(noun && { refersTo: noun }),
  };
}

/** The same for things that are numbered. */
export function numberOf(kind: string): Shape<number> {
  return {
    ...integer({ from: 1 }),
    read: (value) => {
      if (typeof value === 'string' && /^[1-9]\d{0,14}$/.test(value)) return Number(value);
      throw notFound(kind);
    },
  };
}
