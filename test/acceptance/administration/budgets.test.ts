// Budgets of a real daemon: parallel runs at the ceiling, a kill in the middle of a call, and who is told what.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const MODELS = (url: string) => `
endpoints: { local: { kind: openai, base_url: "${url}/v1", api_key_file: null } }
models:
  priced: { endpoint: local, model: scripted, context_window: 32768, max_output_tokens: 100,
    price: { input_per_million_usd: 100, output_per_million_usd: 1000, cache_read_per_million_usd: 0, cache_write_per_million_usd: 0 } }
scenarios: { general: { model: priced } }
default_scenario: general
`;

interface Budget {
  readonly id: string;
  readonly spent: number;
  readonly reserved: number;
}

let model: ModelServer;
let daemon: DaemonProcess;
beforeAll(async () => {
  model = await startModelServer({ record: false });
  daemon = await startDaemonProcess({
    modelsYaml: MODELS(model.url),
    errandYaml: 'workers: { threads: 1, runs_per_thread: 16 }\n',
  });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

async function person(username: string) {
  await daemon.admin('POST', '/api/v1/users', { username });
  const { key } = (await daemon.admin('POST', '/api/v1/keys', { user: username, scope: 'global' })) as { key: string };
  return { url: daemon.url, apiKey: key };
}

const set = (ref: string, limit: number, unit = 'usd') =>
  daemon.admin('PUT', '/api/v1/budgets', { subject: 'user', ref, unit, limit, period: 'month' }) as Promise<Budget>;
const get = (id: string) => daemon.admin('GET', `/api/v1/budgets/${id}`) as Promise<Budget>;

/** Each call costs 0.2 dollars. */
const WORDS = '[[text=Fine.]] [[input=1000 output=100]]';

test('sixteen turns at once use a budget up, exceed it by less than a call, and later ones are told when it renews', async () => {
  const door = await person('ada');
  const { id } = await set('ada', 1);
  const answers = await Promise.all(Array.from({ length: 16 }, () => takeTurn(door, { content: WORDS })));
  const ended = answers.map(({ status, error }) => error?.type ?? status);
  expect(ended.filter((end) => end === 200)).toHaveLength(5);
  expect(ended.filter((end) => end === 'rate_limit_error')).toHaveLength(11);
  expect((await get(id)).spent).toBeCloseTo(1);
  const refused = await takeTurn(door, { content: WORDS, protocol: 'chat' });
  expect([refused.status, refused.error?.message]).toEqual([
    429,
    expect.stringMatching(/for this month .* renews at 20/),
  ]);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60);
  const failed = rowsOf<{ error: string }>(daemon, "SELECT error FROM runs WHERE status = 'failed'");
  expect(new Set(failed.map(({ error }) => (JSON.parse(error) as { type: string }).type))).toEqual(
    new Set(['budget_error']),
  );
});

test('a kill in the middle of a call leaves nothing held back, and the run resumes', async () => {
  const door = await person('ben');
  const { id } = await set('ben', 1);
  const body = { background: true };
  await takeTurn(door, {
    content: '[[text=Fine.]] [[deltas=40 every=50]] [[input=1000 output=100]]',
    body,
    headers: { 'idempotency-key': 'one' },
  });
  await waitFor(async () => (await get(id)).reserved > 0, { what: 'the call is held' });
  await daemon.kill();
  await daemon.restart();
  await waitFor(async () => (await get(id)).spent > 0, { what: 'the run has resumed and its call is recorded' });
  const { spent, reserved } = await get(id);
  expect([spent, reserved]).toEqual([0.2, 0]);
});
