// What the official clients of both protocols make of the streams.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { ErrandError } from '../../../src/domain/errors.ts';
import { openFixture } from '../../support/http/http-fixture.ts';
import { KEY } from '../../support/http/run-streams.ts';

test('the official Anthropic client streams a turn and reads a whole one', {
  tags: ['§1-protocols', '§1-streams'],
}, async () => {
  const fixture = await openFixture();
  const client = new Anthropic({ apiKey: KEY, baseURL: `${fixture.url}/openapi`, maxRetries: 0 });
  const params = { model: 'errand', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] };
  const whole = await client.messages.create(params);
  const last = await client.messages.stream(params).finalMessage();
  for (const message of [whole, last])
    expect(message).toMatchObject({
      role: 'assistant',
      content: [{ type: 'text', text: 'Hello.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 30, output_tokens: 7 },
    });
});

test('the official OpenAI client streams a turn, reads a whole one, and understands a refusal', {
  tags: ['§1-protocols', '§1-streams'],
}, async () => {
  const fixture = await openFixture();
  const client = new OpenAI({ apiKey: KEY, baseURL: `${fixture.url}/openapi/v1`, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  const whole = await client.chat.completions.create({ model: 'errand', messages });
  expect(whole.choices[0]!.message.content).toBe('Hello.');
  const stream = client.chat.completions.stream({ model: 'errand', messages, stream_options: { include_usage: true } });
  const final = await stream.finalChatCompletion();
  expect(final).toMatchObject({
    choices: [{ message: { content: 'Hello.' }, finish_reason: 'stop' }],
    usage: { total_tokens: 107 },
  });
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['qwen']);
  await expect(client.chat.completions.create({ model: '', messages })).rejects.toMatchObject({
    status: 422,
    param: 'model',
  });
});

test('an official client does not repeat a turn whose run failed', async () => {
  const error = { type: 'api_error', message: 'It broke.', retryable: false } as const;
  const fixture = await openFixture({ play: (run, book) => book.move(run, { status: 'failed', error }) });
  const client = new Anthropic({ apiKey: KEY, baseURL: `${fixture.url}/openapi`, maxRetries: 2 });
  const turn = client.messages.create({ model: 'errand', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] });
  await expect(turn).rejects.toMatchObject({ status: 500 });
  expect(fixture.turns).toHaveLength(1);
});

test('the official clients report a used-up budget at once, and do not wait for its renewal', async () => {
  let asked = 0;
  const acceptTurn = async () => {
    asked += 1;
    const details = { retryAfterSeconds: 86_400, noRetry: true };
    throw new ErrandError('rate_limited', 'The budget of this user for this day is used up.', { details });
  };
  const fixture = await openFixture({ operations: { acceptTurn } });
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  const anthropic = new Anthropic({ apiKey: KEY, baseURL: `${fixture.url}/openapi`, maxRetries: 2 });
  const openai = new OpenAI({ apiKey: KEY, baseURL: `${fixture.url}/openapi/v1`, maxRetries: 2 });
  const refusals = [
    anthropic.messages.create({ model: 'errand', max_tokens: 10, messages }),
    openai.chat.completions.create({ model: 'errand', messages }),
  ];
  for (const refused of refusals) await expect(refused).rejects.toMatchObject({ status: 429 });
  expect(asked).toBe(2);
});
