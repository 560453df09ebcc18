// The official OpenAI client asks for responses, unchanged, against the real daemon (M3).
import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';

let model: ModelServer;
let daemon: DaemonProcess;
let client: OpenAI;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({
    modelsYaml: [
      `endpoints: { scripted: { kind: openai, base_url: "${model.url}/v1" } }`,
      'models: { scripted: { endpoint: scripted, model: scripted, context_window: 128000, images: true } }',
      'scenarios: { general: { model: scripted } }',
    ].join('\n'),
  });
  client = new OpenAI({ apiKey: daemon.apiKey, baseURL: `${daemon.url}/openapi/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

type Params = OpenAI.Responses.ResponseCreateParamsNonStreaming;
const create = (input: Params['input'], more: Partial<Params> = {}) =>
  client.responses.create({ model: 'gpt-x', input: input!, ...more });

async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

test('a response has every field of the official type', { tags: ['M3-turn', '§1-protocols'] }, async () => {
  const { data, response } = await create('[[text=Twelve.]] [[input=321 output=7]]', {
    instructions: 'Be brief.',
    metadata: { ticket: '7' },
  }).withResponse();
  const id = response.headers.get('x-run-id')?.replaceAll('-', '');
  expect(data).toEqual({
    id: `resp_${id}`,
    access_programs: null,
    object: 'response',
    created_at: expect.any(Number),
    completed_at: expect.any(Number),
    status: 'completed',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    model: 'gpt-x',
    output: [
      {
        id: `msg_${id}`,
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Twelve.', annotations: [], logprobs: [] }],
      },
    ],
    output_text: 'Twelve.',
    parallel_tool_calls: true,
    conversation: { id: response.headers.get('x-session-id') },
    previous_response_id: null,
    metadata: { ticket: '7' },
    reasoning: { effort: null, summary: null },
    service_tier: 'default',
    store: true,
    temperature: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_logprobs: 0,
    top_p: null,
    truncation: 'disabled',
    usage: {
      input_tokens: 321,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 328,
    },
    user: null,
  });
  expect(await client.responses.retrieve(data.id)).toEqual(data);
});

test("the client's own accumulator puts a streamed response together", {
  tags: ['M3-stream', '§1-streams'],
}, async () => {
  const runner = client.responses.stream({ model: 'gpt-x', input: '[[text=all of it]] [[deltas=4]] [[tools=1]]' });
  const events = await listOf(runner);
  const final = await runner.finalResponse();
  expect(final.output_text).toBe('all of it');
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, at) => at));
  const { output_parsed: _, ...whole } = final;
  expect(whole).toMatchObject(await client.responses.retrieve(final.id));
});

test('a zod type is the schema of the result, waited for and streamed', { tags: ['M3-format'] }, async () => {
  const format = zodTextFormat(z.object({ place: z.string(), height: z.number() }), 'tide');
  model.enqueue({ tools: [{ name: 'submit_result', input: { result: { place: 'Cuxhaven', height: 3 } } }] });
  const parsed = await client.responses.parse({ model: 'gpt-x', input: 'How high?', text: { format } });
  expect(parsed.output_parsed).toEqual({ place: 'Cuxhaven', height: 3 });
  expect(parsed.text?.format).toMatchObject({ type: 'json_schema', name: 'tide', strict: true });
  model.enqueue({ tools: [{ name: 'submit_result', input: { result: { place: 'Husum', height: 4 } } }] });
  const streamed = client.responses.stream({ model: 'gpt-x', input: 'How high?', text: { format } });
  expect((await streamed.finalResponse()).output_parsed).toEqual({ place: 'Husum', height: 4 });
});

test("refusals come as the client's own error types, with the field at fault", { tags: ['M3-turn'] }, async () => {
  await expect(create([])).rejects.toMatchObject({ status: 422, param: 'input', code: null });
  await expect(client.responses.retrieve('resp_unknown')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  await expect(create('[[fail=400]]')).rejects.toBeInstanceOf(OpenAI.InternalServerError);
  const stream = await client.responses.create({ model: 'm', input: '[[fail=400]]', stream: true });
  expect((await listOf(stream)).at(-1)).toMatchObject({
    type: 'response.failed',
    response: {
      status: 'failed',
      error: { code: 'server_error', message: expect.stringMatching(/HTTP status 400/) as string },
    },
  });
});
