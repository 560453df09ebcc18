// Budgets of two real daemons on one database: one ceiling for the calls of both, whoever has set it, also when one is killed.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import type { DaemonProcess } from '../../support/daemon/daemon-process.ts';
import { startInstallation } from '../../support/daemon/installation.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
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

let [model, north, south]: [ModelServer, DaemonProcess, DaemonProcess] = [] as never;
const closers: (() => void | Promise<void>)[] = [];
beforeAll(async () => {
  model = await startModelServer({ record: false });
  const of = { onTestFinished: (close: () => void | Promise<void>) => void closers.push(close) };
  const errandYaml = 'workers: { threads: 1, runs_per_thread: 8 }\n';
  const { nodes } = await startInstallation(2, { modelsYaml: MODELS(model.url), errandYaml }, of);
  [north, south] = nodes as [DaemonProcess, DaemonProcess];
});
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
  await model.close();
});

async function person(username: string) {
  await north.admin('POST', '/api/v1/users', { username });
  const { key } = (await north.admin('POST', '/api/v1/keys', { user: username, scope: 'global' })) as { key: string };
  return (daemon: DaemonProcess) => ({ url: daemon.url, apiKey: key });
}

const set = (daemon: DaemonProcess, ref: string, limit: number) =>
  daemon.admin('PUT', '/api/v1/budgets', {
    subject: 'user',
    ref,
    unit: 'usd',
    limit,
    period: 'month',
  }) as Promise<Budget>;
const get = (daemon: DaemonProcess, id: string) => daemon.admin('GET', `/api/v1/budgets/${id}`) as Promise<Budget>;

/** Each call costs 0.2 dollars. */
const WORDS = '[[text=Fine.]] [[input=1000 output=100]]';

test('a budget that one daemon sets is the ceiling of both, which use it up together', async () => {
  const door = await person('ada');
  expect(await takeTurn(door(south), { content: WORDS })).toMatchObject({ status: 200 });
  const { id, spent } = await set(north, 'ada', 1);
  expect(spent).toBeCloseTo(0.2);
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, at) => takeTurn(door(at % 2 === 0 ? north : south), { content: WORDS })),
  );
  const ended = answers.map(({ status, error }) => error?.type ?? status);
  expect(ended.filter((end) => end === 200)).toHaveLength(4);
  expect(ended.filter((end) => end === 'rate_limit_error')).toHaveLength(12);
  for (const daemon of [north, south])
    expect(await get(daemon, id)).toMatchObject({ spent: expect.closeTo(1), reserved: 0 });
  expect(await takeTurn(door(south), { content: WORDS })).toMatchObject({ status: 429 });
  await set(south, 'ada', 2);
  expect(await takeTurn(door(north), { content: WORDS })).toMatchObject({ status: 200 });
  const warned = () =>
    [north, south].flatMap((daemon) =>
      daemon
        .stderr()
        .split('\n')
        .filter((line) => line.includes('of a budget is used')),
    ).length;
  await waitFor(() => warned() > 0);
  expect(warned()).toBe(1);
});

test('the call of a daemon that is killed is held for the other until its run has gone there, and charged once', {
  tags: ['L4'],
}, async () => {
  const door = await person('ben');
  const { id } = await set(south, 'ben', 1);
  await south.admin('POST', '/api/v1/nodes/south/drain');
  model.enqueue({ hang: 'before-headers' });
  const background = { body: { background: true }, headers: { 'idempotency-key': 'one' } };
  const { headers } = await takeTurn(door(north), { content: WORDS, ...background });
  // Its budget is held before the model is asked, whose first answer must be that of this call.
  await waitFor(async () => model.inFlight() > 0 && (await get(south, id)).reserved > 0, { what: 'the call is held' });
  await south.admin('POST', '/api/v1/nodes/south/undrain');
  await north.kill();
  expect((await get(south, id)).reserved).toBeGreaterThan(0);
  const calls = () =>
    rowsOf<{ outcome: string; usd: number }>(
      north,
      `SELECT x.outcome, x.cost_usd AS usd FROM usage_records x JOIN sessions s ON s.seq = x.session_seq
       WHERE s.id = ? ORDER BY x.seq`,
      headers.get('x-session-id')!,
    );
  await waitFor(() => calls().length === 2, {
    what: 'the run has resumed at the other daemon and its call is recorded',
  });
  const [lost, call] = calls();
  expect(lost).toMatchObject({ outcome: 'lost' });
  expect(call).toMatchObject({ outcome: 'ok', usd: expect.closeTo(0.2) });
  expect(await get(south, id)).toMatchObject({ spent: expect.closeTo(lost!.usd + 0.2), reserved: 0 });
  await north.restart();
  expect(await get(north, id)).toMatchObject({ spent: expect.closeTo(lost!.usd + 0.2), reserved: 0 });
  expect(calls()).toHaveLength(2);
});
