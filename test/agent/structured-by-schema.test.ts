// Results that the model's server keeps to the schema: when they are asked for so, and what happens where a server can't.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Brief, EndpointKind } from '../../src/agent/port/protocol.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { NO_USAGE } from '../../src/domain/sessions/usage.ts';
import { readOutputSchema } from '../../src/domain/schema/output-schema.ts';
import { type ModelServer, startModelServer } from '../support/model/model-server.ts';
import type { Reply } from '../support/model/model-reply.ts';
import { GRANT, makeBrief, makeTools, startRun } from './play-main.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
let before = 0;
beforeEach(() => {
  server.script({ status: 500 });
  before = server.requests.length;
});

const TIDE: JsonObject = {
  type: 'object',
  required: ['height'],
  properties: { height: { type: 'number', minimum: 0 } },
  additionalProperties: false,
};
const GOOD: Reply = { text: '{"height":2.5}' };
const WORDS: Reply = { text: 'The tide is high.' };
const submit = (result: unknown): Reply => ({ tools: [{ name: 'submit_result', input: { result } }] });
const REFUSED: Reply = { status: 400, body: { error: { message: 'failed to parse grammar' } } };

async function briefFor(changes: Partial<Brief> & { kind?: EndpointKind; schema?: JsonObject } = {}): Promise<Brief> {
  const { kind = 'openai', schema = TIDE, ...rest } = changes;
  const model = { ...GRANT, kind, baseUrl: server.url, structured: 'json_schema' as const };
  return makeBrief({ model, outputSchema: readOutputSchema(schema, 'schema'), ...rest });
}

const completed = { status: 'completed', text: '', stopReason: 'end_turn', structured: { value: { height: 2.5 } } };

/** How each request asked for its reply: by a schema, with tools, or both. */
const ways = () =>
  server.requests.slice(before).map(({ body }) => {
    const hasSchema = body['response_format'] !== undefined || body['output_config'] !== undefined;
    const choice = body['tool_choice'] as { type?: string } | undefined;
    const hasTools = body['tools'] !== undefined && choice?.type !== 'none';
    return [...(hasSchema ? ['schema'] : []), ...(hasTools ? ['tools'] : [])].join('+');
  });

describe.each(['openai', 'anthropic'] as const)('over the %s protocol', (kind) => {
  test('a run without tools is asked with the schema at once, and its reply is the result', async () => {
    server.enqueue(GOOD);
    const main = startRun(await briefFor({ kind }), []);
    expect(await main.done).toEqual(completed);
    expect(ways()).toEqual(['schema']);
    const { body } = server.requests[before]!;
    const sent = body['response_format'] ?? body['output_config'];
    expect(sent).toEqual(
      kind === 'openai'
        ? { type: 'json_schema', json_schema: { name: 'result', schema: TIDE, strict: true } }
        : { format: { type: 'json_schema', schema: TIDE } },
    );
    expect(JSON.stringify(body['messages']) + JSON.stringify(body['system'])).toContain(
      'the reply itself is the result',
    );
    expect(main.blocks()).toEqual([]);
  });

  test('a run with tools is asked with the schema once a result was refused', async () => {
    const { tools, ran } = makeTools();
    server.enqueue({ tools: [{ name: 'echo', input: { text: 'x' } }] }, submit({ height: 'high' }), GOOD);
    const main = startRun(await briefFor({ kind }), tools);
    expect(await main.done).toEqual(completed);
    expect(ran).toHaveLength(1);
    expect(ways()).toEqual(['tools', 'tools', 'schema']);
  });
});

test('words that are no JSON keep the tools until the last correction', async () => {
  const { tools } = makeTools();
  server.enqueue(WORDS, WORDS, WORDS, GOOD);
  expect(await startRun(await briefFor(), tools).done).toEqual(completed);
  expect(ways()).toEqual(['tools', 'tools', 'tools', 'schema']);
});

test('a server that ignores the schema is corrected with the tool, and not asked so again', async () => {
  server.enqueue(WORDS, submit({ height: -1 }), submit({ height: 2.5 }));
  expect(await startRun(await briefFor(), []).done).toEqual(completed);
  expect(ways()).toEqual(['schema', 'tools', 'tools']);
  expect(JSON.stringify(server.requests[before + 1]?.body.messages)).toContain('text alone is not accepted');
});

test('a reply to the schema that does not fit counts as a correction', async () => {
  server.enqueue({ text: '{"height":-1}' }, submit('no'), submit('no'), submit('no'));
  expect(await startRun(await briefFor(), []).done).toMatchObject({ status: 'incomplete' });
  expect(ways()).toEqual(['schema', 'tools', 'tools', 'tools']);
});

test('a server that refuses the schema is asked with the tool, and that counts as no correction', async () => {
  server.enqueue(REFUSED, submit('no'), submit('no'), submit('no'), submit({ height: 2.5 }));
  const main = startRun(await briefFor(), []);
  expect(await main.done).toEqual(completed);
  expect(ways()).toEqual(['schema', 'tools', 'tools', 'tools', 'tools']);
  expect(main.of('call-failed')).toMatchObject([{ outcome: 'rejected' }]);
  expect(main.of('step').map(({ reply }) => reply.step)).toEqual([1, 2, 3, 4]);
});

test('a server that is busy is asked again with the schema, also after some of the result was sent', async () => {
  server.enqueue({ status: 503 }, { text: ['{"hei', 'ght"'], cut: 1 }, GOOD);
  const main = startRun(await briefFor(), []);
  expect(await main.done).toEqual(completed);
  expect(ways()).toEqual(['schema', 'schema', 'schema']);
  expect(main.blocks()).toEqual([]);
});

test('a call that is too long is shortened, and asked again with the schema', async () => {
  server.script(({ body }) => {
    const sent = JSON.stringify(body.messages);
    if (sent.includes('Summarise')) return { text: 'The water was low.' };
    return sent.length > 20_000 ? { status: 400, body: { error: { type: 'exceed_context_size_error' } } } : GOOD;
  });
  const step = {
    step: 1,
    kind: 'openai' as const,
    message: null,
    text: 'Low. '.repeat(2_000),
    calls: [],
    usage: NO_USAGE,
  };
  const turn = { user: [{ type: 'text' as const, text: 'How high?' }], attachments: [], steps: [step] };
  expect(await startRun(await briefFor({ history: [turn, turn, turn] }), []).done).toEqual(completed);
  expect(ways()).toEqual(['schema', 'tools', '', 'schema']);
});

test('a call that is too long with the schema only is asked with the tool', async () => {
  server.script(({ body }) => {
    const hasSchema = body['response_format'] !== undefined;
    return hasSchema
      ? { status: 400, body: { error: { type: 'exceed_context_size_error' } } }
      : submit({ height: 2.5 });
  });
  expect(await startRun(await briefFor(), []).done).toEqual(completed);
  expect(ways()).toEqual(['schema', 'tools']);
});

test('a key that is refused fails the run, as with the tool', async () => {
  server.script({ status: 401 });
  expect(await startRun(await briefFor(), []).done).toMatchObject({ status: 'failed', error: { type: 'api_error' } });
});

test('what is recorded of each step is how it was asked', async () => {
  const { tools } = makeTools();
  server.enqueue(submit('no'), WORDS, submit({ height: 2.5 }));
  const main = startRun(await briefFor(), tools);
  expect(await main.done).toEqual(completed);
  const named = main.of('step').map(({ reply }) => {
    const setup = JSON.parse(Buffer.from(reply.setup?.bytes ?? Buffer.from('null')).toString()) as {
      system: string;
      tools: object[];
    } | null;
    return setup && [setup.system.includes('the reply itself is the result'), setup.tools.length > 0];
  });
  expect(named).toEqual([
    [false, true],
    [true, false],
    [false, true],
  ]);
});

test.each<[string, JsonObject, boolean]>([
  ['closed', TIDE, true],
  ['open', { type: 'object', properties: { height: { type: 'number' } } }, false],
  ['closed, with an optional property', { ...TIDE, required: [] }, false],
  ['closed around an open one', { ...TIDE, properties: { height: { type: 'object' } } }, false],
  ['no object', { type: 'array', items: TIDE }, false],
])('a schema that is %s', async (_name, schema, strict) => {
  server.enqueue(REFUSED, { tools: [] }, { tools: [] }, { tools: [] }, { tools: [] });
  await startRun(await briefFor({ schema }), []).done;
  expect(server.requests[before]?.body['response_format']).toMatchObject({ json_schema: { schema, strict } });
});

test('without the setting, or without a schema of the caller, no request has one', async () => {
  server.enqueue(WORDS, submit({ height: -1 }), submit({ height: 2.5 }));
  await startRun(await briefFor({ model: { ...GRANT, baseUrl: server.url } }), []).done;
  server.enqueue(WORDS);
  await startRun(await briefFor({ outputSchema: null }), []).done;
  expect(ways()).toEqual(['tools', 'tools', 'tools', '']);
});
