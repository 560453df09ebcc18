// What servers are sent of a schema: nothing that makes one of them refuse the call.
import { expect, test } from 'vitest';
import { sentReplySchema, sentToolSchema } from '../../../src/agent/models/sent-schema.ts';

const nested = (inner: object) => ({
  type: 'object',
  properties: { pages: { type: 'array', items: inner } },
  additionalProperties: false,
});

test.each([sentToolSchema, sentReplySchema])(
  'counts of 1,000 and more are left out, wherever they are (%o)',
  (sent) => {
    const limits = { minLength: 1, maxLength: 2_000, minItems: 1_000, maxItems: 999 };
    expect(sent(nested({ type: 'string', ...limits }) as never)).toEqual(
      nested({ type: 'string', minLength: 1, maxItems: 999 }),
    );
  },
);

test.each([sentToolSchema, sentReplySchema])('schemas are objects, and bounds fit into 64 bits (%o)', (sent) => {
  const odd = {
    properties: { any: true, none: false, count: { type: 'integer', minimum: -5, maximum: 1e30 } },
    anyOf: [true, { items: [true] }],
    additionalProperties: false,
  };
  expect(sent(nested(odd) as never)).toEqual(
    nested({
      properties: { any: {}, none: { not: {} }, count: { type: 'integer', minimum: -5 } },
      anyOf: [{}, { items: [{}] }],
      additionalProperties: false,
    }),
  );
});

test('definitions of newer drafts are changed, too', () => {
  const schema = (inner: object, any: unknown) => ({ type: 'object', $defs: { note: inner, any } }) as never;
  expect(sentToolSchema(schema({ type: 'string', maxLength: 5_000, description: 'A note.' }, true))).toEqual(
    schema({ type: 'string', description: 'A note.' }, {}),
  );
});

test('patterns of tools are words, after those that are there', () => {
  const [code, day] = [{ type: 'string', pattern: 'a+', description: 'A code.' }, { pattern: '^\\d$' }];
  expect(sentToolSchema(nested({ properties: { code, day } }) as never)).toEqual(
    nested({
      properties: {
        code: { type: 'string', description: 'A code. Matches the regular expression a+' },
        day: { description: 'Matches the regular expression ^\\d$' },
      },
    }),
  );
});

test('a reply is kept to its patterns', () => {
  const schema = nested({ type: 'string', pattern: '^a+$' });
  expect(sentReplySchema(schema as never)).toEqual(schema);
});

test('properties with the names of keywords are properties', () => {
  const schema = { type: 'object', properties: { pattern: { type: 'string' }, maxLength: { type: 'number' } } };
  expect(sentToolSchema(schema)).toEqual(schema);
});
