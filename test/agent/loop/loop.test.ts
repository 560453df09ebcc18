// The loop as the main thread sees it: what is sent in which order, and how each kind of turn ends.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EndpointKind, RecordedCall, RecordedStep, Signal } from '../../../src/agent/port/protocol.ts';
import type { ExecutedTool } from '../../../src/agent/port/tool.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { GRANT, LIMITS, makeBrief, makeTools, type SignalOf, startRun } from '../play-main.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
beforeEach(() => server.script({ text: 'Fine.' }));

const NO_USAGE = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };

function briefFor(kind: EndpointKind, changes: Parameters<typeof makeBrief>[0] = {}) {
  return makeBrief({ model: { ...GRANT, kind, baseUrl: server.url }, ...changes });
}

function namesOf(signals: readonly Signal[]): string[] {
  return signals.map(({ t }) => t);
}

describe.each(['openai', 'anthropic'] as const)('over the %s protocol', (kind) => {
  test('a plain answer is one block, then its step and its end', async () => {
    server.enqueue({ text: ['Hel', 'lo.'], usage: { input: 20, output: 4, cacheRead: 6 } });
    const main = startRun(await briefFor(kind, { nextBlockIndex: 3 }), []);
    expect(await main.done).toEqual({ status: 'completed', text: 'Hello.', stopReason: 'end_turn' });
    // That its endpoint answers is said by the first run of a thread.
    const names = namesOf(main.signals).filter((t) => t !== 'answered');
    expect([...new Set(names)]).toEqual(['block-start', 'text', 'block-stop', 'step', 'done']);
    expect(main.of('block-start')).toEqual([{ t: 'block-start', index: 3 }]);
    expect(main.blocks()[3]).toBe('Hello.');
    const [step] = main.of('step');
    expect(step?.reply).toMatchObject({ step: 1, kind, text: 'Hello.', calls: [] });
    expect(step?.reply.usage).toMatchObject({ inputTokens: 20, outputTokens: 4, cacheReadTokens: 6 });
  });

  test('calls run one after another, each after the journal has recorded the previous result', async () => {
    const { tools, ran } = makeTools();
    server.enqueue({
      text: 'Adding.',
      tools: [
        { id: 'one', name: 'add', input: { a: 1, b: 2 } },
        { id: 'two', name: 'echo', input: { text: 'hi' } },
      ],
    });
    const before = server.requests.length;
    const main = startRun(await briefFor(kind), tools);
    expect((await main.done).status).toBe('completed');
    expect(ran).toEqual(['add 1 2', 'echo hi']);
    expect(namesOf(main.signals)).toEqual([
      'block-start',
      'text',
      'block-stop',
      'step',
      'tool-result',
      'tool-result',
      'block-start',
      'text',
      'block-stop',
      'step',
      'done',
    ]);
    expect(main.blocks()).toEqual(['Adding.', 'Fine.']);
    const second = JSON.stringify(server.requests[before + 1]?.body.messages);
    expect(second).toContain('"3"');
    expect(second).toContain('"hi"');
  });

  test('each step says what its call was made of, and the conversation grows', async () => {
    const { tools } = makeTools();
    server.enqueue({
      tools: [{ id: 'one', name: 'echo', input: { text: 'x'.repeat(500) } }],
      usage: { input: 900, output: 4 },
    });
    server.enqueue({ text: 'Done.', usage: { input: 1_300, output: 4 } });
    const main = startRun(await briefFor(kind), tools);
    await main.done;
    const [first, second] = main.of('step').map(({ reply }) => reply.context);
    expect([first!.system + first!.history + first!.tools, second!.system + second!.history + second!.tools]).toEqual([
      900, 1_300,
    ]);
    expect(first!.tools).toBeGreaterThan(0);
    expect(first!.system).toBeGreaterThan(0);
    expect(second!.history / 1_300).toBeGreaterThan(first!.history / 900);
  });

  test('no tool runs before the step is acknowledged', { tags: ['D7-steps'] }, async () => {
    const { tools, ran } = makeTools();
    server.enqueue({ tools: [{ id: 'one', name: 'echo', input: { text: 'late' } }] });
    const main = startRun(await briefFor(kind), tools, { acks: () => false });
    const step = await main.next(({ t }) => t === 'step');
    expect(ran).toEqual([]);
    main.control({ t: 'ack', ack: 'ack' in step ? step.ack : 0 });
    await main.next(({ t }) => t === 'tool-result');
    expect(ran).toEqual(['echo late']);
    // The result was not acknowledged, so the model was not asked again.
    expect(main.of('step')).toHaveLength(1);
    main.control({ t: 'abort', reason: 'end of test' });
    expect(await main.done).toEqual({ status: 'canceled' });
  });

  test('a resumed turn repeats no recorded call, closes the unknown one and runs the waiting one', {
    tags: ['D7-steps'],
  }, async () => {
    const { tools, ran } = makeTools();
    server.enqueue({
      text: 'Three calls.',
      tools: ['a', 'b', 'c'].map((id) => ({ id, name: 'echo', input: { text: id } })),
    });
    const first = startRun(await briefFor(kind), tools, { acks: ({ t }) => t === 'step' });
    await first.next(({ t }) => t === 'tool-result');
    first.control({ t: 'abort', reason: 'crash' });
    await first.done;
    ran.length = 0;

    const [{ reply }] = first.of('step') as [SignalOf<'step'>];
    const states: Record<string, RecordedCall['state']> = {
      a: { kind: 'ended', result: { ok: true, output: 'recorded a' } },
      b: { kind: 'unknown' },
    };
    const calls = reply.calls.map((call) => ({ ...call, state: states[call.id] ?? { kind: 'waiting' as const } }));
    const step: RecordedStep = { ...reply, calls };
    const turn = { user: [{ type: 'text' as const, text: 'Do it.' }], attachments: [], steps: [step] };
    const before = server.requests.length;
    const main = startRun(await briefFor(kind, { turn, nextBlockIndex: 1 }), tools);
    expect((await main.done).status).toBe('completed');
    expect(ran).toEqual(['echo c']);
    const results = main.of('tool-result');
    expect(results.map(({ call }) => call.id)).toEqual(['b', 'c']);
    expect(results[0]?.result).toMatchObject({ ok: false, output: expect.stringContaining('outcome unknown') });
    expect(main.of('step')[0]?.reply.step).toBe(2);
    const sent = JSON.stringify(server.requests[before]?.body.messages);
    for (const words of ['recorded a', 'outcome unknown', 'Three calls.']) expect(sent).toContain(words);
  });

  test('an abort in the middle of an endless stream ends the run and the upstream connection', async () => {
    server.enqueue({ text: ['more '], endless: true, deltaMs: 5 });
    const before = server.requests.length;
    const main = startRun(await briefFor(kind), []);
    await main.next(({ t }) => t === 'text');
    main.control({ t: 'abort', reason: 'stopped' });
    expect(await main.done).toEqual({ status: 'canceled' });
    expect(namesOf(main.signals).slice(-2)).toEqual(['call-failed', 'done']);
    await expect.poll(() => server.requests[before]?.closedBy).toBe('client');
  });

  test('arguments that are not JSON are reported to the model and nothing runs', async () => {
    const { tools, ran } = makeTools();
    server.enqueue({ tools: [{ id: 'one', name: 'add', rawArguments: '{"a": 1, "b"' }] });
    const before = server.requests.length;
    const main = startRun(await briefFor(kind), tools);
    expect((await main.done).status).toBe('completed');
    expect(ran).toEqual([]);
    expect(main.of('tool-result')[0]).toMatchObject({ call: { input: {} }, result: { ok: false } });
    expect(JSON.stringify(server.requests[before + 1]?.body.messages)).toContain('not valid JSON');
  });

  test.each(['', '{"text": "Once upon'])(
    'a call that was cut with its reply after %j does not run',
    async (rawArguments) => {
      const { tools, ran } = makeTools();
      const whole = { id: 'one', name: 'echo', rawArguments: '' };
      server.enqueue({ tools: [whole, { id: 'two', name: 'echo', rawArguments }], finish: 'length' });
      const main = startRun(await briefFor(kind), tools);
      expect((await main.done).status).toBe('completed');
      expect(ran).toHaveLength(1);
      const results = main.of('tool-result').map(({ result }) => result);
      expect(results[1]).toEqual({ ok: false, output: expect.stringContaining('reached its limit') });
    },
  );
});

test.each([65, 1_600])('arguments %i levels deep are reported to the model and nothing runs', async (levels) => {
  const { tools, ran } = makeTools();
  const rawArguments = `{"text":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
  server.enqueue({ tools: [{ id: 'c1', name: 'echo', rawArguments }] }, { text: 'Flat now.' });
  const main = startRun(await briefFor('openai'), tools);
  expect(await main.done).toMatchObject({ status: 'completed', text: 'Flat now.' });
  expect(ran).toEqual([]);
  expect(main.of('tool-result')[0]?.result).toEqual({
    ok: false,
    output: 'The arguments were nested deeper than 64 levels.',
  });
});

test('arguments that do not fit the schema and unknown tools are reported to the model, and the run continues', async () => {
  const { tools, ran } = makeTools();
  server.enqueue(
    { tools: [{ name: 'add', input: { a: 'one', b: 2, c: 3 } }] },
    { tools: [{ name: 'format_disk', input: {} }] },
    { tools: [{ name: 'echo', rawArguments: '[1]' }] },
  );
  const main = startRun(await briefFor('openai'), tools);
  expect((await main.done).status).toBe('completed');
  expect(ran).toEqual([]);
  const outputs = main.of('tool-result').map(({ result }) => result.output);
  expect(outputs[0]).toMatch(/\/a must be number/);
  expect(outputs[0]).toMatch(/additional properties \(c\)/);
  expect(outputs[1]).toMatch(/no tool named "format_disk".*add, echo/);
  expect(outputs[2]).toMatch(/not a JSON object/);
});

test('a tool that the brief does not grant is neither offered nor run', async () => {
  const { tools, ran } = makeTools();
  server.enqueue({ tools: [{ name: 'add', input: { a: 1, b: 1 } }] });
  const before = server.requests.length;
  const main = startRun(await briefFor('openai', { tools: ['echo'] }), tools);
  await main.done;
  expect(ran).toEqual([]);
  expect(main.of('tool-result')[0]?.result.ok).toBe(false);
  expect(JSON.stringify(server.requests[before]?.body['tools'])).not.toContain('"add"');
});

test('two calls of a turn never share an id, however the server numbers them', async () => {
  const { tools } = makeTools();
  const call = { id: 'call_0', name: 'echo', input: { text: 'x' } };
  server.enqueue({ tools: [call] }, { tools: [call] });
  const main = startRun(await briefFor('openai'), tools);
  await main.done;
  expect(main.of('tool-result').map(({ call: { id } }) => id)).toEqual(['call_0', 'call_0-2']);
});

test('a model that calls tools without end is stopped by the step limit', async () => {
  const { tools, ran } = makeTools();
  server.script({ tools: [{ name: 'echo', input: { text: 'again' } }] });
  const main = startRun(await briefFor('openai', { limits: { ...LIMITS, maxSteps: 3 } }), tools);
  expect(await main.done).toMatchObject({
    status: 'failed',
    error: { type: 'api_error', retryable: false, message: expect.stringContaining('3 steps') },
  });
  expect(ran).toHaveLength(3);
});

test('an answer that was cut by its length says so', async () => {
  server.enqueue({ text: 'Cut he', finish: 'length' });
  const main = startRun(await briefFor('openai'), []);
  expect(await main.done).toEqual({ status: 'completed', text: 'Cut he', stopReason: 'max_tokens' });
});

test('a recorded final answer is completed without asking the model', async () => {
  const before = server.requests.length;
  const step: RecordedStep = {
    step: 1,
    kind: 'openai',
    message: { version: 2, model: 'm', ending: 'length', parts: [{ type: 'text', characters: 5 }], faults: {} },
    text: 'Kept.',
    calls: [],
    usage: NO_USAGE,
  };
  const turn = { user: [{ type: 'text' as const, text: 'Do it.' }], attachments: [], steps: [step] };
  const main = startRun(await briefFor('openai', { turn }), []);
  expect(await main.done).toEqual({ status: 'completed', text: 'Kept.', stopReason: 'max_tokens' });
  expect(namesOf(main.signals)).toEqual(['done']);
  expect(server.requests.length).toBe(before);
});

test('a tool that throws is a failed result', async () => {
  const broken: ExecutedTool = {
    ...makeTools().echo,
    execute: () => Promise.reject(new Error('disk full')),
  };
  server.enqueue({ tools: [{ name: 'echo', input: {} }] });
  const main = startRun(await briefFor('openai'), [broken]);
  expect((await main.done).status).toBe('completed');
  expect(main.of('tool-result')[0]?.result).toEqual({ ok: false, output: 'The tool failed: disk full' });
});

test('an abort ends the run at once inside a tool that ignores its signal', async () => {
  const deaf: ExecutedTool = { ...makeTools().echo, execute: () => new Promise(() => undefined) };
  server.enqueue({ tools: [{ name: 'echo', input: {} }] });
  const main = startRun(await briefFor('openai'), [deaf]);
  await main.next(({ t }) => t === 'step');
  main.control({ t: 'abort', reason: 'stopped' });
  expect(await main.done).toEqual({ status: 'canceled' });
  expect(main.of('tool-result')).toEqual([]);
});

test('the run ends by its own time limit, also inside a tool', { tags: ['D8-limits'] }, async () => {
  const deaf: ExecutedTool = { ...makeTools().echo, execute: () => new Promise(() => undefined) };
  server.enqueue({ tools: [{ name: 'echo', input: {} }] });
  const main = startRun(await briefFor('openai', { limits: { ...LIMITS, runTimeoutMs: 300 } }), [deaf]);
  expect(await main.done).toMatchObject({ status: 'failed', error: { type: 'timeout_error', retryable: true } });
});

test('a closed port stops the run and its upstream', async () => {
  server.enqueue({ text: ['x'], endless: true, deltaMs: 5 });
  const before = server.requests.length;
  const main = startRun(await briefFor('openai'), []);
  await main.next(({ t }) => t === 'text');
  main.hangUp();
  await expect.poll(() => server.requests[before]?.closedBy).toBe('client');
});

test('a metered model is called with a permit in hand, given back before tools run and while waiting to retry', async () => {
  const { tools } = makeTools();
  server.enqueue({ tools: [{ name: 'echo', input: { text: 'x' } }] }, { status: 500 }, { text: 'Done.' });
  const brief = await briefFor('openai');
  const main = startRun({ ...brief, model: { ...brief.model, metered: true } }, tools);
  expect((await main.done).status).toBe('completed');
  const order = namesOf(main.signals).filter((t) => !['block-start', 'text', 'block-stop', 'answered'].includes(t));
  const permit = ['permit-wanted', 'permit-returned'];
  // Before the next try, it asks how the model is configured now.
  const failed = ['call-failed', 'log', 'request'];
  expect(order).toEqual([...permit, 'step', 'tool-result', ...permit, ...failed, ...permit, 'step', 'done']);
});

test('a reply brings how its call went: its tries, and its pace until the first token', async () => {
  server.enqueue({ status: 500 }, { text: 'Done.' });
  const main = startRun(await briefFor('openai'), []);
  expect((await main.done).status).toBe('completed');
  const { timing } = main.of('step')[0]!.reply;
  expect(timing).toMatchObject({ tries: 2, permitWaitMs: 0, commitWaitMs: 0 });
  expect(timing.firstTokenMs).toBeLessThanOrEqual(timing.durationMs);
});

test('a run that fails for want of a reply brings how the call went', async () => {
  server.enqueue({ status: 400 });
  const main = startRun(await briefFor('openai'), []);
  expect(await main.done).toMatchObject({ status: 'failed', call: { tries: 1, firstTokenMs: null, retryWaitMs: 0 } });
});

test('a run that is stopped while it waits for a permit makes no call', async () => {
  const before = server.requests.length;
  const brief = await briefFor('openai');
  const main = startRun({ ...brief, model: { ...brief.model, metered: true } }, [], { permits: false });
  await main.next(({ t }) => t === 'permit-wanted');
  main.control({ t: 'abort', reason: 'stopped' });
  expect(await main.done).toEqual({ status: 'canceled' });
  expect(server.requests.length).toBe(before);
  expect(main.of('permit-returned')).toEqual([]);
});
