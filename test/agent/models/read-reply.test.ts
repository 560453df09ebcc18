// Replies as servers send them, however the network cuts them: what is read of each.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ANTHROPIC_MESSAGES } from '../../../src/agent/models/anthropic-messages.ts';
import { OPENAI_CHAT } from '../../../src/agent/models/openai-chat.ts';
import { makeByteReader } from '../../../src/agent/models/read-reply.ts';
import { makeReplyCollector, type Reply } from '../../../src/agent/models/reply.ts';
import { UpstreamFault } from '../../../src/agent/models/upstream-fault.ts';

const FOLDER = new URL('fixtures/', import.meta.url);
const PROTOCOLS = { openai: OPENAI_CHAT, anthropic: ANTHROPIC_MESSAGES };
const ANTHROPIC = /^(?:anthropic|bedrock|vllm-messages|gateway-whole-input)/;

interface Read {
  readonly reply: Reply;
  readonly fault: UpstreamFault | null;
}

function read(bytes: Buffer, kind: keyof typeof PROTOCOLS, pieceBytes: number, maxBytes = 100_000): Read {
  const collector = makeReplyCollector();
  const reader = makeByteReader(PROTOCOLS[kind], maxBytes, collector.take);
  try {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      if (reader.take(bytes.subarray(at, at + pieceBytes))) return { reply: collector.reply(), fault: null };
    }
    reader.end();
    return { reply: collector.reply(), fault: null };
  } catch (error) {
    if (!(error instanceof UpstreamFault)) throw error;
    return { reply: collector.reply(), fault: error };
  }
}

const fixture = (name: string) => readFileSync(new URL(`${name}.sse`, FOLDER));
const kindOf = (name: string) => (ANTHROPIC.test(name) ? 'anthropic' : 'openai');

const text = (words: string) => ({ type: 'text', text: words });
const call = (id: string, name: string, json: string) => ({ type: 'call', id, name, json });
const tides = (id: string, port: string, space = '') => call(id, 'get_tides', `{"port":${space}"${port}"}`);
const thinking = (words: string, proof: object) => ({ type: 'thinking', text: words, proof });
const usage = (inputTokens: number, outputTokens: number, cacheReadTokens = 0, cacheWriteTokens = 0) => ({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
});
const NONE = usage(0, 0);

const COMPLETE: Readonly<Record<string, { parts: unknown[]; ending: string; usage: object }>> = {
  'openai-text': { parts: [text('High water at six — 潮 🌊.')], ending: 'stop', usage: usage(2006, 10, 1920) },
  'openai-tools': {
    parts: [tides('call_DdmO9pD3xa9XTPNJ32zg2hcA', 'Brest'), call('call_2', 'get_moon', '{}')],
    ending: 'tool-calls',
    usage: NONE,
  },
  'openai-refusal': { parts: [text("I'm sorry, I can't.")], ending: 'stop', usage: NONE },
  'azure-filter': { parts: [text('Tides')], ending: 'content-filter', usage: NONE },
  'ollama-tools': {
    parts: [
      thinking('The user asks for two.', { field: 'reasoning' }),
      call('call_wteop8bt', 'run_command', '{"command":"ls"}'),
      call('call_rk2xye1l', 'run_command', '{"command":"ls -l"}'),
    ],
    ending: 'tool-calls',
    usage: usage(158, 61),
  },
  'ollama-index-zero': {
    parts: [call('call_a', 'run_command', '{"command":"ls"}'), call('call_b', 'run_command', '{"command":"pwd"}')],
    ending: 'stop',
    usage: NONE,
  },
  'vllm-tools': {
    parts: [thinking('Let me see.', { field: 'reasoning_content' }), tides('chatcmpl-tool-7d1b', 'Brest', ' ')],
    ending: 'tool-calls',
    usage: usage(190, 19),
  },
  'vllm-changing-ids': { parts: [tides('chatcmpl-tool-1111', 'Brest', ' ')], ending: 'tool-calls', usage: NONE },
  'llama-cpp-tools': {
    parts: [thinking('Tides.', { field: 'reasoning_content' }), tides('kqXbE1', 'Brest')],
    ending: 'tool-calls',
    usage: usage(240, 35, 236),
  },
  'lm-studio-tools': { parts: [text('Looking.'), tides('814890118', 'Brest')], ending: 'tool-calls', usage: NONE },
  'tgi-tools': {
    parts: [call('0', 'get_tides', '{ "port": "Brest"}'), call('0', 'get_tides', '{}')],
    ending: 'stop',
    usage: usage(120, 22),
  },
  'tgi-earlier-tools': { parts: [call('', 'get_tides', '{"port": {}}')], ending: 'stop', usage: NONE },
  'openrouter-thinking': {
    parts: [
      thinking('Neaps then.', { field: 'reasoning' }),
      text('At six.'),
      thinking('', {
        reasoning_details: [
          { type: 'reasoning.text', text: 'Neaps then.', format: 'anthropic-claude-v1', index: 0, signature: 'EsMC' },
          { type: 'reasoning.encrypted', data: 'gAAA', id: 'rs_1', format: 'openai-responses-v1', index: 1 },
        ],
      }),
    ],
    ending: 'stop',
    usage: usage(50, 30, 20, 10),
  },
  'mistral-thinking': {
    parts: [thinking('Neaps then.', { field: 'content' }), text('At six.')],
    ending: 'length',
    usage: usage(10, 9),
  },
  'google-tools': {
    parts: [
      { ...tides('function-call-1', 'Brest'), proof: { extra_content: { google: { thought_signature: 'CvcBA' } } } },
      tides('function-call-2', 'Dover'),
    ],
    ending: 'stop',
    usage: usage(70, 20),
  },
  'deepseek-thinking': {
    parts: [thinking('Neaps.', { field: 'reasoning_content' }), text('At six.')],
    ending: 'stop',
    usage: usage(100, 12, 64),
  },
  'litellm-thinking': {
    parts: [
      thinking('Neaps.', { field: 'reasoning_content' }),
      text('At six.'),
      thinking('', { thinking_blocks: [{ type: 'thinking', thinking: 'Neaps.', signature: 'EsMC' }] }),
    ],
    ending: 'stop',
    usage: usage(60, 9, 30, 20),
  },
  'groq-text': { parts: [text('At six.')], ending: 'stop', usage: usage(18, 6) },
  'moonshot-text': { parts: [text('At six.')], ending: 'stop', usage: usage(19, 13, 10) },
  'gateway-object-arguments': { parts: [tides('', 'Brest'), tides('', 'Dover')], ending: 'tool-calls', usage: NONE },
  'gateway-whole-message': { parts: [text('At six.')], ending: 'stop', usage: usage(5, 3) },
  'anthropic-thinking-tools': {
    parts: [
      thinking('Neaps then.', { signature: 'EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds==' }),
      thinking('', { data: 'EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIwxtE3rAFBa8cr3qpP' }),
      text('I look it up.'),
      tides('toolu_01T1x1fJ34qAmk2tNTrN7Up6', 'Brest', ' '),
    ],
    ending: 'tool-calls',
    usage: usage(2_572, 89, 2_000, 100),
  },
  'anthropic-refusal': { parts: [text('Hello..')], ending: 'content-filter', usage: usage(564, 22) },
  'anthropic-two-texts': { parts: [text('High water.'), text('Low water.')], ending: 'length', usage: usage(9, 7) },
  'bedrock-text': { parts: [text('At six.')], ending: 'stop', usage: usage(12, 6) },
  'vllm-messages-tools': {
    parts: [tides('chatcmpl-tool-1', 'Brest', ' ')],
    ending: 'tool-calls',
    usage: usage(190, 19),
  },
  'gateway-whole-input': {
    parts: [tides('', 'Brest'), tides('', 'Dover'), call('', 'get_moon', '')],
    ending: 'tool-calls',
    usage: usage(5, 9),
  },
};

const FAULTS: Readonly<Record<string, { kind: string; words: string; text: string }>> = {
  'vllm-error': { kind: 'failing', words: 'EngineCore encountered an issue.', text: 'High' },
  'llama-cpp-error': { kind: 'context_too_long', words: 'context shift is disabled', text: 'High' },
  'lm-studio-error': { kind: 'failing', words: 'Exit code: 6', text: '' },
  'tgi-error': { kind: 'failing', words: 'CUDA out of memory', text: 'High' },
  'openrouter-error': { kind: 'rate_limited', words: 'Rate limit exceeded', text: 'High' },
  'deepseek-busy': { kind: 'cut', words: 'insufficient_system_resource', text: 'At' },
  'anthropic-overloaded': { kind: 'overloaded', words: 'Overloaded', text: 'High' },
  'anthropic-cut': { kind: 'cut', words: '"end_turn"', text: '' },
};

test('each recorded reply is read by one of the tests below', () => {
  const names = readdirSync(FOLDER).map((name) => name.replace(/\.sse$/, ''));
  expect(names.toSorted()).toEqual([...Object.keys(COMPLETE), ...Object.keys(FAULTS)].toSorted());
});

const PIECES = [1, 2, 7, 61, 100_000];
const LINES: readonly [string, (bytes: Buffer) => Buffer][] = [
  ['as they are', (bytes) => bytes],
  ['that end with CRLF', (bytes) => Buffer.from(bytes.toString().replaceAll('\n', '\r\n'))],
  ['after a byte order mark', (bytes) => Buffer.from(`\uFEFF${bytes.toString().replace(/^(?::.*\n|\n)+/, '')}`)],
];

describe.each(LINES)('with lines %s', (_name, linesOf) => {
  test.each(Object.entries(COMPLETE))('%s is read', (name, expected) => {
    for (const piece of PIECES) {
      const { reply, fault } = read(linesOf(fixture(name)), kindOf(name), piece);
      expect(fault?.message).toBeUndefined();
      expect(reply).toEqual(expected);
    }
  });

  test.each(Object.entries(FAULTS))(
    '%s is reported, after what came before it',
    (name, { kind, words, text: said }) => {
      for (const piece of PIECES) {
        const { reply, fault } = read(linesOf(fixture(name)), kindOf(name), piece);
        expect(fault).toMatchObject({ kind, message: expect.stringContaining(words) });
        expect(reply.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')).toBe(said);
        expect(reply.ending).toBeNull();
      }
    },
  );
});

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
const SWARMS: readonly [string, keyof typeof PROTOCOLS, (at: number) => string][] = [
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
