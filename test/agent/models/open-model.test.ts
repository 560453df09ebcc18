// From a grant to a model.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { ModelGrant } from '../../../src/agent/port/grants.ts';
import { listModels } from '../../../src/agent/models/list-models.ts';
import { normalizeBaseUrl, openModel } from '../../../src/agent/models/open-model.ts';
import { type CallExtras, NO_EXTRAS } from '../../../src/domain/capabilities/model.ts';
import { startModelServer } from '../../support/model/model-server.ts';
import { GRANT, makeBrief, startRun } from '../play-main.ts';

test.each([
  ['http://localhost:11434', 'http://localhost:11434/v1'],
  ['http://localhost:11434/', 'http://localhost:11434/v1'],
  ['http://localhost:11434/v1/', 'http://localhost:11434/v1'],
  ['https://models.example/api', 'https://models.example/api'],
])('the base address %s means %s', (given, meant) => {
  expect(normalizeBaseUrl(given)).toBe(meant);
});

test('the same grant opens the same model, another key another one', () => {
  const first = openModel(GRANT, 1_000);
  expect(openModel({ ...GRANT }, 1_000)).toBe(first);
  expect(openModel({ ...GRANT, apiKey: 'sk-other' }, 1_000)).not.toBe(first);
});

test('each protocol sends its own key header, and a local server without a key gets none of ours', async () => {
  await using closing = new AsyncDisposableStack();
  const server = await startModelServer();
  closing.defer(() => server.close());
  const headersOf = async (kind: 'openai' | 'anthropic', apiKey: string | null) => {
    const model = { ...GRANT, kind, baseUrl: server.url, apiKey };
    expect((await startRun(await makeBrief({ model }), []).done).status).toBe('completed');
    return server.requests.at(-1)?.headers ?? {};
  };
  expect((await headersOf('openai', 'sk-1'))['authorization']).toBe('Bearer sk-1');
  expect((await headersOf('openai', null))['authorization']).toBeUndefined();
  expect((await headersOf('anthropic', 'sk-2'))['x-api-key']).toBe('sk-2');
  expect((await headersOf('anthropic', null))['x-api-key']).toBe('none');
});

describe('what an endpoint adds to its calls', () => {
  async function callWith(kind: 'openai' | 'anthropic', changes: Partial<ModelGrant>) {
    await using closing = new AsyncDisposableStack();
    const server = await startModelServer();
    closing.defer(() => server.close());
    const model = { ...GRANT, kind, baseUrl: server.url, ...changes };
    expect((await startRun(await makeBrief({ model }), []).done).status).toBe('completed');
    return server.requests[0]!;
  }

  test('a key in a header of its own and a version in the query, as Azure wants them', async () => {
    const extras = { ...NO_EXTRAS, headers: { 'api-key': 'azure-key' }, query: { 'api-version': '2024-10-21' } };
    const { headers, path } = await callWith('openai', { apiKey: null, extras });
    expect(headers['api-key']).toBe('azure-key');
    expect(headers['authorization']).toBeUndefined();
    expect(path).toBe('/v1/chat/completions?api-version=2024-10-21');
  });

  test('a bearer token for a gateway to Anthropic replaces the key', async () => {
    const extras = { ...NO_EXTRAS, headers: { authorization: 'Bearer gateway-token' } };
    const { headers } = await callWith('anthropic', { apiKey: null, extras });
    expect(headers['authorization']).toBe('Bearer gateway-token');
    expect(headers['x-api-key']).toBeUndefined();
  });

  test('the name of the token limit that newer models know, further fields, and fields taken away', async () => {
    const extraBody = { reasoning_effort: 'low', stream_options: null };
    const extras: CallExtras = { ...NO_EXTRAS, maxTokensField: 'max_completion_tokens', extraBody };
    const { body } = await callWith('openai', { extras });
    expect(body).toMatchObject({ max_completion_tokens: GRANT.maxOutputTokens, reasoning_effort: 'low', stream: true });
    expect(body).not.toHaveProperty('max_tokens');
    expect(body).not.toHaveProperty('stream_options');
  });

  test('fields of the body go to Anthropic too', async () => {
    const extras: CallExtras = { ...NO_EXTRAS, extraBody: { service_tier: 'standard_only' } };
    expect((await callWith('anthropic', { extras })).body).toMatchObject({ service_tier: 'standard_only' });
  });

  test('the list of models is asked for with them, and what it holds is bounded', async () => {
    await using closing = new AsyncDisposableStack();
    const asked: (string | undefined)[] = [];
    const listed = [
      { id: 'gpt' },
      { id: 'vllm', max_model_len: 4_096 },
      { id: 'llama.cpp', meta: { n_ctx: 8_192, n_ctx_train: 131_072 } },
      { id: 'openrouter', context_length: 2_048 },
      { id: 'odd', max_model_len: 'many', meta: 3, context_length: 0 },
    ];
    let reply = JSON.stringify({ data: listed });
    const server = createServer((request, response) => {
      asked.push(request.url, request.headers['api-key'] as string);
      response.end(reply);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.defer(() => void server.close());
    const extras = { ...NO_EXTRAS, headers: { 'api-key': 'azure-key' }, query: { 'api-version': '1' } };
    const grant = {
      ...GRANT,
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      apiKey: null,
      extras,
    };
    expect(await listModels(grant, 5_000)).toEqual([
      { name: 'gpt', window: null },
      { name: 'vllm', window: 4_096 },
      { name: 'llama.cpp', window: 8_192 },
      { name: 'openrouter', window: 2_048 },
      { name: 'odd', window: null },
    ]);
    expect(asked).toEqual(['/v1/models?api-version=1', 'azure-key']);
    reply = `{"data":[{"id":"${'x'.repeat(5_000_000)}"}]}`;
    expect(await listModels(grant, 5_000)).toBeNull();
  });

  test('a server that repeats what its endpoint adds to its calls gets none of it into the log', async () => {
    await using closing = new AsyncDisposableStack();
    const server = await startModelServer();
    closing.defer(() => server.close());
    const planted = ['planted-in-query', 'planted in the body', 'planted-deep-in-it', 'planted-key'];
    const [query, body, deep, apiKey] = planted as [string, string, string, string];
    const encoded = [encodeURIComponent(body), Buffer.from(deep).toString('base64'), JSON.stringify(query)];
    server.script({ status: 400, body: `no: ${[...planted, ...encoded].join(', ')} in 2024-02-01` });
    const extraBody = { route: body, metadata: { tags: [deep] }, reasoning: 'medium' };
    const extras = { ...NO_EXTRAS, query: { tenant: query, 'api-version': '2024-02-01' }, extraBody };
    const main = startRun(await makeBrief({ model: { ...GRANT, baseUrl: server.url, apiKey, extras } }), []);
    expect((await main.done).status).toBe('failed');
    const said = main.of('log')[0]?.facts['server_said'];
    expect(said).toMatch(/^no: (?:"?\[credential\]"?,? ?)+ in 2024-02-01$/);
  });

  test.each([4_096, 16_384])(
    'a reply that breaks off in the middle of a secret at %i shows no piece of it',
    async (length) => {
      await using closing = new AsyncDisposableStack();
      const server = await startModelServer();
      closing.defer(() => server.close());
      const apiKey = 'planted-key-0123456789';
      // White space is shortened before the message is, so that what is shown would have the end of what was read.
      server.script({ status: 400, body: `no:${' '.repeat(length - 3 - 16)}${apiKey}, and so on` });
      const main = startRun(await makeBrief({ model: { ...GRANT, baseUrl: server.url, apiKey } }), []);
      expect((await main.done).status).toBe('failed');
      expect(JSON.stringify(main.of('log'))).not.toContain('planted-key');
    },
  );

  test('a server that repeats a secret header does not get it into the log', async () => {
    await using closing = new AsyncDisposableStack();
    const server = await startModelServer();
    closing.defer(() => server.close());
    server.script({ status: 400, body: 'bad token gateway-token, or Bearer gateway-token' });
    const extras = { ...NO_EXTRAS, headers: { authorization: 'Bearer gateway-token' } };
    const main = startRun(await makeBrief({ model: { ...GRANT, baseUrl: server.url, apiKey: null, extras } }), []);
    expect((await main.done).status).toBe('failed');
    expect(main.of('log')[0]?.facts['server_said']).toBe('bad token [credential], or [credential]');
  });
});
