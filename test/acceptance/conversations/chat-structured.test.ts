// Structured output on the chat endpoint: the OpenAI client's own parser and the AI SDK, unchanged, against the real daemon.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateObject, generateText, Output, streamText } from 'ai';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import type { Reply } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';

let model: ModelServer;
let daemon: DaemonProcess;
let client: OpenAI;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({
    modelsYaml: [
      `endpoints: { scripted: { kind: openai, base_url: "${model.url}/v1" } }`,
      'models: { scripted: { endpoint: scripted, model: scripted, context_window: 128000 } }',
      'scenarios: { general: { model: scripted } }',
    ].join('\n'),
  });
  client = new OpenAI({ apiKey: daemon.apiKey, baseURL: `${daemon.url}/openapi/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});
beforeEach(() => model.script({ status: 500 }));

const Harbour = z.object({
  name: z.string(),
  contact: z.email().nullable(),
  fee: z.number().multipleOf(0.01),
  berths: z.array(z.object({ length: z.number().int(), kind: z.enum(['wood', 'stone']) })),
  get next() {
    return z.nullable(Harbour);
  },
});
const HUSUM = { name: 'Husum', contact: 'a@b.example', fee: 19.99, berths: [{ length: 12, kind: 'wood' }], next: null };

const submit = (result: unknown): Reply => ({ tools: [{ name: 'submit_result', input: { result } }] });
const work: Reply = { text: 'Measuring.', tools: [{ name: 'write_file', input: { path: 'a.txt', content: 'A' } }] };
const never: readonly Reply[] = [submit('no'), submit('no'), submit('no'), submit('no')];
const question = () => ({
  model: 'gpt-x',
  messages: [{ role: 'user' as const, content: 'Which harbour?' }],
  response_format: zodResponseFormat(Harbour, 'harbour'),
});

test("the OpenAI client's parse gives the value that its schema describes, after work and a correction", async () => {
  model.enqueue(work, submit({ ...HUSUM, fee: 19.995 }), submit(HUSUM));
  const completion = await client.chat.completions.parse(question());
  expect(completion.choices[0]?.message.parsed).toEqual(HUSUM);
  expect(completion.choices[0]?.message.content).toBe(JSON.stringify(HUSUM));
});

test("the OpenAI client's stream has it too, and no other text", async () => {
  model.enqueue(work, submit(HUSUM));
  const stream = client.chat.completions.stream({ ...question(), stream_options: { include_usage: true } });
  const completion = await stream.finalChatCompletion();
  expect(completion.choices[0]?.message.parsed).toEqual(HUSUM);
  expect(completion.choices[0]?.message.content).toBe(JSON.stringify(HUSUM));
  expect(completion.usage?.total_tokens).toBeGreaterThan(0);
});

test('a run without a fitting result is an error in both forms', async () => {
  model.enqueue(...never);
  await expect(client.chat.completions.parse(question())).rejects.toMatchObject({ status: 500 });
  model.enqueue(...never);
  const stream = client.chat.completions.stream(question());
  await expect(stream.finalChatCompletion()).rejects.toThrow(/no result that fits/);
});

test('any JSON object is what json_object asks for', async () => {
  model.enqueue(submit([1]), submit({ any: ['thing'] }));
  const completion = await client.chat.completions.create({ ...question(), response_format: { type: 'json_object' } });
  expect(JSON.parse(completion.choices[0]?.message.content ?? '')).toEqual({ any: ['thing'] });
});

test('a schema that cannot be compiled is refused with its place as param', async () => {
  const schema = { properties: { a: { pattern: '(?=a)' } } };
  const response_format = { type: 'json_schema' as const, json_schema: { name: 'x', schema } };
  await expect(client.chat.completions.create({ ...question(), response_format })).rejects.toMatchObject({
    status: 422,
    param: 'response_format.json_schema.schema/properties/a/pattern',
  });
});

test("the AI SDK's generateObject, generateText and streamText give typed values", async () => {
  const provider = createOpenAICompatible({
    name: 'errand',
    apiKey: daemon.apiKey,
    baseURL: `${daemon.url}/openapi/v1`,
    supportsStructuredOutputs: true,
  });
  const asked = { model: provider('any'), prompt: 'Which harbour?', maxRetries: 0 };
  model.enqueue(work, submit(HUSUM), work, submit(HUSUM), work, submit(HUSUM));
  expect((await generateObject({ ...asked, schema: Harbour })).object).toEqual(HUSUM);
  const streamed = streamText({ ...asked, output: Output.object({ schema: Harbour }) });
  await streamed.consumeStream();
  expect(await streamed.output).toEqual(HUSUM);
  const { output } = await generateText({ ...asked, output: Output.object({ schema: Harbour }) });
  expect(output).toEqual(HUSUM);
});
