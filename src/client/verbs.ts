// The client's verbs on a noun, made from its table of endpoints.
import { type Endpoint, type Endpoints, paramsOf, type RequestOf, splitRoute } from '../wire/endpoint.ts';
import type { IdNoun } from '../domain/ids.ts';
import type { FieldsShape } from '../wire/shapes/composites.ts';
import type { AnyShape, JsonOf } from '../wire/shapes/shape.ts';
import { type Named, namingWhat } from './named-not-found.ts';
import type { CallManagement } from './references.ts';
import { type QueryFields, queryOf } from './transport/query.ts';

/** A verb for each endpoint that replies with JSON. It takes the parameters of the path, then the query or the body. */
export type Verbs<T extends Endpoints> = {
  readonly [V in keyof T as T[V] extends { readonly reply: AnyShape } ? V : never]: (
    ...input: RequestOf<T[V]>
  ) => Promise<JsonOf<T[V]['reply']>>;
};

/** Completes what a request names: the start of an id, or a name. */
export type Complete = (noun: IdNoun, reference: string) => Promise<string>;

/** Makes the verbs. References are completed wherever a shape says that it is one. */
export function verbsOf<T extends Endpoints>(table: T, call: CallManagement, complete: Complete): Verbs<T> {
  const whole = async (shape: AnyShape | undefined, said: unknown) =>
    shape?.refersTo !== undefined && typeof said === 'string' ? complete(shape.refersTo, said) : said;

  async function placeOf(endpoint: Endpoint, values: readonly unknown[]): Promise<string> {
    let { path } = splitRoute(endpoint.route);
    for (const [index, { name, shape }] of paramsOf(endpoint).entries()) {
      const value = await whole(shape, values[index]);
      path = path.replace(`:${name}`, encodeURIComponent(String(value)));
    }
    return path;
  }

  async function completed(shape: AnyShape | undefined, said: object): Promise<object> {
    const byName = (shape as Partial<FieldsShape> | undefined)?.byName?.() ?? {};
    const fields = Object.entries(said).map(async ([name, value]) => [name, await whole(byName[name], value)] as const);
    return Object.fromEntries(await Promise.all(fields));
  }

  async function ask(endpoint: Endpoint, input: readonly unknown[]): Promise<unknown> {
    const { method } = splitRoute(endpoint.route);
    const { query, body, patienceMs } = endpoint;
    const place = await placeOf(endpoint, input);
    const said = await completed(query ?? body, input[paramsOf(endpoint).length] ?? {});
    if (query !== undefined) return call(method, `${place}${queryOf(said as QueryFields)}`, undefined, patienceMs);
    return call(method, place, body && said, patienceMs);
  }

  const verbs = Object.entries(table).map(([verb, endpoint]) => [
    verb,
    async (...input: readonly unknown[]) => {
      try {
        return await ask(endpoint, input);
      } catch (error) {
        throw namingWhat(error, namedIn(endpoint, input));
      }
    },
  ]);
  return Object.fromEntries(verbs) as Verbs<T>;
}

/** What a request names: in its path, and wherever the shape of its query or body says so. */
function namedIn(endpoint: Endpoint, input: readonly unknown[]): readonly Named[] {
  const params = paramsOf(endpoint);
  const inPath = params.map(({ shape }, index) => ({ reference: String(input[index]), noun: shape?.refersTo }));
  const byName = ((endpoint.query ?? endpoint.body) as Partial<FieldsShape> | undefined)?.byName?.() ?? {};
  const fields = Object.entries((input[params.length] ?? {}) as Readonly<Record<string, unknown>>);
  const inFields = fields.flatMap(([name, reference]) => {
    const noun = byName[name]?.refersTo;
    return noun !== undefined && typeof reference === 'string' ? [{ reference, noun }] : [];
  });
  return [...inPath, ...inFields];
}
