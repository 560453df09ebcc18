// What a server of the Messages protocol is sent.
import { expect, test } from 'vitest';
import { ANTHROPIC_MESSAGES } from '../../../src/agent/models/anthropic-messages.ts';
import type { ModelMessage, Prompt } from '../../../src/agent/models/message.ts';
import { NO_EXTRAS } from '../../../src/domain/capabilities/model.ts';
import type { JsonObject } from '../../../src/domain/json.ts';
import { GRANT } from '../play-main.ts';

const PROMPT: Prompt = { instructions: 'Be brief.', messages: [], tools: [], maxOutputTokens: 1_024 };
/** Without marks of the cache, unless `extraBody` is given. */
function bodyOf(changes: Partial<Prompt>, extraBody: JsonObject = { cache_control: null }): JsonObject {
  const grant = { ...GRANT, extras: { ...NO_EXTRAS, extraBody } };
  return ANTHROPIC_MESSAGES.bodyOf(grant, { ...PROMPT, ...changes });
}
const sent = (...messages: ModelMessage[]) => bodyOf({ messages })['messages'];
const text = (words: string) => ({ type: 'text', text: words }) as const;
const user = (words: string): ModelMessage => ({ role: 'user', parts: [text(words)] });

test('a call streams, and without tools it has no field of them', () => {
  expect(bodyOf({ messages: [user('Hi')] })).toEqual({
    model: GRANT.model,
    max_tokens: 1_024,
    system: [{ type: 'text', text: 'Be brief.' }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    stream: true,
  });
  expect(ANTHROPIC_MESSAGES.path).toBe('/messages');
  expect(ANTHROPIC_MESSAGES.headersOf('sk-1')).toEqual({ 'anthropic-version': '2023-06-01', 'x-api-key': 'sk-1' });
});

test('tools have their schema, and the model may choose', () => {
  const inputSchema = { type: 'object', properties: {} };
  expect(bodyOf({ tools: [{ name: 'get_tides', description: 'Tides.', inputSchema }] })).toMatchObject({
    tools: [{ name: 'get_tides', description: 'Tides.', input_schema: inputSchema }],
    tool_choice: { type: 'auto' },
  });
});

test('a server is sent only what its grammar can express of a schema', () => {
  const note = { type: 'string', maxLength: 2_000 };
  const schemaOf = (inner: object) => ({ type: 'object', properties: { note: inner } }) as never;
  const tools = [{ name: 'get_tides', description: 'Tides.', inputSchema: schemaOf({ ...note, pattern: 'a' }) }];
  const body = bodyOf({ tools, replySchema: schemaOf({ ...note, pattern: '^a$' }) });
  expect(body).toHaveProperty(
    'tools.0.input_schema',
    schemaOf({ type: 'string', description: 'Matches the regular expression a' }),
  );
  expect(body).toHaveProperty('output_config.format.schema', schemaOf({ type: 'string', pattern: '^a$' }));
});

test('results are the first of what the user says next, and messages of one side are one', () => {
  const messages: ModelMessage[] = [
    user('Hi'),
    {
      role: 'assistant',
      parts: [text('Looking.'), { type: 'call', id: 'a', name: 'get_tides', input: { port: 'B' } }],
    },
    { role: 'tool', parts: [{ type: 'result', id: 'a', name: 'get_tides', ok: false, output: 'No.' }] },
    user('And now?'),
  ];
  expect(sent(...messages)).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Looking.' },
        { type: 'tool_use', id: 'a', name: 'get_tides', input: { port: 'B' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: 'No.', is_error: true },
        { type: 'text', text: 'And now?' },
      ],
    },
  ]);
});

test('images and documents are blocks beside the text', () => {
  const parts = [
    { type: 'file', mediaType: 'image/png', data: 'aGk=' },
    { type: 'file', mediaType: 'application/pdf', data: 'cGRm', name: 'tides.pdf' },
  ] as const;
  expect(sent({ role: 'user', parts })).toEqual([
    {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: 'cGRm' },
          title: 'tides.pdf',
        },
      ],
    },
  ]);
});

test('thinking goes back with its signature, or as it was redacted; without either it is left out', () => {
  const parts = [
    { type: 'thinking', text: 'Hm.', proof: { signature: 'sig' } },
    { type: 'thinking', text: '', proof: { data: 'xyz' } },
    { type: 'thinking', text: 'Unsigned.' },
    text('Done.'),
  ] as const;
  expect(sent({ role: 'assistant', parts })).toEqual([
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
        { type: 'redacted_thinking', data: 'xyz' },
        { type: 'text', text: 'Done.' },
      ],
    },
  ]);
});

test.each([
  [{ signature: 'sig' }, { type: 'thinking', thinking: 'Hm.', signature: 'sig' }],
  [{ data: 'xyz' }, { type: 'redacted_thinking', data: 'xyz' }],
])('a reply that ends with thinking, which is refused, gets a text behind it: %j', (proof, thought) => {
  const parts = [{ type: 'thinking', text: 'Hm.', proof }, text('\n')] as const;
  expect(sent({ role: 'assistant', parts })).toEqual([
    { role: 'assistant', content: [thought, { type: 'text', text: '(no text)' }] },
  ]);
});

test('texts without a visible character, which are refused, are left out, but no message is empty', () => {
  const call = { type: 'call', id: 'a', name: 'get_moon', input: {} } as const;
  const messages: ModelMessage[] = [
    { role: 'assistant', parts: [text('\n\n'), call] },
    user(' '),
    { role: 'assistant', parts: [text('\n')] },
  ];
  expect(sent(...messages)).toEqual([
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'get_moon', input: {} }] },
    { role: 'user', content: [{ type: 'text', text: '(no text)' }] },
    { role: 'assistant', content: [{ type: 'text', text: '(no text)' }] },
  ]);
});

test('an id and a name that another server gave a call are made ones that are accepted, for the call and its result', () => {
  const messages: ModelMessage[] = [
    { role: 'assistant', parts: [{ type: 'call', id: 'functions.add:0', name: 'math.add', input: {} }] },
    { role: 'tool', parts: [{ type: 'result', id: 'functions.add:0', name: 'add', ok: true, output: '3' }] },
  ];
  expect(JSON.stringify(sent(...messages)).match(/functions[^"]+/g)).toEqual(['functions_add_0', 'functions_add_0']);
  expect(JSON.stringify(sent(...messages))).toContain('"math_add"');
});

const MARK = { cache_control: { type: 'ephemeral' } };
test('the server is asked to keep the instructions, and the prompt up to the last and the next call', () => {
  const answer: ModelMessage = { role: 'assistant', parts: [text('Fine.')] };
  const messages = [user('One'), answer, user('Two'), answer, user('Three'), user('Four')];
  const body = bodyOf({ messages }, {});
  expect(body['system']).toEqual([{ type: 'text', text: 'Be brief.', ...MARK }]);
  expect(body['messages']).toEqual([
    { role: 'user', content: [text('One')] },
    { role: 'assistant', content: [text('Fine.')] },
    { role: 'user', content: [{ ...text('Two'), ...MARK }] },
    { role: 'assistant', content: [text('Fine.')] },
    { role: 'user', content: [text('Three'), { ...text('Four'), ...MARK }] },
  ]);
});

test.each([[{ cache_control: null }], [{ cache_control: { type: 'ephemeral', ttl: '1h' } }]])(
  'an endpoint with %j decides itself what is kept',
  (extraBody) => {
    expect(JSON.stringify(bodyOf({ messages: [user('Hi')] }, extraBody))).not.toContain('cache_control');
  },
);
