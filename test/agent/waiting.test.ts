// A run whose model server can't be reached: how long it tries, what watchers hear, and a configuration that is corrected meanwhile.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ModelGrant } from '../../src/agent/port/grants.ts';
import type { Outcome, RunLimits } from '../../src/agent/port/protocol.ts';
import { type ModelServer, startModelServer } from '../support/model/model-server.ts';
import { GRANT, LIMITS, type MainManners, makeBrief, makeTools, startRun } from './play-main.ts';

/** Nothing listens there. */
const CLOSED = 'http://127.0.0.77:8485';
/** A test that waited it out would not end. */
const LONG_MS = 600_000;

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
beforeEach(() => server.script({ text: 'Here I am.' }));

let configurations = 0;
/** A grant with a configuration of its own. */
function grantOf(changes: Partial<ModelGrant>): ModelGrant {
  configurations += 1;
  return { ...GRANT, configured: `configuration ${configurations}`, ...changes };
}

const begin = async (model: ModelGrant, limits: Partial<RunLimits>, manners: MainManners = {}) =>
  startRun(await makeBrief({ model, limits: { ...LIMITS, ...limits } }), makeTools().tools, manners);

const messageOf = (outcome: Outcome) => ('error' in outcome ? outcome.error.message : outcome.status);

test('an endpoint that never has answered is given up soon, and the error says who knows more', {
  tags: ['D8-unproven'],
}, async () => {
  const grant = grantOf({ baseUrl: CLOSED });
  const limits = { patienceMs: LONG_MS, unprovenPatienceMs: 40 };
  const main = await begin(grant, limits, { currentModel: () => ({ grant, hasAnswered: false }) });
  expect(messageOf(await main.done)).toMatch(
    /^The model "house-model" could not be read: the connection was refused\. It has never answered since it was configured: "errand models check house-model" says more\. \(tried \d+ times\)$/,
  );
  expect(main.of('model-wait')).toMatchObject([{ patienceMs: 40 }]);
  expect(main.of('model-wait-over')).toMatchObject([{ answered: false }]);
});

test('one that has answered keeps all patience, also when the main thread can not say', {
  tags: ['D8-unproven'],
}, async () => {
  const grant = grantOf({ baseUrl: CLOSED });
  for (const known of [{ grant, hasAnswered: true }, null]) {
    const limits = { patienceMs: LONG_MS, unprovenPatienceMs: 0 };
    const main = await begin(grant, limits, { currentModel: () => known });
    await main.next(({ t }) => t === 'model-wait');
    expect(main.of('model-wait')).toMatchObject([{ patienceMs: LONG_MS }]);
    main.control({ t: 'abort', reason: 'stopped' });
    expect(await main.done).toEqual({ status: 'canceled' });
  }
});

test('a server that says it is busy is there: it has all patience, whatever it has answered before', {
  tags: ['D8-unproven'],
}, async () => {
  const grant = grantOf({ baseUrl: server.url });
  server.enqueue(...Array.from({ length: 9 }, () => ({ status: 503 })));
  const limits = { patienceMs: LONG_MS, unprovenPatienceMs: 0 };
  const main = await begin(grant, limits, { currentModel: () => ({ grant, hasAnswered: false }) });
  expect(await main.done).toMatchObject({ status: 'completed', text: 'Here I am.' });
});

test('that an endpoint answers is reported once, with the first of its reply', { tags: ['D8-unproven'] }, async () => {
  const grant = grantOf({ baseUrl: server.url });
  server.enqueue({ status: 500 }, { text: ['a', 'b'], cut: 1 });
  const first = await begin(grant, {});
  await first.done;
  expect(first.of('answered')).toEqual([{ t: 'answered', configured: grant.configured }]);
  const names = first.signals.map(({ t }) => t);
  expect(names.indexOf('answered')).toBeLessThan(names.indexOf('step'));
  const second = await begin(grant, {});
  await second.done;
  expect(second.of('answered')).toEqual([]);
});

test('a healthy run asks the main thread nothing of its model', async () => {
  const main = await begin(grantOf({ baseUrl: server.url }), { patienceMs: LONG_MS });
  await main.done;
  expect([...main.of('request'), ...main.of('model-wait')]).toEqual([]);
});

test('a corrected address and key reach a run that waits, with all of its steps', {
  tags: ['D8-corrected'],
}, async () => {
  const wrong = grantOf({ baseUrl: CLOSED, apiKey: 'old' });
  const right = grantOf({ baseUrl: server.url, apiKey: 'new' });
  let isCorrected = false;
  const main = await begin(
    wrong,
    { patienceMs: LONG_MS, unprovenPatienceMs: LONG_MS },
    {
      currentModel: () => ({ grant: isCorrected ? right : wrong, hasAnswered: false }),
      sees: ({ t }) => {
        isCorrected ||= t === 'model-wait';
      },
    },
  );
  server.enqueue({ tools: [{ name: 'add', input: { a: 1, b: 2 } }] });
  const before = server.requests.length;
  expect(await main.done).toMatchObject({ status: 'completed', text: 'Here I am.' });
  const requests = server.requests.slice(before);
  expect(requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer new', 'Bearer new']);
  expect(main.of('model-wait')).toHaveLength(1);
  expect(main.of('model-wait-over')).toMatchObject([{ answered: true }]);
  expect(main.of('answered')).toEqual([{ t: 'answered', configured: right.configured }]);
});

test('what is configured instead has a patience of its own', { tags: ['D8-corrected'] }, async () => {
  const wrong = grantOf({ baseUrl: CLOSED });
  const other = grantOf({ baseUrl: 'http://127.0.0.77:8486' });
  let waits = 0;
  const main = await begin(
    wrong,
    { patienceMs: LONG_MS, unprovenPatienceMs: 40 },
    {
      currentModel: () => ({ grant: waits > 0 ? other : wrong, hasAnswered: false }),
      sees: ({ t }) => {
        waits += Number(t === 'model-wait');
      },
    },
  );
  expect(messageOf(await main.done)).toContain('never answered');
  expect(main.of('model-wait')).toHaveLength(2);
  expect(main.of('model-wait-over')).toMatchObject([{ answered: false }, { answered: false }]);
});

test.each(['openai', 'anthropic'] as const)(
  'another model, of kind %s, gets no thinking of the one before',
  {
    tags: ['D8-corrected'],
  },
  async (kind) => {
    const first = grantOf({ baseUrl: server.url });
    const second = grantOf({ kind, model: 'other', baseUrl: server.url });
    const called = { index: 0, id: 'c', function: { name: 'add', arguments: '{"a":1,"b":2}' } };
    const delta = { reasoning_content: 'Hm.', tool_calls: [called] };
    const wire = `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: 'tool_calls' }] })}\n\n`;
    server.enqueue({ wire }, { status: 503 });
    const before = server.requests.length;
    const currentModel = () => ({ grant: second, hasAnswered: true });
    const main = await begin(first, { patienceMs: LONG_MS }, { currentModel });
    expect(await main.done).toMatchObject({ status: 'completed', text: 'Here I am.' });
    const [, asFirst, asSecond] = server.requests.slice(before);
    expect(JSON.stringify(asFirst!.body)).toContain('Hm.');
    expect(asSecond).toMatchObject({ protocol: kind, body: { model: 'other' } });
    expect(JSON.stringify(asSecond!.body)).not.toContain('Hm.');
    expect(main.of('step').map(({ reply }) => reply.kind)).toEqual(['openai', kind]);
  },
);

test('a pause that a server asks for is told as a wait when it is long', async () => {
  server.script({ status: 429, headers: { 'retry-after': '300' } });
  const main = await begin(grantOf({ baseUrl: server.url }), { patienceMs: 0 });
  await main.next(({ t }) => t === 'model-wait');
  expect(main.of('model-wait')).toMatchObject([{ message: expect.stringContaining('too often'), patienceMs: 300_000 }]);
  main.control({ t: 'abort', reason: 'stopped' });
  expect(await main.done).toEqual({ status: 'canceled' });
});
