// Routes of a table of endpoints: each line with the operation that it names, or with a handler of its own.
import type { Listing, Page } from '../../domain/listing.ts';
import { mediaTypeOf } from '../../files/media-type.ts';
import type { LongListing } from '../../domain/portions.ts';
import {
  type Endpoint,
  type Endpoints,
  type InputOf,
  type ParamsOf,
  paramsOf,
  splitRoute,
} from '../../wire/endpoint.ts';
import type { ListShape } from '../../wire/listing.ts';
import type { Addressing } from '../../wire/publishing/file.ts';
import type { AnyShape, JsonOf, SourceOf, Static } from '../../wire/shapes/shape.ts';
import { renderList, renderLongList, renderWholeList } from '../replies/render-list.ts';
import type { Reply } from '../replies/reply.ts';
import type { Exchange } from './exchange.ts';
import type { AnswerOrError, CallerAt, Route } from './route.ts';
import { untilGone } from './until-gone.ts';

/** What an operation must be for a line that names it: it takes what the line reads, and returns what the reply renders. */
export type OperationOf<E extends Endpoint> = (
  caller: CallerAt<E['guard']>,
  ...input: InputOf<E>
) => Promise<FoundOf<E>> | FoundOf<E>;

type FoundOf<E extends Endpoint> = E['reply'] extends { readonly item: infer I }
  ? Listing<WithoutBase<E, SourceOf<I>>> | LongListing<WithoutBase<E, SourceOf<I>>>
  : WithoutBase<E, SourceOf<E['reply']>>;

/** What addresses take doesn't come from the operation. */
type WithoutBase<E extends Endpoint, D> = E extends { readonly base: string } ? Omit<D, keyof Addressing> : D;

/** The operations that a table names. */
export type OperationsOf<T extends Endpoints> = {
  readonly [V in keyof T as T[V] extends { readonly operation: infer N extends string } ? N : never]: OperationOf<T[V]>;
};

/** A handler of its own. */
export type HandlerOf<E extends Endpoint> = (
  exchange: Exchange<ReadOf<E, 'query'>, ReadOf<E, 'body'>>,
  caller: CallerAt<E['guard']>,
  ...params: ParamsOf<E>
) => AnswerOrError<E extends { readonly reply: infer R } ? JsonOf<R> & object : object>;

type ReadOf<E, P extends string> = E extends Readonly<Record<P, infer S>> ? Static<S> : unknown;

/** The handlers of the lines that name no operation. */
export type HandlersOf<T extends Endpoints> = {
  readonly [V in keyof T as T[V] extends { readonly operation: string } ? never : V]: HandlerOf<T[V]>;
};

type Handlers<T extends Endpoints> = keyof HandlersOf<T> extends never ? [] : [handlers: HandlersOf<T>];

/** The same, whatever they take. */
type AnyOperation = (caller: unknown, ...input: readonly unknown[]) => unknown;
type AnyHandler = (exchange: Exchange, caller: unknown, ...params: readonly unknown[]) => ReturnType<Route['handler']>;

/** The routes of a table. A line doesn't compile unless its operation takes what is read, and returns what is replied. */
export function routesOf<T extends Endpoints>(
  table: T,
  operations: OperationsOf<T>,
  ...[handlers]: Handlers<T>
): Route[] {
  const operationOf = operations as unknown as Readonly<Record<string, AnyOperation>>;
  const handlerOf = (handlers ?? {}) as unknown as Readonly<Record<string, AnyHandler>>;
  return Object.entries(table).map(([verb, endpoint]) => {
    const { route, operation } = endpoint;
    const params = paramsOf(endpoint);
    const handler: Route['handler'] = (exchange, caller) => {
      const place = params.map(({ name, shape }) => shape.read(exchange.params[name] ?? '', name));
      if (operation === undefined) return handlerOf[verb]!(exchange, caller, ...place);
      return replyOf(endpoint, exchange, (...said) => operationOf[operation]!(caller, ...place, ...said));
    };
    return { ...endpoint, ...splitRoute(route), handler };
  });
}

/** What the request says in addition to its path. */
function saidIn({ query, body, endsWithClient }: Endpoint, exchange: Exchange): readonly unknown[] {
  const said = query === undefined ? exchange.body : exchange.query;
  return [
    ...(query === undefined && body === undefined ? [] : [said]),
    ...(endsWithClient ? [untilGone(exchange)] : []),
  ];
}

/** Asks an operation, and renders what it returns. */
async function replyOf(
  endpoint: Endpoint,
  exchange: Exchange,
  ask: (...said: readonly unknown[]) => unknown,
): Promise<Reply> {
  const { reply, base, perPart, statuses = [200] } = endpoint;
  const status = statuses[0]!;
  const said = saidIn(endpoint, exchange);
  const rendererOf = (shape: AnyShape | undefined) => (found: object) =>
    render(shape, base === undefined ? found : { ...found, base: exchange.bases[base], mediaTypeOf });
  if (!isList(reply)) return { status, body: rendererOf(reply)((await ask(...said)) as object) };
  const item = rendererOf(reply.item);
  if (perPart === undefined) return { status, body: renderItems((await ask(...said)) as AnyListing, item) };
  const page = said[0] as Page;
  const list = async (part: Page) => (await ask({ ...page, ...part })) as Listing<Row>;
  const { limit, offset } = page;
  return {
    status,
    body: await renderLongList({ limit, offset, perPart, list, idOf: ({ id, seq }) => id ?? seq! }, item),
  };
}

/** What tells the rows of a list apart. */
interface Row {
  readonly id?: string | number;
  readonly seq?: number;
}

type AnyListing = Listing<object> | LongListing<object>;

const isList = (reply: AnyShape | undefined): reply is ListShape<unknown, unknown, never> =>
  reply !== undefined && 'item' in reply;

function renderItems({ items, total }: AnyListing, item: (one: object) => unknown): object {
  return Symbol.asyncIterator in items ? renderWholeList({ items, total }, item) : renderList({ items, total }, item);
}

function render<T>(shape: AnyShape | undefined, value: T): T {
  const renderer = shape?.render as ((value: T) => T) | undefined;
  return renderer === undefined ? value : renderer(value);
}
