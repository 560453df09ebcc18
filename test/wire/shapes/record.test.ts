import { expect, test } from 'vitest';
import { array } from '../../../src/wire/shapes/composites.ts';
import { called, made, part, record, request } from '../../../src/wire/shapes/record.ts';
import { boolean, integer, string, time, uuid } from '../../../src/wire/shapes/scalars.ts';
import { type JsonOf, named, nullable, nullish, optional, orElse } from '../../../src/wire/shapes/shape.ts';

const AT = Date.parse('2026-03-01T12:00:00.000Z');
const ID = '0198c0de-0000-7000-8000-0000000000ff';

const owner = record({ userId: uuid, username: string });
const step = record({ id: called('step_id', uuid), startedAt: time });
const shape = named(
  'Thing',
  record({
    id: called('thing_id', uuid),
    owner: part(owner),
    steps: array(step),
    usedPercent: made(
      integer(),
      ({ used, limit }: { readonly used: number; readonly limit: number }) => (100 * used) / limit,
    ),
    endedAt: nullable(time),
    secret: optional(string),
  }),
);

const THING = {
  id: ID,
  userId: ID,
  username: 'mara',
  steps: [{ id: ID, startedAt: AT }],
  used: 1,
  limit: 4,
  endedAt: null,
};
const JSON_OF_THING: JsonOf<typeof shape> = {
  thing_id: ID,
  owner: { user_id: ID, username: 'mara' },
  steps: [{ step_id: ID, started_at: '2026-03-01T12:00:00.000Z' }],
  used_percent: 25,
  ended_at: null,
};

test('a record is rendered under the names of the wire, in the order of its table', () => {
  expect(JSON.stringify(shape.render(THING))).toBe(JSON.stringify(JSON_OF_THING));
  expect(JSON.stringify(shape.render({ ...THING, endedAt: AT, secret: 'x' }))).toBe(
    JSON.stringify({ ...JSON_OF_THING, ended_at: '2026-03-01T12:00:00.000Z', secret: 'x' }),
  );
});

test('a record is described and read by the names of the wire', () => {
  const components = new Map();
  expect(shape.describe(components)).toEqual({ $ref: '#/components/schemas/Thing' });
  expect(components.get('Thing').schema).toMatchObject({
    properties: {
      owner: { properties: { user_id: { type: 'string', format: 'uuid' } } },
      used_percent: { type: 'integer' },
    },
    required: ['thing_id', 'owner', 'steps', 'used_percent', 'ended_at'],
  });
  expect(shape.read(JSON.parse(JSON.stringify({ ...JSON_OF_THING, other: 1 })), '')).toEqual(JSON_OF_THING);
});

test('a value that lacks a field of a record does not compile', () => {
  const { used: _used, ...less } = THING;
  // @ts-expect-error what a made field takes is missing.
  const withoutUsed = () => shape.render(less);
  // @ts-expect-error a moment is a number in the domain.
  const withText = () => shape.render({ ...THING, endedAt: '2026-03-01T12:00:00.000Z' });
  expect([withoutUsed, withText]).toHaveLength(2);
});

test('another name, and what a field is made of, go around all else that is said of it', () => {
  // @ts-expect-error its type would have the name of the rule.
  const named = () => request({ a: optional(called('b', string)) });
  // @ts-expect-error it would be rendered from the field.
  const ofWhole = () => record({ a: nullable(made(string, () => 'x')) });
  expect([named, ofWhole]).toHaveLength(2);
});

const wish = request(
  {
    projectId: nullish(uuid),
    isEnabled: called('enabled', orElse(nullable(boolean), true)),
    steps: optional(array(request({ stepNo: integer({ from: 1 }) }))),
  },
  { atLeastOne: true },
);

test('a request is read under the names of the domain', () => {
  const read: { readonly projectId?: string | null; readonly isEnabled: boolean } = wish.read({ project_id: null }, '');
  expect(read).toEqual({ projectId: null, isEnabled: true });
  expect(wish.read({ enabled: null }, '')).toEqual({ isEnabled: true });
  expect(wish.read({ enabled: false, steps: [{ step_no: 2 }] }, '')).toEqual({
    isEnabled: false,
    steps: [{ stepNo: 2 }],
  });
});

test('a fault in a request is named by its place on the wire', () => {
  expect(() => wish.read({ project_id: 1 }, '')).toThrow('project_id: must be a UUID string');
  expect(() => wish.read({ steps: [{ step_no: 0 }] }, '')).toThrow('steps[0].step_no: must be');
});
