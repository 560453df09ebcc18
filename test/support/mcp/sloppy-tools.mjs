// Tools as MCP servers in use list them: what their libraries leave out, set to null, or take from other dialects.
const OBJECT = { type: 'object', properties: {} };
const ADDRESS = { type: 'object', properties: { street: { type: 'string' } }, required: ['street'] };

/** Each can be called with `{}` or what stands beside it. @type {Record<string, { schema?: unknown, input?: object }>} */
const MENDED = {
  no_schema: {},
  null_schema: { schema: null },
  empty_schema: { schema: {} },
  no_type: { schema: { properties: { a: { type: 'string' } }, required: ['a'] }, input: { a: 'x' } },
  null_properties: { schema: { type: 'object', properties: null, required: null, additionalProperties: null } },
  empty_list_of_properties: { schema: { type: 'object', properties: [], required: [] } },
  alternatives: {
    schema: {
      anyOf: [
        { type: 'object', properties: { kind: { const: 'id' }, id: { type: 'integer' } }, required: ['kind', 'id'] },
        {
          type: 'object',
          properties: { kind: { const: 'name' }, name: { type: 'string' } },
          required: ['kind', 'name'],
        },
      ],
    },
    input: { kind: 'name', name: 'x' },
  },
  dangling: {
    schema: { type: 'object', properties: { a: { $ref: '#/$defs/Gone', description: 'Anything.' } } },
    input: { a: 1 },
  },
  remote: {
    schema: { type: 'object', properties: { a: { $ref: 'https://example.com/schema.json' } } },
    input: { a: [] },
  },
  root_reference: { schema: { $ref: '#/$defs/Address', $defs: { Address: ADDRESS } }, input: { street: 'x' } },
  newest_draft: {
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
        all: true,
        any: {},
      },
      unevaluatedProperties: false,
    },
    input: { pair: ['a', 1], all: null },
  },
  old_drafts: {
    schema: {
      type: 'object',
      properties: {
        a: { type: 'integer', minimum: 0, exclusiveMinimum: true, required: true },
        b: { type: 'array', items: [{ type: 'string' }], additionalItems: false },
      },
    },
    input: { a: 1, b: ['x'] },
  },
  other_types: {
    schema: {
      type: 'OBJECT',
      properties: { a: { type: 'STRING' }, b: { type: 'int' }, c: { type: 'any' }, d: 'boolean' },
    },
    input: { a: 'x', b: 1, c: null, d: true },
  },
  look_around: {
    schema: { type: 'object', properties: { mail: { type: 'string', pattern: '^(?!\\.).+@.+$' } } },
    input: { mail: 'a@b' },
  },
  nulls: {
    schema: {
      type: 'object',
      title: null,
      properties: { a: { type: 'string', description: null, enum: null, default: null, format: null, minLength: '1' } },
    },
    input: { a: 'x' },
  },
};

/** What no model can be given, and why. */
const UNUSABLE = {
  list: { schema: { type: 'array', items: OBJECT } },
  words: { schema: 'see the manual' },
  odd_type: { schema: { type: 'object', properties: { a: { type: 'spaceship' } } } },
};

const toolsOf = (table) =>
  Object.entries(table).map(([name, { schema }]) => ({
    name,
    description: `Does ${name}.`,
    ...(schema !== undefined && { inputSchema: schema }),
  }));

export const MENDED_TOOLS = MENDED;
export const UNUSABLE_NAMES = Object.keys(UNUSABLE);
/** The list, as it is sent. */
export const SLOPPY_TOOLS = [...toolsOf(MENDED), ...toolsOf(UNUSABLE), { description: 'Has no name.' }, null];
