// What the official clients of both protocols make of the streams.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { ErrandError } from '../../../src/domain/errors.ts';
import type { TurnInput } from '../../../src/operations/turns/turn.ts';
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

test('the official clients read the model of the key, and find no other', { tags: ['M5-models'] }, async () => {
  const fixture = await openFixture();
  const openai = new OpenAI({ apiKey: KEY, baseURL: `${fixture.url}/openapi/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: KEY, baseURL: `${fixture.url}/openapi`, maxRetries: 0 });
  expect(await openai.models.retrieve('qwen')).toMatchObject({ id: 'qwen', object: 'model', owned_by: 'errand' });
  const own = { id: 'qwen', type: 'model', display_name: 'qwen', created_at: expect.stringMatching(/Z$/) as string };
  expect(await anthropic.models.retrieve('qwen')).toMatchObject(own);
  expect(await Array.fromAsync(await anthropic.models.list())).toMatchObject([own]);
  for (const { models } of [openai, anthropic])
    await expect(models.retrieve('gpt-x')).rejects.toMatchObject({ status: 404 });
});

test('the official Anthropic client counts the tokens of a turn, which begins nothing', {
  tags: ['M5-count'],
}, async () => {
  const asked: TurnInput[] = [];
  const countTokens = async (_caller: unknown, input: TurnInput) => {
    asked.push(input);
    return 321;
  };
  const fixture = await openFixture({ operations: { countTokens } });
  const client = new Anthropic({ apiKey: KEY, baseURL: `${fixture.url}/openapi`, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  expect(await client.messages.countTokens({ model: 'm', messages, system: 'Be brief.' })).toEqual({
    input_tokens: 321,
  });
  expect(asked[0]?.content).toEqual([{ type: 'text', text: 'Hi' }]);
  expect(fixture.turns).toEqual([]);
  await expect(client.messages.countTokens({ model: 'm', messages: [] })).rejects.toMatchObject({ status: 422 });
});

test('addresses that begin with /v1 are those of the interface, unless a setting says otherwise', {
  tags: ['M5-aliases'],
}, async () => {
  const fixture = await openFixture();
  const openai = new OpenAI({ apiKey: KEY, baseURL: `${fixture.url}/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: KEY, baseURL: fixture.url, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  const completion = await openai.chat.completions.create({ model: 'm', messages });
  expect(completion.choices[0]?.message.content).toBe('Hello.');
  const message = await anthropic.messages.create({ model: 'm', max_tokens: 9, messages });
  expect(message.content).toEqual([{ type: 'text', text: 'Hello.' }]);
  // In the shape of their protocol, too.
  await expect(openai.chat.completions.create({ model: '', messages })).rejects.toMatchObject({ param: 'model' });
  for (const path of ['/v1', '/v1x/models', '/x/v1/models'])
    expect((await fetch(fixture.url + path, { headers: { authorization: `Bearer ${KEY}` } })).status).toBe(404);
  const without = await openFixture({ settings: { aliases: false } });
  const answer = await fetch(`${without.url}/v1/sessions`, { headers: { authorization: `Bearer ${KEY}` } });
  expect(answer.status).toBe(404);
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
