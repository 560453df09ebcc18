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

test('definitions of newer drafts are changed, too', () => {
  const schema = (inner: object) => ({ type: 'object', $defs: { note: inner, any: true } });
  expect(sentToolSchema(schema({ type: 'string', maxLength: 5_000, description: 'A note.' }) as never)).toEqual(
    schema({ type: 'string', description: 'A note.' }),
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
