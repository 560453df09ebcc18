// The tool that a request forces, as libraries send it: recorded bodies of LangChain and instructor, and the forms that no test with a client has.
import { expect, test } from 'vitest';
import { ErrandError } from '../../../../src/domain/errors.ts';
import type { JsonObject, JsonValue } from '../../../../src/domain/json.ts';
import { countTools, readForcedTool } from '../../../../src/http/conversations/reading/forced-tool.ts';

type Protocol = Parameters<typeof readForcedTool>[1];

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { metres: { type: 'number' }, place: { type: 'string', enum: ['Husum', 'Emden'] } },
  required: ['metres', 'place'],
  additionalProperties: false,
};
const { $schema: _dialect, ...READ } = SCHEMA;
const chatTool = (name: string, parameters?: JsonValue) => ({
  type: 'function',
  function: { name, ...(parameters !== undefined && { parameters }) },
});

/** As recorded, without their messages: @langchain/openai 1.5.8, @langchain/anthropic 1.5.11, @instructor-ai/instructor 1.7.0. */
const RECORDED: readonly (readonly [library: string, protocol: Protocol, body: JsonObject])[] = [
  [
    'LangChain on chat',
    'chat',
    { tools: [chatTool('tide', SCHEMA)], tool_choice: { type: 'function', function: { name: 'tide' } } },
  ],
  [
    'LangChain on Responses',
    'responses',
    {
      tools: [{ type: 'function', name: 'tide', parameters: SCHEMA, strict: null }],
      tool_choice: { type: 'function', name: 'tide' },
      text: {},
    },
  ],
  [
    'LangChain on Messages',
    'messages',
    {
      tools: [{ name: 'tide', description: 'A function available to call.', input_schema: SCHEMA }],
      tool_choice: { type: 'tool', name: 'tide' },
    },
  ],
  [
    'instructor with functions',
    'chat',
    { functions: [{ name: 'tide', description: '', parameters: SCHEMA }], function_call: { name: 'tide' } },
  ],
];

test.each(RECORDED)(
  '%s has its schema and the name of its tool',
  { tags: ['M4-forced'] },
  (_library, protocol, body) => {
    const forced = readForcedTool(body, protocol);
    expect(forced).toMatchObject({ resultTool: { name: 'tide' }, outputSchema: { title: 'tide', ...READ } });
    expect(countTools(body, protocol)).toBe(1);
  },
);

test('a tool without a schema takes any object, and one whose root is a reference takes objects', {
  tags: ['M4-forced'],
}, () => {
  const schemaOf = (parameters?: JsonValue) =>
    readForcedTool({ tools: [chatTool('x', parameters)], tool_choice: 'required' }, 'chat')?.outputSchema;
  expect(schemaOf()).toEqual({ title: 'x', type: 'object', properties: {} });
  expect(schemaOf({})).toEqual({ title: 'x', type: 'object' });
  expect(schemaOf({ type: ['object', 'null'] })).toEqual({ title: 'x', type: 'object' });
  expect(schemaOf({ $ref: '#/$defs/a', $defs: { a: { required: ['b'] } } })).toEqual({
    title: 'x',
    type: 'object',
    allOf: [{ $ref: '#/definitions/a' }],
    definitions: { a: { required: ['b'] } },
  });
});

test('the only tool that is allowed is forced where a call is required', { tags: ['M4-forced'] }, () => {
  const both = { tools: [chatTool('a', SCHEMA), chatTool('b', SCHEMA)] };
  const allowing = (mode: string, ...names: string[]) => {
    const tools = names.map((name) => ({ type: 'function', function: { name } }));
    return readForcedTool({ ...both, tool_choice: { type: 'allowed_tools', allowed_tools: { mode, tools } } }, 'chat');
  };
  expect(allowing('required', 'b')?.resultTool).toEqual({ name: 'b' });
  expect(allowing('auto', 'b')).toBeNull();
  expect(allowing('required', 'a', 'b')).toBeNull();
  const own = [{ type: 'function', name: 'b', parameters: SCHEMA }, { type: 'web_search' }];
  const choice = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'b' }] };
  expect(readForcedTool({ tools: own, tool_choice: choice }, 'responses')?.resultTool).toEqual({ name: 'b' });
});

test.each<[Protocol, JsonObject]>([
  ['chat', { tools: [chatTool('a')], tool_choice: 'auto' }],
  ['chat', { tools: [chatTool('a')], tool_choice: 'none' }],
  ['chat', { tools: [chatTool('a')] }],
  ['chat', { tools: 'none', tool_choice: 'required' }],
  ['chat', { functions: [{ name: 'a' }], function_call: 'auto' }],
  ['responses', { tools: [{ type: 'web_search' }], tool_choice: 'required' }],
  ['responses', { tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } }],
  ['messages', { tools: [{ type: 'web_search_20250305', name: 'web' }], tool_choice: { type: 'tool', name: 'web' } }],
  [
    'messages',
    {
      tools: [
        { name: 'a', input_schema: {} },
        { name: 'b', input_schema: {} },
      ],
      tool_choice: { type: 'any' },
    },
  ],
  ['messages', { tools: [{ name: 'a', input_schema: {} }], tool_choice: { type: 'none' } }],
])('on %s, %j forces none', { tags: ['M4-forced'] }, (protocol, body) => {
  expect(readForcedTool(body, protocol)).toBeNull();
});

test.each<[Protocol, JsonObject, string]>([
  ['messages', { tool_choice: { type: 'tool', name: 'a' } }, 'tool_choice.name: must name one of tools'],
  [
    'messages',
    { tools: [{ name: 'a' }], tool_choice: { type: 'any' } },
    'tools[0].input_schema: must be a JSON Schema',
  ],
  ['messages', { tools: [{ input_schema: {} }], tool_choice: { type: 'any' } }, 'tools[0].name: must be a string'],
  ['chat', { tools: [{ type: 'function' }], tool_choice: 'required' }, 'tools[0].function: must be an object'],
  ['chat', { tools: [chatTool('a\n')], tool_choice: 'required' }, 'tools[0].function.name: must'],
  ['chat', { function_call: { name: 'a' } }, 'function_call.name: must name one of functions'],
  [
    'responses',
    {
      tools: [{ type: 'function', name: 'a', parameters: { properties: { b: { $anchor: 'c' } } } }],
      tool_choice: 'required',
    },
    'tools[0].parameters/properties/b/$anchor: has no equivalent',
  ],
])('on %s, %j is refused', { tags: ['M4-forced'] }, (protocol, body, words) => {
  try {
    readForcedTool(body, protocol);
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(ErrandError);
    expect((error as ErrandError).message).toContain(words);
  }
});
