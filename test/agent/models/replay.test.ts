// What a model gets back of its own replies: in the next step, after a crash, and in the next turn.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EndpointKind, RecordedStep } from '../../../src/agent/port/protocol.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { GRANT, makeBrief, makeTools, startRun } from '../play-main.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const block = (index: number, content_block: object, ...deltas: object[]) =>
  [
    event({ type: 'content_block_start', index, content_block }),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    event({ type: 'content_block_stop', index }),
  ].join('');

const CALL = { name: 'echo', arguments: '{"text":"hi"}' };
/** A reply of each protocol that thinks, speaks and calls a tool. */
const WIRES: Readonly<Record<Exclude<EndpointKind, 'offline'>, string>> = {
  openai: [
    chunk({ role: 'assistant', reasoning: 'Neaps', reasoning_details: [{ type: 'reasoning.text', text: 'Neaps' }] }),
    chunk({ reasoning: '.', reasoning_details: [{ type: 'reasoning.text', text: '.', signature: 'sig' }] }),
    chunk({ content: 'Looking.' }),
    chunk({ tool_calls: [{ id: 'c1', function: CALL, extra_content: { google: { thought_signature: 'x' } } }] }),
    chunk({}, 'tool_calls'),
    'data: [DONE]\n\n',
  ].join(''),
  anthropic: [
    event({ type: 'message_start', message: { usage: { input_tokens: 1 } } }),
    block(
      0,
      { type: 'thinking', thinking: '' },
      { type: 'thinking_delta', thinking: 'Neaps.' },
      { type: 'signature_delta', signature: 'sig' },
    ),
    block(1, { type: 'redacted_thinking', data: 'xyz' }),
    block(2, { type: 'text', text: '' }, { type: 'text_delta', text: 'Looking.' }),
    block(
      3,
      { type: 'tool_use', id: 'c1', name: 'echo', input: {} },
      { type: 'input_json_delta', partial_json: CALL.arguments },
    ),
    event({ type: 'message_delta', delta: { stop_reason: 'tool_use' } }),
    event({ type: 'message_stop' }),
  ].join(''),
};

/** What the server must see of it again. */
const REPLAYED: Readonly<Record<keyof typeof WIRES, object>> = {
  openai: {
    role: 'assistant',
    content: 'Looking.',
    reasoning: 'Neaps.',
    reasoning_details: [{ type: 'reasoning.text', text: 'Neaps.', signature: 'sig' }],
    tool_calls: [{ id: 'c1', type: 'function', function: CALL, extra_content: { google: { thought_signature: 'x' } } }],
  },
  anthropic: {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Neaps.', signature: 'sig' },
      { type: 'redacted_thinking', data: 'xyz' },
      { type: 'text', text: 'Looking.' },
      { type: 'tool_use', id: 'c1', name: 'echo', input: { text: 'hi' } },
    ],
  },
};

const THOUGHT = /Neaps|sig|xyz|thought_signature/;

describe.each(['openai', 'anthropic'] as const)('over the %s protocol', (kind) => {
  const model = () => ({ ...GRANT, kind, baseUrl: server.url });
  const seen = (from: number) => server.requests.slice(from).map(({ body }) => body.messages ?? []);
  const repliesIn = (messages: readonly { role?: string }[] | undefined) =>
    (messages ?? []).filter(({ role }) => role === 'assistant');

  async function firstRun() {
    server.enqueue({ wire: WIRES[kind] }, { text: 'Done.' });
    const from = server.requests.length;
    const main = startRun(await makeBrief({ model: model() }), makeTools().tools);
    expect((await main.done).status).toBe('completed');
    const steps = main.of('step').map(
      ({ reply }): RecordedStep => ({
        ...reply,
        message: JSON.parse(JSON.stringify(reply.message)),
        calls: reply.calls.map((call) => ({ ...call, state: { kind: 'ended', result: { ok: true, output: 'hi' } } })),
      }),
    );
    return { steps, requests: seen(from) };
  }

  test('thinking, its proofs and calls go back in the next step as they came', async () => {
    const { requests } = await firstRun();
    expect(repliesIn(requests[1])).toEqual([REPLAYED[kind]]);
  });

  test('they go back after a crash, and in the next turn', async () => {
    const { steps } = await firstRun();
    server.script({ text: 'Fine.' });
    const turn = { user: [{ type: 'text' as const, text: 'Do it.' }], attachments: [], steps: steps.slice(0, 1) };
    const from = server.requests.length;
    await startRun(await makeBrief({ model: model(), turn }), makeTools().tools).done;
    await startRun(await makeBrief({ model: model(), history: [{ ...turn, steps }] }), makeTools().tools).done;
    for (const messages of seen(from)) expect(repliesIn(messages)[0]).toEqual(REPLAYED[kind]);
  });

  test('another model gets what was said and done, without thinking', async () => {
    const { steps } = await firstRun();
    const other = kind === 'openai' ? 'anthropic' : 'openai';
    const history = [{ user: [{ type: 'text' as const, text: 'Do it.' }], attachments: [], steps }];
    server.script({ text: 'Fine.' });
    const from = server.requests.length;
    await startRun(await makeBrief({ model: { ...model(), model: 'another' }, history }), makeTools().tools).done;
    await startRun(await makeBrief({ model: { ...model(), kind: other }, history }), makeTools().tools).done;
    const requests = seen(from).map((messages) => JSON.stringify(messages));
    expect(requests).toHaveLength(2);
    for (const request of requests) {
      for (const words of ['Looking.', '"name":"echo"', '"hi', 'Done.']) expect(request).toContain(words);
      expect(request).not.toMatch(THOUGHT);
    }
  });
});

/** Every kind of character, cut into deltas of one UTF-16 unit each: also halves of characters. */
const TEXT = `a"\\\n\t\u0001é—潮🌊👩‍👩‍👧 </s>\u2028data: [DONE]\r\n${'x'.repeat(50)}🌊`;
test.each(['openai', 'anthropic'] as const)('over the %s protocol, a text arrives byte for byte', async (kind) => {
  server.enqueue({ text: TEXT.split('') });
  const main = startRun(await makeBrief({ model: { ...GRANT, kind, baseUrl: server.url } }), []);
  expect(await main.done).toMatchObject({ status: 'completed', text: TEXT });
  expect(main.blocks()).toEqual([TEXT]);
  expect(main.of('step')[0]?.reply.text).toBe(TEXT);
});
