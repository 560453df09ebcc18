import { expect, test } from 'vitest';
import type { Caller } from '../../../src/domain/people/user.ts';
import type { Exchange } from '../../../src/http/frame/exchange.ts';
import { routesOf } from '../../../src/http/frame/serve.ts';
import { ok } from '../../../src/http/replies/reply.ts';
import { endpoints, idOf } from '../../../src/wire/endpoint.ts';
import { listOf, pageQuery } from '../../../src/wire/listing.ts';
import { record, request } from '../../../src/wire/shapes/record.ts';
import { string, time, uuid } from '../../../src/wire/shapes/scalars.ts';

const thing = record({ id: uuid, madeAt: time });
// biome-ignore format: a table reads best with one endpoint a line
const things = endpoints('user', 'envelope', {
  list: { route: 'GET /things', summary: 'List', operation: 'listThings', query: pageQuery, reply: listOf(thing), perPart: 2 },
  change: { route: 'PATCH /boxes/:box/things/:id', summary: 'Change', operation: 'changeThing', params: { id: idOf('Thing') }, body: request({ newName: string }), reply: thing, statuses: [202] },
  odd: { route: 'GET /things/:id', summary: 'Read', params: { id: idOf('Thing') }, reply: thing },
});

const ID = '0198c0de-0000-7000-8000-0000000000ff';
const AT = Date.parse('2026-03-01T12:00:00.000Z');
const JSON_OF_THING = { id: ID, made_at: '2026-03-01T12:00:00.000Z' };
const caller = {} as Caller;

const operations = {
  listThings: async (_caller: Caller, { limit, offset }: { readonly limit: number; readonly offset: number }) => ({
    items: [{ id: ID, madeAt: AT }].slice(offset, offset + limit),
    total: 1,
  }),
  changeThing: async (_caller: Caller, box: string, id: string, { newName }: { readonly newName: string }) => ({
    id,
    madeAt: AT,
    box,
    newName,
  }),
};
const handlers = { odd: (_exchange: unknown, _caller: unknown, id: string) => ok({ ...JSON_OF_THING, id }) };
const [list, change, odd] = routesOf(things, operations, handlers);

const exchange = (parts: Partial<Exchange>) => ({ params: {}, ...parts }) as Exchange;

test('an operation is asked with the parameters of the path and the body, and what it returns is rendered', async () => {
  const asked = exchange({ params: { box: 'a', id: ID.toUpperCase() }, body: { newName: 'n' } });
  expect(await change!.handler(asked, caller)).toEqual({ status: 202, body: JSON_OF_THING });
  expect([change!.method, change!.path, change!.guard, change!.errors]).toEqual([
    'PATCH',
    '/boxes/:box/things/:id',
    'user',
    'envelope',
  ]);
});

test('a text of a path is taken as it is: what it names may not be there', async () => {
  const seen: string[] = [];
  const noting = {
    ...operations,
    changeThing: async (_: Caller, box: string, id: string) => (seen.push(box), { id, madeAt: AT }),
  };
  const [, route] = routesOf(things, noting, handlers);
  await route!.handler(exchange({ params: { box: '\u0000', id: ID }, body: { newName: 'n' } }), caller);
  expect(seen).toEqual(['\u0000']);
});

test('what has no form of an id is not found', async () => {
  await expect(async () => change!.handler(exchange({ params: { box: 'a', id: 'x' } }), caller)).rejects.toThrow(
    'Thing not found',
  );
});

test('a list is read in parts', async () => {
  const reply = await list!.handler(exchange({ query: { limit: 5, offset: 0 } }), caller);
  expect(reply).toMatchObject({ status: 200, body: { total: 1 } });
});

test('a line without an operation has a handler of its own', async () => {
  expect(await odd!.handler(exchange({ params: { id: ID } }), caller)).toEqual({ status: 200, body: JSON_OF_THING });
});

test('an operation that does not fit its line does not compile', () => {
  const { listThings, changeThing } = operations;
  const lessReturned = async () => ({ id: ID });
  const otherAsked = async (_: Caller, _box: string, id: string, { size }: { readonly size: number }) => ({
    id,
    madeAt: size,
  });
  // @ts-expect-error the result lacks what the record has.
  routesOf(things, { listThings, changeThing: lessReturned }, handlers);
  // @ts-expect-error the body has no such field.
  routesOf(things, { listThings, changeThing: otherAsked }, handlers);
  // @ts-expect-error an operation is missing.
  routesOf(things, { changeThing }, handlers);
  // @ts-expect-error a line without an operation needs a handler.
  expect(routesOf(things, { listThings, changeThing })).toHaveLength(3);
});
