// From a grant to a model.
import { expect, test } from 'vitest';
import { normalizeBaseUrl, openModel } from '../../../src/agent/models/open-model.ts';
import { startModelServer } from '../../support/model-server.ts';
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
