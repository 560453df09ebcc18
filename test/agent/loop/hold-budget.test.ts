// What a run says of its budgets: before each model call while there are any, and after one that failed.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Signal } from '../../../src/agent/port/protocol.ts';
import type { RunError } from '../../../src/domain/sessions/run.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { GRANT, makeBrief, makeTools, startRun } from '../play-main.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
beforeEach(() => server.script({ text: 'Fine.' }));

const USED_UP: RunError = { type: 'budget_error', message: 'The budget of this user is used up.', retryable: true };

/** A run whose requests for a budget are answered with these refusals in turn; then they are granted. */
async function play(refusals: readonly (RunError | null)[], budgets = new Int32Array([1])) {
  const { tools } = makeTools();
  const left = [...refusals];
  const sees = (signal: Signal) => {
    if (signal.t !== 'request' || signal.service !== 'hold_budget') return;
    const output = { refusal: left.shift() ?? null };
    main.control({ t: 'reply', request: signal.request, reply: { ok: true, output } });
  };
  const brief = await makeBrief({ model: { ...GRANT, baseUrl: server.url } });
  const main = startRun(brief, tools, { budgets, sees });
  const asked = () => main.of('request').flatMap((one) => (one.service === 'hold_budget' ? [one.input] : []));
  return { main, asked, outcome: await main.done };
}

test('each call asks with the length of its prompt and the longest reply', async () => {
  server.enqueue({ tools: [{ id: 'one', name: 'echo', input: { text: 'x'.repeat(900) } }] });
  const { asked, outcome } = await play([]);
  expect(outcome.status).toBe('completed');
  const [first, second] = asked();
  expect(first).toMatchObject({ model: 'house-model', outputTokens: 1_000 });
  expect(second!.inputTokens - first!.inputTokens).toBeGreaterThan(300);
  expect(asked()).toHaveLength(2);
});

test('a refused call fails the run without asking the model, and keeps the steps before it', async () => {
  server.enqueue({ text: 'Adding.', tools: [{ id: 'one', name: 'add', input: { a: 1, b: 2 } }] });
  const before = server.requests.length;
  const { main, outcome } = await play([null, USED_UP]);
  expect(outcome).toMatchObject({ status: 'failed', error: USED_UP });
  expect(server.requests.length - before).toBe(1);
  expect(main.of('step')).toHaveLength(1);
  expect(main.blocks()).toEqual(['Adding.']);
});

test('a call that failed says so before it is retried, with a budget of its own', async () => {
  server.enqueue({ status: 500 });
  const { main, asked, outcome } = await play([]);
  expect(outcome.status).toBe('completed');
  expect(main.of('call-failed')).toHaveLength(1);
  expect(asked()).toHaveLength(2);
});

test('without budgets nobody is asked; the first one counts from the next call on', async () => {
  const budgets = new Int32Array(1);
  const { asked, main } = await play([], budgets);
  expect([asked(), main.of('call-failed')]).toEqual([[], []]);
  Atomics.store(budgets, 0, 1);
  expect((await play([USED_UP], budgets)).outcome).toMatchObject({ status: 'failed', error: USED_UP });
});
