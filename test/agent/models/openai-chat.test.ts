// What a server of chat completions is sent.
import { expect, test } from 'vitest';
import type { AssistantMessage, ModelMessage, Prompt } from '../../../src/agent/models/message.ts';
import { OPENAI_CHAT } from '../../../src/agent/models/openai-chat.ts';
import { GRANT } from '../play-main.ts';

const PROMPT: Prompt = { instructions: 'Be brief.', messages: [], tools: [], maxOutputTokens: 1_024 };
const bodyOf = (changes: Partial<Prompt>) => OPENAI_CHAT.bodyOf(GRANT, { ...PROMPT, ...changes });
const sent = (...messages: ModelMessage[]) => bodyOf({ messages })['messages'];
const SYSTEM = { role: 'system', content: 'Be brief.' };
const text = (words: string) => ({ type: 'text', text: words }) as const;

test('a call streams, with its counts, and without tools it has no field of them', () => {
  expect(bodyOf({ messages: [{ role: 'user', parts: [text('Hi')] }] })).toEqual({
    model: GRANT.model,
    max_tokens: 1_024,
    messages: [SYSTEM, { role: 'user', content: 'Hi' }],
    stream: true,
    stream_options: { include_usage: true },
  });
});

test('tools are functions that the model may choose', () => {
  const inputSchema = { type: 'object', properties: {} };
  const { tools, tool_choice: choice } = bodyOf({ tools: [{ name: 'get_tides', description: 'Tides.', inputSchema }] });
  expect(choice).toBe('auto');
  expect(tools).toEqual([
    { type: 'function', function: { name: 'get_tides', description: 'Tides.', parameters: inputSchema } },
  ]);
});

test('a server is sent only what its grammar can express of a schema', () => {
  const note = { type: 'string', maxLength: 2_000 };
  const schemaOf = (inner: object) => ({ type: 'object', properties: { note: inner } }) as never;
  const tools = [{ name: 'get_tides', description: 'Tides.', inputSchema: schemaOf({ ...note, pattern: 'a' }) }];
  expect(bodyOf({ tools })).toHaveProperty(
    'tools.0.function.parameters',
    schemaOf({ type: 'string', description: 'Matches the regular expression a' }),
  );
  expect(bodyOf({ replySchema: schemaOf({ ...note, pattern: '^a$' }) })).toHaveProperty(
    'response_format.json_schema.schema',
    schemaOf({ type: 'string', pattern: '^a$' }),
  );
});

test('images and documents are parts beside the text', () => {
  const parts = [
    text('Look:'),
    { type: 'file', mediaType: 'image/png', data: 'aGk=' },
    { type: 'file', mediaType: 'application/pdf', data: 'cGRm', name: 'tides.pdf' },
  ] as const;
  expect(sent({ role: 'user', parts })).toEqual([
    SYSTEM,
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look:' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
        { type: 'file', file: { filename: 'tides.pdf', file_data: 'data:application/pdf;base64,cGRm' } },
      ],
    },
  ]);
});

test('calls have their arguments as text, each result is a message, and a call without text has null', () => {
  const call = { type: 'call', id: 'a', name: 'get_tides', input: { port: 'Brest' } } as const;
  const asked = { id: 'a', type: 'function', function: { name: 'get_tides', arguments: '{"port":"Brest"}' } };
  const result = { type: 'result', id: 'a', name: 'get_tides', ok: false, output: 'No.' } as const;
  const turns: ModelMessage[] = [
    { role: 'assistant', parts: [call] },
    { role: 'tool', parts: [result, { ...result, id: 'b' }] },
    { role: 'assistant', parts: [text('Look'), call, text('ing.')] },
    { role: 'assistant', parts: [text('Done.')] },
  ];
  expect(sent(...turns)).toEqual([
    SYSTEM,
    { role: 'assistant', content: null, tool_calls: [asked] },
    { role: 'tool', tool_call_id: 'a', content: 'No.' },
    { role: 'tool', tool_call_id: 'b', content: 'No.' },
    { role: 'assistant', content: 'Looking.', tool_calls: [asked] },
    { role: 'assistant', content: 'Done.' },
  ]);
});

const thought = (words: string, proof?: Record<string, unknown>) =>
  ({ type: 'thinking', text: words, ...(proof && { proof }) }) as AssistantMessage['parts'][number];

test.each([
  ['the usual field', [thought('Hm.')], { reasoning_content: 'Hm.', content: 'Done.' }],
  ['the field that it came in', [thought('Hm.', { field: 'reasoning' })], { reasoning: 'Hm.', content: 'Done.' }],
  [
    'parts of the content',
    [thought('Hm.', { field: 'content' })],
    {
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
        { type: 'text', text: 'Done.' },
      ],
    },
  ],
  [
    'its lists',
    [thought('Hm.', { field: 'reasoning' }), thought('', { reasoning_details: [{ type: 'reasoning.text' }] })],
    { reasoning: 'Hm.', reasoning_details: [{ type: 'reasoning.text' }], content: 'Done.' },
  ],
  ['a list alone', [thought('', { reasoning_details: [1] })], { reasoning_details: [1], content: 'Done.' }],
  ['nothing where nothing was thought', [thought('')], { content: 'Done.' }],
])('thinking goes back in %s', (_name, parts, expected) => {
  const message: AssistantMessage = { role: 'assistant', parts: [...parts, text('Done.')] };
  expect(sent(message)).toEqual([SYSTEM, { role: 'assistant', ...expected }]);
});

test.each([
  ['functions.get moon!', 'functions_get_moon_'],
  ['', 'unnamed'],
  ['x'.repeat(100), 'x'.repeat(64)],
])('a name that a model invented, %j, is sent back as one that is accepted', (name, accepted) => {
  const message: AssistantMessage = { role: 'assistant', parts: [{ type: 'call', id: 'a', name, input: {} }] };
  expect(JSON.stringify(sent(message))).toContain(`"function":{"name":"${accepted}"`);
});

test('the proof of a call goes back with it', () => {
  const proof = { extra_content: { google: { thought_signature: 'CvcBA' } } };
  const message: AssistantMessage = {
    role: 'assistant',
    parts: [{ type: 'call', id: 'a', name: 'get_moon', input: {}, proof }],
  };
  const call = { ...proof, id: 'a', type: 'function', function: { name: 'get_moon', arguments: '{}' } };
  expect(sent(message)).toEqual([SYSTEM, { role: 'assistant', content: null, tool_calls: [call] }]);
});
