// Replies that break off, or say nothing: official clients watch them begin again, and each gets its answer.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';

let model: ModelServer;
let daemon: DaemonProcess;
let anthropic: Anthropic;
let openai: OpenAI;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({
    modelsYaml: [
      'endpoints:',
      `  local: { kind: openai, base_url: "${model.url}" }`,
      'models:',
      '  qwen: { endpoint: local, model: qwen, thinking_tags: true }',
      'scenarios: { general: { model: qwen } }',
    ].join('\n'),
  });
  anthropic = new Anthropic({ apiKey: daemon.apiKey, baseURL: `${daemon.url}/openapi`, maxRetries: 0 });
  openai = new OpenAI({ apiKey: daemon.apiKey, baseURL: `${daemon.url}/openapi/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

/** A reply that breaks off once its reader has some of it, and the whole one. Call `seen` when the reader has something. */
function breakOff(): () => void {
  const shown = Promise.withResolvers<void>();
  model.enqueue({ text: ['Half ', 'of it.'], cut: 1, cutAfter: shown.promise }, { text: ['All ', 'of it.'] });
  return shown.resolve;
}

const ASKED = { model: 'x', max_tokens: 100, messages: [{ role: 'user', content: 'Go.' }] } as const;

test("a watched Messages stream has the reply's beginning as one block and all of it as the next", {
  tags: ['D8-broken-replies'],
}, async () => {
  const seen = breakOff();
  const stream = anthropic.messages.stream({ ...ASKED, messages: [...ASKED.messages] }).on('text', seen);
  const message = await stream.finalMessage();
  expect(message.content.map((block) => block.type === 'text' && block.text)).toEqual(['Half ', 'All of it.']);
  expect(message.stop_reason).toBe('end_turn');
  const texts = 'SELECT text FROM steps ORDER BY run_seq DESC LIMIT 1';
  expect(rowsOf(daemon, texts)).toEqual([{ text: 'All of it.' }]);
});

test('a watched chat stream begins a new paragraph', { tags: ['D8-broken-replies'] }, async () => {
  const seen = breakOff();
  const stream = openai.chat.completions.stream({ model: 'x', messages: [{ role: 'user', content: 'Go.' }] });
  stream.on('content', seen);
  expect(await stream.finalContent()).toBe('Half \n\nAll of it.');
});

test('a watched Responses stream begins a new item, and the response has the last one', {
  tags: ['D8-broken-replies'],
}, async () => {
  const seen = breakOff();
  const stream = openai.responses.stream({ model: 'x', input: 'Go.' }).on('response.output_text.delta', seen);
  const items: string[] = [];
  stream.on('response.output_text.done', ({ text }) => void items.push(text));
  const response = await stream.finalResponse();
  expect(items).toEqual(['Half ', 'All of it.']);
  expect(response).toMatchObject({ status: 'completed', output_text: 'All of it.' });
});

test('who waits for the whole reply gets it once', { tags: ['D8-broken-replies'] }, async () => {
  const before = model.requests.length;
  model.enqueue({ text: ['Half ', 'of it.'], cut: 1 }, { text: ['All ', 'of it.'] });
  const { content } = await anthropic.messages.create({ ...ASKED, messages: [...ASKED.messages] });
  expect(content).toMatchObject([{ text: 'All of it.' }]);
  expect(model.requests.length - before).toBe(2);
});

test('a reply of thinking alone is asked for once more, and no reader sees what was thought', {
  tags: ['D8-empty-replies'],
}, async () => {
  model.enqueue({ text: ['<think>Hm', 'm.</th', 'ink>'] }, { text: ['<think>Aha.</think>', '\n\nTwelve.'] });
  const stream = openai.chat.completions.stream({ model: 'x', messages: [{ role: 'user', content: 'Go.' }] });
  expect(await stream.finalContent()).toBe('Twelve.');
});

test('an end mark without a reason to finish ends a reply', { tags: ['D8-empty-replies'] }, async () => {
  const delta = JSON.stringify({ choices: [{ index: 0, delta: { content: 'Done.' } }] });
  const before = model.requests.length;
  model.enqueue({ wire: `data: ${delta}\n\ndata: [DONE]\n\n` });
  const { choices } = await openai.chat.completions.create({
    model: 'x',
    messages: [{ role: 'user', content: 'Go.' }],
  });
  expect(choices).toMatchObject([{ message: { content: 'Done.' }, finish_reason: 'stop' }]);
  expect(model.requests.length - before).toBe(1);
});
