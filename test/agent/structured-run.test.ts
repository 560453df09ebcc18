// A run that has to submit a result: what the model is offered, what counts as a result, and when the run gives up.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { asking } from '../../src/agent/packs/asking.ts';
import type { Brief, EndpointKind, RecordedCall, RecordedStep, StepReply } from '../../src/agent/port/protocol.ts';
import type { JsonObject, JsonValue } from '../../src/domain/json.ts';
import { readOutputSchema } from '../../src/domain/schema/output-schema.ts';
import { type ModelServer, startModelServer } from '../support/model/model-server.ts';
import type { Reply } from '../support/model/model-reply.ts';
import { GRANT, LIMITS, makeBrief, makeTools, startRun } from './play-main.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
beforeEach(() => server.script({ status: 500 }));

const TIDE = {
  type: 'object',
  required: ['height'],
  properties: { height: { $ref: '#/definitions/metres' }, note: { const: { $ref: '#/definitions/metres' } } },
  additionalProperties: false,
  definitions: { metres: { type: 'number', minimum: 0 } },
};
const GOOD = { height: 2.5 };

const submit = (result: JsonValue, id = 'call'): Reply => ({
  tools: [{ id, name: 'submit_result', input: { result } }],
});
const say = (text: string): Reply => ({ text });

function briefFor(schema: JsonValue, changes: Partial<Brief> = {}, kind: EndpointKind = 'openai'): Promise<Brief> {
  const outputSchema = readOutputSchema(schema, 'schema');
  return makeBrief({ model: { ...GRANT, kind, baseUrl: server.url }, outputSchema, ...changes });
}

const completed = (value: JsonValue) => ({
  status: 'completed',
  text: '',
  stopReason: 'end_turn',
  structured: { value },
});
const sent = (request: number) => JSON.stringify(server.requests[request]?.body.messages);

describe.each(['openai', 'anthropic'] as const)('over the %s protocol', (kind) => {
  test('the tool is offered with the schema one level down, nothing is forced, and a fitting call ends the run', async () => {
    const before = server.requests.length;
    server.enqueue(submit(GOOD));
    const main = startRun(await briefFor(TIDE, {}, kind), makeTools().tools);
    expect(await main.done).toEqual(completed(GOOD));
    expect(server.requests).toHaveLength(before + 1);
    const { body } = server.requests[before]!;
    const text = JSON.stringify(body);
    expect(text).toContain('{"$ref":"#/properties/result/definitions/metres"}');
    expect(text).toContain('"const":{"$ref":"#/definitions/metres"}');
    expect(body['tool_choice']).not.toMatchObject({ type: expect.stringMatching(/any|tool|function|required/) });
    expect(main.of('tool-result')).toMatchObject([{ result: { ok: true } }]);
  });

  test('a result that does not fit is answered with its paths, and the corrected one is taken', {
    tags: ['§4.4-rule-3', 'C14-results'],
  }, async () => {
    const before = server.requests.length;
    server.enqueue(submit({ height: -1, extra: 1 }), submit(GOOD));
    const main = startRun(await briefFor(TIDE, {}, kind), []);
    expect(await main.done).toEqual(completed(GOOD));
    expect(sent(before + 1)).toMatch(/result\/height must be >= 0/);
    expect(sent(before + 1)).toContain('extra');
    expect(main.of('tool-result').map(({ result }) => result.ok)).toEqual([false, true]);
  });

  test('a text is asked for again until the result is submitted', async () => {
    const before = server.requests.length;
    server.enqueue(say('The tide is high.'), say(''), say(''), submit(GOOD));
    const main = startRun(await briefFor(TIDE, {}, kind), []);
    expect(await main.done).toEqual(completed(GOOD));
    expect(main.of('step')).toHaveLength(3);
    expect(sent(before + 1)).toMatch(/The tide is high.*submit_result/);
  });
});

describe('results in a text', () => {
  test.each([
    ['bare', '{"height": 2.5}'],
    ['with blanks', '\n  {"height": 2.5}\n'],
    ['in a fenced block', 'Here it is:\n```json\n{"height": 2.5}\n```\nDone.'],
    ['in the last of several blocks', '```\n{"height": 1}\n```\nor rather\n```\n{"height": 2.5}\n```'],
  ])('JSON %s is taken when it fits', async (_name, text) => {
    server.enqueue(say(text));
    expect(await startRun(await briefFor(TIDE), []).done).toEqual(completed(GOOD));
  });

  test('JSON that does not fit is answered with its paths', async () => {
    const before = server.requests.length;
    server.enqueue(say('{"height": "high"}'), submit(GOOD));
    expect(await startRun(await briefFor(TIDE), []).done).toEqual(completed(GOOD));
    expect(sent(before + 1)).toContain('result/height must be number');
  });

  test('a text is not taken for the string that a schema wants', async () => {
    server.enqueue(say('plain words'), submit('words'));
    expect(await startRun(await briefFor({ type: 'string' }), []).done).toEqual(completed('words'));
  });
});

test.each([
  ['null', { type: 'null' }, null],
  ['number', { type: 'number' }, 0],
  ['integer', { type: 'integer' }, -7],
  ['boolean', { type: 'boolean' }, false],
  ['string', { type: 'string' }, ''],
  ['array', { type: 'array' }, []],
  ['object', { type: 'object' }, {}],
  ['anything', {}, [null]],
] satisfies [string, JsonObject, JsonValue][])('a root of type %s keeps its raw type', async (_name, schema, value) => {
  server.enqueue(submit(value));
  expect(await startRun(await briefFor(schema), []).done).toEqual(completed(value));
});

test('after three corrections the run is incomplete, and no value leaves it', {
  tags: ['§3.1-incomplete', '§4.4-rule-3', 'C14-results'],
}, async () => {
  const before = server.requests.length;
  server.enqueue(submit('one'), say('two'), submit({}), submit({ height: null }));
  const main = startRun(await briefFor(TIDE), []);
  const outcome = await main.done;
  expect(outcome).toMatchObject({ status: 'incomplete', error: { type: 'structured_output_error', retryable: true } });
  expect(outcome).not.toHaveProperty('structured');
  expect(main.of('step')).toHaveLength(4);
  expect(server.requests).toHaveLength(before + 4);
});

test('other tools run as ever and count as no correction', { tags: ['§4.4-rule-3'] }, async () => {
  const { tools, ran } = makeTools();
  const work: Reply = { tools: [{ name: 'echo', input: { text: 'x' } }] };
  server.enqueue(work, work, work, work, work, submit(GOOD));
  expect(await startRun(await briefFor(TIDE), tools).done).toEqual(completed(GOOD));
  expect(ran).toHaveLength(5);
});

test('calls before the result run, calls after it do not, and a second result changes nothing', async () => {
  const { tools, ran } = makeTools();
  const echo = (id: string) => ({ id, name: 'echo', input: { text: id } });
  const result = (id: string, height: number) => ({ id, name: 'submit_result', input: { result: { height } } });
  server.enqueue({ tools: [echo('a'), result('b', 1), echo('c'), result('d', 2)] });
  const main = startRun(await briefFor(TIDE), tools);
  expect(await main.done).toEqual(completed({ height: 1 }));
  expect(ran).toEqual(['echo a']);
  const results = main.of('tool-result').map(({ call, result: { ok, output } }) => [call.id, ok, output.slice(0, 8)]);
  expect(results).toEqual([
    ['a', true, 'a'],
    ['b', true, 'The resu'],
    ['c', false, 'Not run:'],
    ['d', false, 'Not run:'],
  ]);
});

test('a question after the result is not asked', async () => {
  const question = { id: 'b', name: 'ask_user', input: { question: 'Which harbour?' } };
  server.enqueue({ tools: [{ id: 'a', name: 'submit_result', input: { result: GOOD } }, question] });
  const main = startRun(await briefFor(TIDE), [], { packs: [asking] });
  expect(await main.done).toEqual(completed(GOOD));
  expect(main.of('tool-result').map(({ call, result }) => [call.id, result.ok])).toEqual([
    ['a', true],
    ['b', false],
  ]);
});

test('several bad results of one reply are one correction', async () => {
  const bad = { name: 'submit_result', input: { result: 'x' } };
  server.enqueue({ tools: [bad, bad, bad, bad, bad] }, submit(GOOD));
  expect(await startRun(await briefFor(TIDE), []).done).toEqual(completed(GOOD));
});

test.each([
  ['no result', { tools: [{ name: 'submit_result', input: {} }] }],
  ['a field beside it', { tools: [{ name: 'submit_result', input: { result: GOOD, done: true } }] }],
  ['the value without its wrapping', { tools: [{ name: 'submit_result', input: GOOD }] }],
  ['broken JSON', { tools: [{ name: 'submit_result', rawArguments: '{"result": {"height"' }] }],
  [
    'a number that JSON cannot carry',
    { tools: [{ name: 'submit_result', rawArguments: '{"result":{"height":1e999}}' }] },
  ],
  ['a value written as a text', { tools: [{ name: 'submit_result', input: { result: '{"height":1}' } }] }],
] satisfies [string, Reply][])('a submission with %s is refused and corrected', async (_name, bad) => {
  server.enqueue(bad, submit(GOOD));
  const main = startRun(await briefFor(TIDE), []);
  expect(await main.done).toEqual(completed(GOOD));
  expect(main.of('tool-result')[0]?.result.ok).toBe(false);
});

test('without a schema the tool does not exist', async () => {
  server.enqueue(submit(GOOD), say('Fine.'));
  const main = startRun(await makeBrief({ model: { ...GRANT, baseUrl: server.url } }), []);
  expect(await main.done).toEqual({ status: 'completed', text: 'Fine.', stopReason: 'end_turn' });
  expect(main.of('tool-result')[0]?.result).toMatchObject({
    ok: false,
    output: expect.stringContaining('no tool named'),
  });
});

describe('after a crash', () => {
  const turnWith = (steps: readonly RecordedStep[]) => ({
    turn: { user: [{ type: 'text' as const, text: 'Do it.' }], attachments: [], steps },
  });
  const recorded = ({ calls, ...reply }: StepReply, states: readonly RecordedCall['state'][]): RecordedStep => ({
    ...reply,
    calls: calls.map((call, i) => ({ ...call, state: states[i] ?? { kind: 'waiting' } })),
  });

  /** Steps as recorded by a run that gets these replies. */
  async function stepsOf(...replies: Reply[]): Promise<RecordedStep[]> {
    server.enqueue(...replies);
    const main = startRun(await briefFor(TIDE, { limits: { ...LIMITS, maxSteps: replies.length } }), []);
    await main.done;
    const results = main.of('tool-result');
    return main.of('step').map(({ reply }) =>
      recorded(
        reply,
        reply.calls.map(({ id }) => {
          const found = results.find(({ call }) => call.id === id);
          return found === undefined ? { kind: 'waiting' } : { kind: 'ended', result: found.result };
        }),
      ),
    );
  }

  test('a result that was recorded is the answer, and the model is not asked', async () => {
    const steps = await stepsOf(submit(GOOD));
    const before = server.requests.length;
    expect(await startRun(await briefFor(TIDE, turnWith(steps)), []).done).toEqual(completed(GOOD));
    expect(server.requests).toHaveLength(before);
  });

  test.each(['waiting', 'unknown'] as const)(
    'a submission found %s is checked again: that has no effects',
    async (kind) => {
      const [step] = await stepsOf(submit(GOOD));
      const open = { ...step!, calls: step!.calls.map((call) => ({ ...call, state: { kind } })) };
      const before = server.requests.length;
      const main = startRun(await briefFor(TIDE, turnWith([open])), []);
      expect(await main.done).toEqual(completed(GOOD));
      expect(main.of('tool-result')).toMatchObject([{ result: { ok: true } }]);
      expect(server.requests).toHaveLength(before);
    },
  );

  test('a fitting text that was recorded is the answer', async () => {
    const steps = await stepsOf(say('{"height": 2.5}'));
    const before = server.requests.length;
    expect(await startRun(await briefFor(TIDE, turnWith(steps)), []).done).toEqual(completed(GOOD));
    expect(server.requests).toHaveLength(before);
  });

  test('corrections continue to be counted, and the model sees earlier messages', async () => {
    const steps = await stepsOf(submit('one', 'one'), say('two'), submit('three', 'three'));
    expect(steps).toHaveLength(3);
    const before = server.requests.length;
    server.enqueue(submit('four'));
    expect(await startRun(await briefFor(TIDE, turnWith(steps)), []).done).toMatchObject({ status: 'incomplete' });
    expect(server.requests).toHaveLength(before + 1);
    expect(sent(before)).toMatch(/must be object.*two.*text alone is not accepted.*must be object/);
  });

  test('a later turn of the session reads as a conversation with no two answers in a row', async () => {
    const steps = await stepsOf(say('one'), say('two'), submit(GOOD));
    const before = server.requests.length;
    server.enqueue(say('Later.'));
    const { turn } = turnWith(steps);
    await startRun(await makeBrief({ model: { ...GRANT, baseUrl: server.url }, history: [turn] }), []).done;
    const roles = server.requests[before]?.body.messages?.map(({ role }) => role);
    const turns = ['user', 'assistant', 'user', 'assistant', 'user', 'assistant', 'tool', 'assistant', 'user'];
    expect(roles).toEqual(['system', ...turns]);
  });
});

test('the offline engine writes its files, says what it is, and submits the smallest value', {
  tags: ['J5'],
}, async () => {
  const { tools } = makeTools();
  const model = { ...GRANT, kind: 'offline' as const, baseUrl: '', apiKey: null };
  const main = startRun(await briefFor(TIDE, { model, tools: [] }), tools);
  expect(await main.done).toEqual(completed({ height: 0 }));
  expect(main.blocks().join('')).toContain('offline engine');
});

test('the offline engine gives up on a schema that nothing fits', async () => {
  const model = { ...GRANT, kind: 'offline' as const, baseUrl: '', apiKey: null };
  expect(await startRun(await briefFor(false, { model, tools: [] }), []).done).toMatchObject({ status: 'incomplete' });
});
