// Replies as servers send them, however the network cuts them: what is read of each.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { call, NONE, read, text, thinking, tides, usage } from './reading.ts';

const FOLDER = new URL('fixtures/', import.meta.url);
const ANTHROPIC = /^(?:anthropic|bedrock-text|vllm-messages|llama-cpp-b10573-messages|gateway-whole-input)/;
const fixture = (name: string) => readFileSync(new URL(`${name}.sse`, FOLDER));
const kindOf = (name: string) => (ANTHROPIC.test(name) ? 'anthropic' : 'openai');

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
  'llama-cpp-b10573-tools': {
    parts: [
      thinking(' spring has"}"", boats","}', { field: 'reasoning_content' }),
      text(' from west'),
      call('ecKFnkvEFzHGaGwsonIryJ90FmKz96kz', 'get_tides', '{"port" :"Brest"}'),
    ],
    ending: 'tool-calls',
    usage: usage(185, 63, 184),
  },
  'llama-cpp-b10573-schema': {
    parts: [
      thinking(' day and" from night boats" look', { field: 'reasoning_content' }),
      text('{"metres" :9,"kind" :"spring"}'),
    ],
    ending: 'stop',
    usage: usage(24, 32, 7),
  },
  'llama-cpp-b10573-messages': {
    parts: [
      thinking(' falls time before write, for3 moon', { signature: '' }),
      text(' west spring from boats night'),
      call('tyNIGP9iqOF9iudfYYRwKAHnSjU3xJZa', 'get_tides', '{"port" :"Brest"}'),
    ],
    ending: 'length',
    usage: usage(185, 70, 184),
  },
  'transformers-5.17-tools': {
    parts: [
      thinking('Tides.', { field: 'reasoning_content' }),
      text('High.'),
      call('0bbbc2a7-7916-4dda-b4fe-31d2df59cbcb_tool_call_0', 'get_tides', '{"port": "Brest"}'),
      call('0bbbc2a7-7916-4dda-b4fe-31d2df59cbcb_tool_call_1', 'get_moon', '{}'),
    ],
    ending: 'tool-calls',
    usage: usage(124, 115),
  },
  'lm-studio-tools': {
    parts: [text('Looking.'), tides('814890118', 'Brest')],
    ending: 'tool-calls',
    usage: NONE,
  },
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
  'gateway-shifted-index': {
    parts: [tides('call_1', 'Brest'), tides('call_2', 'Dover')],
    ending: 'tool-calls',
    usage: NONE,
  },
  'google-filter': { parts: [], ending: 'content-filter', usage: usage(10, 0) },
  'minimax-whole-message': { parts: [text('At six.')], ending: 'stop', usage: usage(11, 4) },
  'google-finish-each': {
    parts: [thinking('Tides.', { field: 'reasoning_content' }), text('At six.')],
    ending: 'stop',
    usage: usage(7, 5),
  },
  'bedrock-guardrail': { parts: [text('Sorry.')], ending: 'content-filter', usage: NONE },
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
  'llama-cpp-b10573-error': { kind: 'unreadable', words: 'peg-native format', text: '<think> again"' },
  'transformers-5.17-error': { kind: 'failing', words: 'CUDA out of memory', text: 'Hel' },
  'transformers-5.17-broken-error': { kind: 'failing', words: 'out of memory', text: '' },
  'lm-studio-error': { kind: 'failing', words: 'Exit code: 6', text: '' },
  'tgi-error': { kind: 'failing', words: 'CUDA out of memory', text: 'High' },
  'openrouter-error': { kind: 'rate_limited', words: 'Rate limit exceeded', text: 'High' },
  'google-malformed-call': { kind: 'unreadable', words: 'MALFORMED_FUNCTION_CALL', text: '' },
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
