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
/** Once nothing is held back: a call holds it for a moment longer than its record takes. */
const settled = (id: string) =>
  waitFor(async () => {
    const budget = await get(id);
    return budget.reserved === 0 && budget;
  });

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

const BACKGROUND = { body: { background: true }, headers: { 'idempotency-key': 'one' } };

interface Used {
  readonly outcome: string;
  readonly estimated: number;
  readonly usd: number;
}

/** What was recorded of the calls of a session, in order. */
const usedBy = (sessionId: string) =>
  rowsOf<Used>(
    daemon,
    `SELECT x.outcome, x.estimated, x.cost_usd AS usd FROM usage_records x JOIN sessions s ON s.seq = x.session_seq
     WHERE s.id = ? ORDER BY x.seq`,
    sessionId,
  );

test('a call that is stopped in its middle is paid for by an estimate, and explained', async () => {
  const door = await person('cleo');
  const { id } = await set('cleo', 1);
  model.enqueue({ text: ['Once upon a time. ', 'The end.'], hang: 'mid-stream' });
  const { headers } = await takeTurn(door, { content: 'A tale.', ...BACKGROUND });
  const sessionId = headers.get('x-session-id')!;
  const started = () =>
    rowsOf(daemon, "SELECT 1 FROM events WHERE type = 'content_block_delta' AND payload LIKE '%Once%'");
  await waitFor(() => started().length > 0, { what: 'the reply has begun' });
  await daemon.admin('POST', `/api/v1/sessions/${sessionId}/stop`);
  await waitFor(async () => (await get(id)).spent > 0, { what: 'the call is recorded' });
  const [call] = usedBy(sessionId);
  expect(call).toMatchObject({ outcome: 'stopped', estimated: 1 });
  expect((await settled(id)).spent).toBe(call!.usd);
  const { spans } = (await daemon.admin('GET', `/api/v1/runs/${headers.get('x-run-id')}/timeline`)) as {
    spans: { kind: string; ok?: boolean; estimated?: boolean; output_tokens?: number }[];
  };
  const told = spans.filter(({ kind }) => kind === 'model');
  expect(told).toMatchObject([{ ok: false, estimated: true, output_tokens: expect.any(Number) }]);
});

test('a kill in the middle of a call leaves nothing held back: its prompt is paid for, and the run resumes', async () => {
  const door = await person('ben');
  const { id } = await set('ben', 1);
  // Before it asks, it is no call to lose: the next start would get this reply.
  const asked = Promise.withResolvers<void>();
  model.enqueue(() => {
    asked.resolve();
    return { hang: 'before-headers' };
  });
  const { headers } = await takeTurn(door, { content: WORDS, ...BACKGROUND });
  await asked.promise;
  const isSaved = () => rowsOf(daemon, 'SELECT 1 FROM calls_in_progress').length > 0;
  await waitFor(isSaved, { what: 'the call in progress is written down' });
  expect((await get(id)).reserved).toBeGreaterThan(0);
  await daemon.kill();
  await daemon.restart();
  const sessionId = headers.get('x-session-id')!;
  await waitFor(() => usedBy(sessionId).length === 2, { what: 'the run has resumed and its call is recorded' });
  const [lost, call] = usedBy(sessionId);
  expect(lost).toMatchObject({ outcome: 'lost', estimated: 1 });
  expect(call).toEqual({ outcome: 'ok', estimated: 0, usd: expect.closeTo(0.2) });
  expect((await settled(id)).spent).toBeCloseTo(lost!.usd + 0.2);
});
