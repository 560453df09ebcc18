// Libraries whose default is the Responses protocol, unchanged, against the real daemon (M3).
import { createOpenAI } from '@ai-sdk/openai';
import { Agent, OpenAIProvider, Runner, setTracingDisabled } from '@openai/agents';
import { generateText, type ModelMessage, Output, streamText } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import type { Reply } from '../../support/model/model-reply.ts';
import { seeingModel } from '../../support/model/models-yaml.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let model: ModelServer;
let daemon: DaemonProcess;
let openai: ReturnType<typeof createOpenAI>;
let runner: Runner;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({
    modelsYaml: seeingModel(model.url),
  });
  const connection = { apiKey: daemon.apiKey, baseURL: `${daemon.url}/openapi/v1` };
  openai = createOpenAI(connection);
  // Traces would go to OpenAI.
  setTracingDisabled(true);
  runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient: new OpenAI(connection) }) });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

const submit = (result: unknown): Reply => ({ tools: [{ name: 'submit_result', input: { result } }] });
const work: Reply = { text: 'I look.', tools: [{ name: 'list_files', input: {} }] };
const lastSent = () => JSON.stringify(model.requests.at(-1)?.body.messages);

test("the AI SDK's default provider asks, with usage and the finish reason", { tags: ['M3-turn'] }, async () => {
  const { text, usage, finishReason, response } = await generateText({
    model: openai('gpt-x'),
    system: 'Be brief.',
    prompt: '[[text=Twelve.]] [[input=321 output=7]]',
  });
  expect({ text, finishReason }).toEqual({ text: 'Twelve.', finishReason: 'stop' });
  expect(usage).toMatchObject({ inputTokens: 321, outputTokens: 7, totalTokens: 328 });
  expect(response.modelId).toBe('gpt-x');
});

test("the AI SDK's default provider streams, each text between calls by itself", { tags: ['M3-stream'] }, async () => {
  model.enqueue(work, { text: ['It is ', 'empty.'] });
  const { fullStream } = streamText({ model: openai('gpt-x'), prompt: 'look' });
  const texts = new Map<string, string>();
  const types = new Set<string>();
  for await (const part of fullStream) {
    types.add(part.type);
    if (part.type === 'text-delta') texts.set(part.id, (texts.get(part.id) ?? '') + part.text);
  }
  expect([...texts.values()]).toEqual(['I look.', 'It is empty.']);
  expect(types).not.toContain('error');
  expect(types).toContain('finish');
});

test('a client that keeps each streamed text between calls as an item, and resends them, goes on in its session', {
  tags: ['M1-history', 'M3-stream'],
}, async () => {
  const made = { user: daemon.adminName, scope: 'conversation', continue_by: 'history' };
  const { key } = (await daemon.admin('POST', '/api/v1/keys', made)) as { key: string };
  const client = new OpenAI({ apiKey: key, baseURL: `${daemon.url}/openapi/v1`, maxRetries: 0 });
  model.enqueue(work, { text: 'It is empty.' });
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'What is there?' }];
  let session: string | undefined;
  for await (const event of await client.responses.create({ model: 'm', input: [...input], stream: true })) {
    if (event.type === 'response.output_item.done') input.push(event.item as OpenAI.Responses.ResponseOutputMessage);
    if (event.type === 'response.completed') session = event.response.conversation!.id;
  }
  expect(input).toHaveLength(3);
  const next = await client.responses.create({ model: 'm', input: [...input, { role: 'user', content: 'And now?' }] });
  expect(next.conversation!.id).toBe(session);
  expect(lastSent()).not.toContain('earlier_conversation');
});

test("the AI SDK's default provider gets a structured result", { tags: ['M3-format'] }, async () => {
  model.enqueue(submit({ metres: 3 }));
  const output = Output.object({ schema: z.object({ metres: z.number() }) });
  expect((await generateText({ model: openai('gpt-x'), prompt: 'How high?', output })).output).toEqual({ metres: 3 });
});

test("the AI SDK's default provider sends images and files, and continues a response", {
  tags: ['M3-turn', 'M3-previous'],
}, async () => {
  const first = await generateText({
    model: openai('gpt-x'),
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look-at-these [[text=Seen.]]' },
          { type: 'file', mediaType: 'image/png', data: Buffer.from(PIXEL, 'base64') },
          { type: 'file', mediaType: 'application/pdf', filename: 'tides.pdf', data: Buffer.from('%PDF-1.4\n') },
        ],
      },
    ],
  });
  const sent = JSON.stringify(model.requests.at(-1)?.body);
  for (const part of [PIXEL, '/uploads/tides.pdf']) expect(sent).toContain(part);
  const previousResponseId = first.providerMetadata?.['openai']?.['responseId'] as string;
  await generateText({
    model: openai('gpt-x'),
    messages: [
      { role: 'user', content: 'look-at-these' },
      ...first.response.messages,
      { role: 'user', content: 'and-now [[text=Still.]]' },
    ],
    providerOptions: { openai: { previousResponseId } },
  });
  expect(lastSent()).toContain('"Seen."');
  // Once each: what the library sends again isn't read again.
  for (const words of ['look-at-these', 'and-now']) expect(lastSent().split(words)).toHaveLength(2);
});

test('the AI SDK is remembered by what it resends, which is references to items', {
  tags: ['M3-previous'],
}, async () => {
  const messages: ModelMessage[] = [];
  for (const [index, word] of ['alpha-words', 'beta-words', 'gamma-words'].entries()) {
    messages.push({ role: 'user', content: `${word} [[text=Answer ${index}.]]` });
    messages.push(...(await generateText({ model: openai('gpt-x'), messages })).response.messages);
  }
  for (const words of ['alpha-words', 'Answer 0.', 'beta-words', 'Answer 1.', 'gamma-words'])
    expect(lastSent()).toContain(words);
});

const agent = () => new Agent({ name: 'Harbour', instructions: 'Be brief.', model: 'gpt-x' });

test('an agent of @openai/agents runs, waited for and streamed, and continues', {
  tags: ['M3-turn', 'M3-stream', 'M3-previous'],
}, async () => {
  const first = await runner.run(agent(), 'first-words [[text=One.]]');
  expect(first.finalOutput).toBe('One.');
  expect(first.lastResponseId).toMatch(/^resp_[\da-f]{32}$/);
  const { lastResponseId: previousResponseId } = first;
  const streamed = await runner.run(agent(), 'second-words [[text=Two.]] [[deltas=3]]', {
    stream: true,
    ...(previousResponseId !== undefined && { previousResponseId }),
  });
  let text = '';
  for await (const piece of streamed.toTextStream()) text += piece;
  await streamed.completed;
  expect([text, streamed.finalOutput]).toEqual(['Two.', 'Two.']);
  for (const words of ['first-words', 'One.', 'second-words']) expect(lastSent()).toContain(words);
});

test('an agent of @openai/agents continues a conversation, and gets a structured result', {
  tags: ['M3-format', 'M3-previous'],
}, async () => {
  const client = new OpenAI({ apiKey: daemon.apiKey, baseURL: `${daemon.url}/openapi/v1` });
  const { conversation } = await client.responses.create({ model: 'm', input: 'zero [[text=Nought.]]' });
  model.enqueue(work, submit({ metres: 4 }));
  const measuring = new Agent({ name: 'Tide', model: 'gpt-x', outputType: z.object({ metres: z.number() }) });
  const { finalOutput } = await runner.run(measuring, 'How high?', { conversationId: conversation!.id });
  expect(finalOutput).toEqual({ metres: 4 });
  expect(lastSent()).toContain('Nought.');
});
