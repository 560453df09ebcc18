// Questions and insights in the loop: where a run ends to wait, and how it continues with the answer.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { asking } from '../../src/agent/packs/asking.ts';
import type { RecordedCall, RecordedStep, StepReply, ToolResult } from '../../src/agent/port/protocol.ts';
import { type ModelServer, startModelServer } from '../support/model/model-server.ts';
import { GRANT, makeBrief, makeTools, startRun } from './play-main.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
beforeEach(() => server.script({ text: 'Fine.' }));

const packs = [asking];
const QUESTION = { question: 'Which colour?', options: ['red', 'blue'] };
const ask = (id = 'ask1', input: unknown = QUESTION) => ({ id, name: 'ask_user', input });
const echo = (id: string) => ({ id, name: 'echo', input: { text: id } });

const briefFor = (kind: 'openai' | 'anthropic', changes: Parameters<typeof makeBrief>[0] = {}) =>
  makeBrief({ model: { ...GRANT, kind, baseUrl: server.url }, ...changes });

/** The turn as the journal has it after a reply, with how far each of its calls got. */
function recorded(reply: StepReply, states: Readonly<Record<string, RecordedCall['state']>>) {
  const calls = reply.calls.map((call) => ({ ...call, state: states[call.id] ?? { kind: 'waiting' as const } }));
  const step: RecordedStep = { ...reply, calls };
  return { user: [{ type: 'text' as const, text: 'Do it.' }], attachments: [], steps: [step] };
}

describe.each(['openai', 'anthropic'] as const)('over the %s protocol', (kind) => {
  test('a question ends the attempt: its reply is recorded, and later calls have not begun', async () => {
    const { tools, ran } = makeTools();
    server.enqueue({ text: 'Let me ask.', tools: [echo('before'), ask(), echo('after')] });
    const before = server.requests.length;
    const main = startRun(await briefFor(kind), tools, { packs });
    expect(await main.done).toEqual({
      status: 'waiting',
      question: { id: 'ask1', name: 'ask_user', input: QUESTION },
    });
    expect(ran).toEqual(['echo before']);
    expect(main.of('tool-result').map(({ call }) => call.id)).toEqual(['before']);
    expect(main.of('step')).toHaveLength(1);
    expect(server.requests).toHaveLength(before + 1);
  });

  test.each([
    ['an answer', { ok: true, output: 'red, please' }],
    ['no answer', { ok: false, output: 'The user did not answer in time.' }],
  ] as const)('with %s the run continues at the call after it, exactly once', async (_name, answer: ToolResult) => {
    const { tools, ran } = makeTools();
    server.enqueue({ text: 'Let me ask.', tools: [echo('before'), ask(), echo('after')] });
    const first = startRun(await briefFor(kind), tools, { packs });
    await first.done;
    ran.length = 0;
    const turn = recorded(first.of('step')[0]!.reply, {
      before: { kind: 'ended', result: { ok: true, output: 'before' } },
      // The call counts as begun with the result before it.
      ask1: { kind: 'unknown' },
    });
    const asked = server.requests.length;
    const brief = await briefFor(kind, { turn, attempt: 2, nextBlockIndex: 1, answers: { ask1: answer } });
    const main = startRun(brief, tools, { packs });
    expect(await main.done).toMatchObject({ status: 'completed', text: 'Fine.' });
    expect(ran).toEqual(['echo after']);
    expect(main.of('tool-result').map(({ call, result }) => [call.id, result])).toEqual([
      ['ask1', answer],
      ['after', { ok: true, output: 'after' }],
    ]);
    expect(JSON.stringify(server.requests[asked]?.body.messages)).toContain(answer.output);
  });
});

test.each(['unknown', 'waiting'] as const)('a resumed run asks a question in state "%s" again', async (state) => {
  server.enqueue({ tools: [ask()] });
  const first = startRun(await briefFor('openai'), [], { packs });
  await first.done;
  const turn = recorded(first.of('step')[0]!.reply, { ask1: { kind: state } });
  const main = startRun(await briefFor('openai', { turn, attempt: 2 }), [], { packs });
  expect(await main.done).toMatchObject({ status: 'waiting', question: { id: 'ask1' } });
  expect(main.of('tool-result')).toEqual([]);
});

test('of two questions in one reply the second waits for the answer to the first', async () => {
  server.enqueue({ tools: [ask('one'), ask('two')] });
  const first = startRun(await briefFor('openai'), [], { packs });
  expect(await first.done).toMatchObject({ question: { id: 'one' } });
  const turn = recorded(first.of('step')[0]!.reply, {});
  const answers = { one: { ok: true, output: 'red' } };
  const main = startRun(await briefFor('openai', { turn, attempt: 2, answers }), [], { packs });
  expect(await main.done).toMatchObject({ status: 'waiting', question: { id: 'two' } });
  expect(main.of('tool-result').map(({ call }) => call.id)).toEqual(['one']);
});

test('a question with a name of Object.prototype for its id waits like any other', async () => {
  server.enqueue({ tools: [ask('constructor')] });
  const main = startRun(await briefFor('openai'), [], { packs });
  expect(await main.done).toMatchObject({ status: 'waiting', question: { id: 'constructor' } });
});

test.each([
  ['no question', {}],
  ['an empty one', { question: '' }],
  ['a single option', { question: 'Well?', options: ['yes'] }],
  ['eleven options', { question: 'Well?', options: Array.from({ length: 11 }, (_, at) => `${at}`) }],
  ['two that are the same', { question: 'Well?', options: ['a', 'a'] }],
  ['another field', { question: 'Well?', deadline: 'now' }],
])('a question with %s is refused, and no user is asked', async (_name, input) => {
  server.enqueue({ tools: [ask('ask1', input)] });
  const main = startRun(await briefFor('openai'), [], { packs });
  expect(await main.done).toMatchObject({ status: 'completed' });
  expect(main.of('tool-result')[0]!.result).toMatchObject({ ok: false, output: expect.stringContaining('schema') });
});

test('a sub-agent can report but not ask, and its instructions do not mention asking', async () => {
  server.enqueue({ tools: [ask()] });
  const before = server.requests.length;
  const main = startRun(await briefFor('openai', { depth: 1 }), [], { packs });
  expect(await main.done).toMatchObject({ status: 'completed' });
  expect(main.of('tool-result')[0]!.result.output).toContain('no tool named "ask_user"');
  const { tools, messages } = server.requests[before]!.body;
  expect(JSON.stringify(tools)).toContain('report_insight');
  expect(JSON.stringify([tools, messages])).not.toContain('ask_user');
});

test('the instructions say when to ask', async () => {
  const before = server.requests.length;
  await startRun(await briefFor('openai'), [], { packs }).done;
  expect(JSON.stringify(server.requests[before]!.body.messages)).toContain('Use ask_user only when');
});

describe('report_insight', () => {
  const report = (input: unknown) => ({ id: 'r1', name: 'report_insight', input });

  test('asks the main thread once, with clean texts and the call it belongs to', async () => {
    server.enqueue({ tools: [report({ title: ' Salt\nin the\u0000 air ', summary: 'It \ud800 rusts.' })] });
    const main = startRun(await briefFor('openai'), [], { packs });
    await main.next(({ t }) => t === 'request');
    const asked = main.of('request')[0]!;
    expect(asked).toMatchObject({
      service: 'report_insight',
      input: { callId: 'r1', title: 'Salt in the\uFFFD air', summary: 'It \uFFFD rusts.', priority: 'normal' },
    });
    main.control({ t: 'reply', request: asked.request, reply: { ok: true, output: { insightId: 'the-id' } } });
    expect(await main.done).toMatchObject({ status: 'completed' });
    expect(main.of('tool-result')[0]!.result).toEqual({ ok: true, output: 'Recorded as insight the-id.' });
  });

  test('a refusal by the main thread is reported to the model', async () => {
    server.enqueue({ tools: [report({ title: 'Salt', summary: 'It rusts.', priority: 'urgent' })] });
    const main = startRun(await briefFor('openai'), [], { packs });
    await main.next(({ t }) => t === 'request');
    const asked = main.of('request')[0]!;
    main.control({
      t: 'reply',
      request: asked.request,
      reply: { ok: false, message: 'The insight could not be recorded.' },
    });
    await main.done;
    expect(main.of('tool-result')[0]!.result).toEqual({ ok: false, output: 'The insight could not be recorded.' });
  });

  test.each([
    ['a long title', { title: 'x'.repeat(201), summary: 's' }],
    ['no summary', { title: 'x' }],
    ['a blank title', { title: '  ', summary: 's' }],
    ['an unknown priority', { title: 'x', summary: 's', priority: 'extreme' }],
  ])('%s is refused without asking', async (_name, input) => {
    server.enqueue({ tools: [report(input)] });
    const main = startRun(await briefFor('openai'), [], { packs });
    await main.done;
    expect(main.of('request')).toEqual([]);
    expect(main.of('tool-result')[0]!.result.ok).toBe(false);
  });
});
