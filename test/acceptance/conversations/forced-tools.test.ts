// A tool that a client has its model call is answered with (M4): the official clients and the AI SDK, unchanged, against the real daemon.
import Anthropic from '@anthropic-ai/sdk';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateObject, generateText, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { zodFunction, zodResponsesFunction } from 'openai/helpers/zod';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { collectSse } from '../../support/http/sse.ts';
import type { Reply } from '../../support/model/model-reply.ts';
import { seeingModel } from '../../support/model/models-yaml.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';

let model: ModelServer;
let daemon: DaemonProcess;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({ modelsYaml: seeingModel(model.url) });
  openai = new OpenAI({ apiKey: daemon.apiKey, baseURL: `${daemon.url}/openapi/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: daemon.apiKey, baseURL: `${daemon.url}/openapi`, maxRetries: 0 });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});
beforeEach(() => model.script({ status: 500 }));

const Tide = z.object({ metres: z.number(), place: z.enum(['Husum', 'Emden']) });
const TIDE = { metres: 3.5, place: 'Husum' };
const JSON_TIDE = JSON.stringify(TIDE);
const submit = (result: unknown): Reply => ({ tools: [{ name: 'submit_result', input: { result } }] });
const work: Reply = { text: 'Measuring.', tools: [{ name: 'write_file', input: { path: 'a.txt', content: 'A' } }] };
/** What the agent does for each: it works, says so, is wrong once, and is right. */
const measuring = () => model.enqueue(work, submit({ metres: 'many' }), submit(TIDE));

const QUESTION = [{ role: 'user' as const, content: 'How high is the tide?' }];
const chatTool = () => zodFunction({ name: 'report_tide', parameters: Tide, description: 'Reports the tide.' });
const OTHER = { type: 'function', function: { name: 'other', parameters: { type: 'object' } } } as const;
const asked = () => ({
  model: 'm',
  messages: QUESTION,
  tools: [OTHER, chatTool()],
  tool_choice: { type: 'function' as const, function: { name: 'report_tide' } },
});

test("chat's forced tool is what the answer calls, also in a stream", { tags: ['M4-forced'] }, async () => {
  measuring();
  const { data, response } = await openai.chat.completions.create(asked()).withResponse();
  const [choice] = data.choices;
  const call = { type: 'function', function: { name: 'report_tide', arguments: JSON_TIDE } };
  expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: null, tool_calls: [call] } });
  expect(response.headers.get('x-errand-ignored')).toBe('tools');
  measuring();
  const stream = openai.chat.completions.stream({ ...asked(), stream_options: { include_usage: true } });
  const streamed = await stream.finalChatCompletion();
  expect(streamed.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { tool_calls: [call] } });
  expect(streamed.choices[0]?.message.content).toBeNull();
  expect(streamed.choices[0]?.message.tool_calls?.[0]).toMatchObject({ function: { parsed_arguments: TIDE } });
});

test('a stream that is rejoined calls the same tool, under the same id', { tags: ['M4-forced'] }, async () => {
  measuring();
  const { data, response } = await openai.chat.completions.create(asked()).withResponse();
  const headers = { authorization: `Bearer ${daemon.apiKey}` };
  const rejoined = await fetch(`${daemon.url}/openapi/v1/runs/${response.headers.get('x-run-id')}/stream`, { headers });
  const calls = (await collectSse(rejoined.body!)).flatMap(({ data: piece }) => {
    const chunk = piece === null || piece === '[DONE]' ? null : (JSON.parse(piece) as OpenAI.ChatCompletionChunk);
    return chunk?.choices.flatMap(({ delta }) => delta.tool_calls ?? []) ?? [];
  });
  expect(calls).toEqual([{ index: 0, ...data.choices[0]!.message.tool_calls![0] }]);
});

test('with one tool, required forces it; with several, or without the word, nothing is forced', {
  tags: ['M4-forced'],
}, async () => {
  measuring();
  const one = { model: 'm', messages: QUESTION, tools: [chatTool()] };
  const { data, response } = await openai.chat.completions.create({ ...one, tool_choice: 'required' }).withResponse();
  expect(data.choices[0]?.finish_reason).toBe('tool_calls');
  expect(response.headers.get('x-errand-ignored')).toBeNull();
  const several = { ...one, tools: [OTHER, chatTool()], tool_choice: 'required' as const };
  for (const loose of [several, { ...one, tool_choice: 'auto' as const }]) {
    model.enqueue({ text: 'High.' });
    const plain = await openai.chat.completions.create(loose).withResponse();
    expect(plain.data.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'High.' } });
    expect(plain.response.headers.get('x-errand-ignored')).toBe('tools');
  }
});

test("chat's older functions are called as such", { tags: ['M4-forced'] }, async () => {
  measuring();
  const completion = await openai.chat.completions.create({
    model: 'm',
    messages: QUESTION,
    functions: [{ name: 'report_tide', parameters: z.toJSONSchema(Tide) as Record<string, unknown> }],
    function_call: { name: 'report_tide' },
  });
  expect(completion.choices[0]).toMatchObject({
    finish_reason: 'function_call',
    message: { content: null, function_call: { name: 'report_tide', arguments: JSON_TIDE } },
  });
});

const responseAsked = () => ({
  model: 'm',
  input: 'How high is the tide?',
  tools: [zodResponsesFunction({ name: 'report_tide', parameters: Tide })],
  tool_choice: { type: 'function' as const, name: 'report_tide' },
});

test('a response has the call of its forced function: waited for, looked up, and with a format beside it', {
  tags: ['M4-forced'],
}, async () => {
  measuring();
  const made = await openai.responses.create({ ...responseAsked(), text: { format: { type: 'json_object' } } });
  const call = { type: 'function_call', name: 'report_tide', arguments: JSON_TIDE, status: 'completed' };
  expect(made.output).toEqual([expect.objectContaining(call)]);
  expect(made).toMatchObject({ tool_choice: { type: 'function', name: 'report_tide' }, output_text: '' });
  expect(made.tools).toMatchObject([{ name: 'report_tide' }]);
  expect(await openai.responses.retrieve(made.id)).toMatchObject({ output: made.output, tools: made.tools });
});

test('a response streams its call in the official order, and in the background too', {
  tags: ['M4-forced'],
}, async () => {
  measuring();
  const stream = openai.responses.stream({ ...responseAsked(), background: true });
  const types: string[] = [];
  for await (const { type } of stream) types.push(type);
  expect(types.slice(-5)).toEqual([
    'response.output_item.added',
    'response.function_call_arguments.delta',
    'response.function_call_arguments.done',
    'response.output_item.done',
    'response.completed',
  ]);
  const { output } = await stream.finalResponse();
  expect(output).toEqual([expect.objectContaining({ type: 'function_call', parsed_arguments: TIDE })]);
});

const messageAsked = (tool_choice: Anthropic.ToolChoice) => ({
  model: 'm',
  max_tokens: 100,
  messages: QUESTION,
  tools: [{ name: 'report_tide', input_schema: z.toJSONSchema(Tide) as Anthropic.Tool.InputSchema }],
  tool_choice,
});

test('a Message has the use of its forced tool, also in a stream', { tags: ['M4-forced'] }, async () => {
  const use = { type: 'tool_use', name: 'report_tide', input: TIDE, id: expect.stringMatching(/^toolu_/) as string };
  for (const choice of [{ type: 'tool', name: 'report_tide' }, { type: 'any' }] as const) {
    measuring();
    const { data, response } = await anthropic.messages.create(messageAsked(choice)).withResponse();
    expect(data).toMatchObject({ stop_reason: 'tool_use', content: [use] });
    expect(data.content).toHaveLength(1);
    expect(response.headers.get('x-errand-ignored')).toBeNull();
  }
  measuring();
  const streamed = await anthropic.messages.stream(messageAsked({ type: 'any' })).finalMessage();
  expect(streamed).toMatchObject({ stop_reason: 'tool_use', content: [use] });
});

test('what its client says of a call is what the user says, until the result is right', {
  tags: ['M4-forced'],
}, async () => {
  measuring();
  const { data, response } = await anthropic.messages.create(messageAsked({ type: 'any' })).withResponse();
  const [use] = data.content;
  if (use?.type !== 'tool_use') throw new Error('no call');
  const fault = { type: 'tool_result' as const, tool_use_id: use.id, is_error: true, content: 'It was in Emden.' };
  measuring();
  const again = await anthropic.messages
    .create(
      {
        ...messageAsked({ type: 'any' }),
        messages: [...QUESTION, { role: 'assistant', content: data.content }, { role: 'user', content: [fault] }],
      },
      { headers: { 'errand-session-id': response.headers.get('x-session-id')! } },
    )
    .withResponse();
  expect(again.data).toMatchObject({ stop_reason: 'tool_use', content: [{ type: 'tool_use', input: TIDE }] });
  expect(again.response.headers.get('x-errand-ignored')).toBe('history');
  const sent = JSON.stringify(model.requests.at(-1)?.body.messages);
  for (const words of ['How high is the tide?', 'It was in Emden.']) expect(sent).toContain(words);
});

test('a client that resends the call goes on in its session, where its key goes by history', {
  tags: ['M4-forced', 'M1-history'],
}, async () => {
  const body = { user: daemon.adminName, scope: 'conversation', continue_by: 'history' };
  const { key } = (await daemon.admin('POST', '/api/v1/keys', body)) as { key: string };
  const client = new Anthropic({ apiKey: key, baseURL: `${daemon.url}/openapi`, maxRetries: 0 });
  measuring();
  const { data, response } = await client.messages.create(messageAsked({ type: 'any' })).withResponse();
  const [use] = data.content;
  if (use?.type !== 'tool_use') throw new Error('no call');
  model.enqueue({ text: 'Since noon.' });
  const next = await client.messages
    .create({
      model: 'm',
      max_tokens: 100,
      messages: [
        ...QUESTION,
        { role: 'assistant', content: data.content },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: use.id, content: 'ok' },
            { type: 'text', text: 'Since when?' },
          ],
        },
      ],
    })
    .withResponse();
  expect(next.data.content).toEqual([{ type: 'text', text: 'Since noon.' }]);
  expect(next.response.headers.get('x-session-id')).toBe(response.headers.get('x-session-id'));
});

test('a background run has it when it is looked up', { tags: ['M4-forced'] }, async () => {
  measuring();
  const headers = { 'x-api-key': daemon.apiKey, 'content-type': 'application/json' };
  const body = { ...messageAsked({ type: 'any' }), background: true, idempotency_key: 'tide-1' };
  const submitted = await fetch(`${daemon.url}/openapi/v1/messages`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  const first = (await submitted.json()) as { background_results: { result_url: string } };
  expect(first).toMatchObject({ content: [], stop_reason: null });
  await expect
    .poll(async () => (await fetch(daemon.url + first.background_results.result_url, { headers })).json())
    .toMatchObject({ stop_reason: 'tool_use', content: [{ type: 'tool_use', input: TIDE }] });
});

test("the AI SDK's providers get their objects and their calls", { tags: ['M4-forced'] }, async () => {
  const connection = { apiKey: daemon.apiKey, baseURL: `${daemon.url}/openapi/v1` };
  const providers = [
    createAnthropic(connection)('claude-3-haiku-20240307'),
    createAnthropic(connection)('any'),
    createOpenAI(connection)('any'),
    createOpenAI(connection).chat('any'),
    createOpenAICompatible({ name: 'errand', ...connection, supportsStructuredOutputs: true })('any'),
  ];
  const reportTide = tool({ inputSchema: Tide, execute: async ({ metres }) => metres });
  for (const provider of providers) {
    const question = { model: provider, prompt: 'How high is the tide?', maxRetries: 0 };
    measuring();
    expect((await generateObject({ ...question, schema: Tide })).object).toEqual(TIDE);
    const forcing = {
      ...question,
      tools: { reportTide },
      toolChoice: { type: 'tool', toolName: 'reportTide' },
    } as const;
    measuring();
    const { toolCalls, finishReason } = await generateText(forcing);
    expect({ toolCalls, finishReason }).toMatchObject({
      toolCalls: [{ toolName: 'reportTide', input: TIDE }],
      finishReason: 'tool-calls',
    });
    measuring();
    expect(await streamText(forcing).toolCalls).toMatchObject([{ toolName: 'reportTide', input: TIDE }]);
  }
});

test('what can not be forced is refused by its path', { tags: ['M4-forced'] }, async () => {
  const unknown = { type: 'function', function: { name: 'absent' } } as const;
  await expect(openai.chat.completions.create({ ...asked(), tool_choice: unknown })).rejects.toMatchObject({
    status: 422,
    param: 'tool_choice.function.name',
  });
  const tools = [{ type: 'function', function: { name: 'report_tide', parameters: { type: 'array' } } }] as const;
  await expect(openai.chat.completions.create({ ...asked(), tools: [...tools] })).rejects.toMatchObject({
    status: 422,
    param: 'tools[0].function.parameters.type',
  });
  const pattern = { type: 'object', properties: { a: { type: 'string', pattern: '(?=a)' } } } as const;
  await expect(
    anthropic.messages.create({ ...messageAsked({ type: 'any' }), tools: [{ name: 'x', input_schema: pattern }] }),
  ).rejects.toThrow('tools[0].input_schema/properties/a/pattern');
  const both = { ...messageAsked({ type: 'any' }), output_format: { type: 'json_schema', schema: true } };
  await expect(anthropic.messages.create(both as never)).rejects.toThrow(/tool_choice: must not force a tool/);
});
