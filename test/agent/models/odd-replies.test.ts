// Replies that no server should send: what is read of them, what is passed over, and what is refused.
import { expect, test } from 'vitest';
import { UpstreamFault } from '../../../src/agent/models/upstream-fault.ts';
import { call, type Kind, NONE, read, text, thinking, tides } from './reading.ts';

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const delta = (value: object, finish: string | null = null) =>
  event({ choices: [{ index: 0, delta: value, finish_reason: finish }] });
const END = `${delta({}, 'stop')}data: [DONE]\n\n`;
const readChat = (wire: string, maxBytes?: number) => read(Buffer.from(wire), 'openai', 100_000, maxBytes);

test.each([
  ['a truncated object', 'data: {"choices":[{"delta":\n\n'],
  ['words', 'data: hello\n\n'],
  ['a number', 'data: 7\n\n'],
  ['an event that nests too deep', `data: {"choices":[{"delta":{"x":${'['.repeat(80)}${']'.repeat(80)}}}]}\n\n`],
])('%s violates the protocol', (_name, wire) => {
  expect(readChat(`${delta({ content: 'a' })}${wire}${END}`).fault).toMatchObject({ kind: 'protocol' });
});

test.each([
  ['fields of other types', { choices: [{ index: 0, delta: { content: 7, reasoning: {}, tool_calls: 'x' } }] }],
  ['choices that are none', { choices: 'none' }],
  ['a delta that is none', { choices: [{ index: 0, delta: [] }] }],
  ['calls that are none', { choices: [{ index: 0, delta: { tool_calls: [null, 3, []], function_call: null } }] }],
  ['counts that are none', { choices: [], usage: { prompt_tokens: 'many', completion_tokens: -1 } }],
])('%s are passed over', (_name, value) => {
  const { reply, fault } = readChat(`${delta({ content: 'a' })}${event(value)}${delta({ content: 'b' })}${END}`);
  expect(fault).toBeNull();
  expect(reply).toEqual({ parts: [text('ab')], ending: 'stop', usage: NONE });
});

test.each([
  ['null', 'data: null\n\n'],
  ['blanks around the end mark', 'data:   [DONE] \n\n'],
  ['the end mark as JSON', 'data: "[DONE]"\n\n'],
  ["a gateway's own word for the end", 'event: done\ndata: done\n\n'],
])('a complete reply stays complete, whatever ends its stream: %s', (_name, wire) => {
  const { reply, fault } = readChat(`${delta({ content: 'a' })}${delta({}, 'stop')}${wire}`);
  expect(fault).toBeNull();
  expect(reply).toMatchObject({ parts: [text('a')], ending: 'stop' });
});

test.each([
  ['guardrail_intervened', 'content-filter'],
  ['content_filtered', 'content-filter'],
  ['content_filter', 'content-filter'],
  ['length', 'length'],
  ['tool_calls', 'tool-calls'],
])('gateways in front of the Messages protocol end a reply with %s', (word, ending) => {
  const wire = event({ type: 'message_delta', delta: { stop_reason: word } }) + event({ type: 'message_stop' });
  expect(read(Buffer.from(wire), 'anthropic', 100_000).reply.ending).toBe(ending);
});

test('the end mark is an end without a reason to finish, too', { tags: ['D8-empty-replies'] }, () => {
  const { reply, fault } = readChat(`${delta({ content: 'a' })}data: [DONE]\n\n`);
  expect(fault).toBeNull();
  expect(reply).toMatchObject({ parts: [text('a')], ending: 'stop' });
});

test.each([
  ['no content', delta({})],
  ['a reason that is no end', delta({ content: 'a' }, 'malformed_function_call')],
])('after %s, the end mark makes no reply complete', (_name, wire) => {
  expect(readChat(`${wire}data: [DONE]\n\n`).fault).toBeInstanceOf(UpstreamFault);
});

test('without the end mark and a reason to finish, a reply broke off', () => {
  expect(readChat(delta({ content: 'a' })).fault).toMatchObject({ kind: 'cut' });
});

test('an error in words has them', () => {
  const { fault } = readChat(`${delta({ content: 'a' })}event: error\ndata: The model is gone.\n\n`);
  expect(fault).toMatchObject({ message: expect.stringContaining('The model is gone.') });
});

test('a message that repeats what was streamed is not read again, but for its counts', () => {
  const called = {
    index: 0,
    id: 'c',
    type: 'function',
    function: { name: 'get_tides', arguments: '{"port":"Brest"}' },
  };
  const message = { role: 'assistant', content: 'Let me see.', tool_calls: [called] };
  const last = { choices: [{ index: 0, finish_reason: 'tool_calls', message }], usage: { prompt_tokens: 5 } };
  const wire = delta({ content: 'Let me see.' }) + delta({ tool_calls: [called] }) + event(last);
  const parts = [text('Let me see.'), tides('c', 'Brest')];
  expect(readChat(wire).reply).toEqual({ parts, ending: 'tool-calls', usage: { ...NONE, inputTokens: 5 } });
});

test('long names of fields count like what is in them', () => {
  const item = (index: number) => ({ type: 'reasoning.text', index, ['x'.repeat(1_000)]: 1 });
  const wire = Array.from({ length: 40 }, (_, index) => delta({ reasoning_details: [item(index)] })).join('');
  expect(readChat(wire + END, 20_000).fault).toMatchObject({ kind: 'reply_too_large' });
});

test('what is encrypted arrives whole: two of a kind are two', () => {
  const item = { type: 'reasoning.encrypted', data: 'gAAA' };
  const wire = delta({ reasoning_details: [item] }) + delta({ reasoning_details: [item] });
  expect(readChat(wire + END).reply.parts).toEqual([thinking('', { reasoning_details: [item, item] })]);
});

test('what follows the end of a reply is not read', () => {
  const { reply } = readChat(`${delta({ content: 'a' })}${END}${delta({ content: 'b' })}data: ???\n\n`);
  expect(reply.parts).toEqual([text('a')]);
});

test('a call in the form that preceded lists of calls is read', () => {
  const [first, second] = [{ name: 'get_tides', arguments: '{"port":' }, { arguments: '"Brest"}' }];
  const wire = delta({ function_call: first }) + delta({ function_call: second }, 'function_call');
  expect(readChat(wire).reply).toMatchObject({ parts: [tides('', 'Brest')], ending: 'tool-calls' });
});

test('a call whose name comes late has all of its arguments', () => {
  const pieces = [
    { index: 0, id: 'c', function: { arguments: '{"port":' } },
    { index: 0, function: { name: 'get_tides', arguments: '"Brest"' } },
    { index: 0, function: { arguments: '}' } },
  ];
  const wire = pieces.map((piece) => delta({ tool_calls: [piece] })).join('');
  expect(readChat(wire + END).reply.parts).toEqual([tides('c', 'Brest')]);
});

test('calls without index are continued by what has no name, or by their id', () => {
  const pieces = [
    { id: 'a', function: { name: 'get_tides', arguments: '{"port":' } },
    { id: 'b', function: { name: 'get_moon', arguments: '{' } },
    { function: { arguments: '}' } },
    { id: 'a', function: { arguments: '"Brest"}' } },
  ];
  const wire = pieces.map((piece) => delta({ tool_calls: [piece] })).join('');
  expect(readChat(wire + END).reply.parts).toEqual([tides('a', 'Brest'), call('b', 'get_moon', '{}')]);
});

test('the rest of a call belongs to it by its id, whatever its index', () => {
  const pieces = [
    { index: 0, id: 'a', function: { name: 'get_tides', arguments: '{"port":' } },
    { index: 1, id: 'a', function: { arguments: '"Brest"}' } },
  ];
  const wire = pieces.map((piece) => delta({ tool_calls: [piece] })).join('');
  expect(readChat(wire + END).reply.parts).toEqual([tides('a', 'Brest')]);
});

test('a sign of life is passed over, whatever it says', () => {
  const { reply, fault } = readChat(`event: ping\ndata: 2026-03-01 12:00:00.5\n\n${delta({ content: 'a' })}${END}`);
  expect(fault).toBeNull();
  expect(reply.parts).toEqual([text('a')]);
});

test('a call that never gets a name is one, so that the model is told', () => {
  const wire = delta({ tool_calls: [{ index: 0, id: 'a', function: { arguments: '{}' } }] });
  expect(readChat(wire + END).reply.parts).toEqual([call('a', '', '{}')]);
});

test('two calls at one index with ids of their own are two, also without arguments', () => {
  const pieces = ['a', 'b'].map((id) => ({ index: 0, id, function: { name: 'get_moon', arguments: '' } }));
  const wire = pieces.map((piece) => delta({ tool_calls: [piece] })).join('');
  expect(readChat(wire + END).reply.parts).toEqual([call('a', 'get_moon', ''), call('b', 'get_moon', '')]);
});

test('two calls of one tool without ids, at one index, are two', () => {
  const [brest, dover] = ['Brest', 'Dover'].map((port) => ({
    index: 0,
    function: { name: 'get_tides', arguments: JSON.stringify({ port }) },
  }));
  const wire = delta({ tool_calls: [brest] }) + delta({ tool_calls: [dover] });
  expect(readChat(wire + END).reply.parts).toEqual([tides('', 'Brest'), tides('', 'Dover')]);
});

/** Parts that weigh next to nothing: the limit of a reply's size alone would let millions of them in. */
const SWARMS: readonly [string, Kind, (at: number) => string][] = [
  ['calls', 'openai', (index) => delta({ tool_calls: [{ index, function: { name: 'x' } }] })],
  ['calls without a name', 'openai', (index) => delta({ tool_calls: [{ index }] })],
  ['items of a list', 'openai', () => delta({ reasoning_details: [0] })],
  ['texts', 'openai', (at) => delta(at % 2 === 0 ? { content: 'x' } : { reasoning: 'x' })],
  [
    'blocks',
    'anthropic',
    (index) => event({ type: 'content_block_start', index, content_block: { type: 'tool_use' } }),
  ],
];
test.each(SWARMS)('%s without end violate the protocol', (_name, kind, part) => {
  const wire = Array.from({ length: 10_001 }, (_, at) => part(at)).join('');
  expect(read(Buffer.from(wire), kind, 65_536, 4_194_304).fault).toMatchObject({ kind: 'protocol' });
  const fewer = Array.from({ length: 9_999 }, (_, at) => part(at)).join('');
  expect(read(Buffer.from(fewer), kind, 65_536, 4_194_304).fault).toMatchObject({ kind: 'cut' });
});

test('a reply of exactly the limit is read, one byte more is too large', () => {
  const wire = `${delta({ content: 'é'.repeat(500) })}${delta({ content: 'x' })}${END}`;
  // A container counts for each of its fields.
  const size = 1_001 + 2;
  expect(readChat(wire, size).fault).toBeNull();
  const { fault, reply } = readChat(wire, size - 1);
  expect(fault).toMatchObject({ kind: 'reply_too_large' });
  expect(reply.parts).toEqual([text('é'.repeat(500))]);
});
