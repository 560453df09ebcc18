// Traces of runs: what a collector gets, and what happens without one.
import { expect, onTestFinished, test } from 'vitest';
import { makeExporter } from '../../../src/telemetry/traces/exporter.ts';
import { makeTraces, type TracesParts } from '../../../src/telemetry/traces/traces.ts';
import { loggedLines } from '../../support/http/http-fixture.ts';
import { factsOf, openOtlpReceiver, type ReceivedSpan } from '../../support/http/otlp-receiver.ts';
import {
  aSpentCall,
  aStep,
  fenceOf,
  FREE,
  type StoreFixture,
  storeFixture,
} from '../../support/store/store-fixture.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const PARENT = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const SECRET = 'the launch code is 0000';

async function openTraced(
  url: string,
  { fixture: known, ...over }: Partial<TracesParts> & { sample?: number; fixture?: StoreFixture } = {},
) {
  const fixture = known ?? (await storeFixture());
  const { store, clock } = fixture;
  const { log, lines } = loggedLines();
  const counts: Record<string, number> = {};
  const settings = { otlpEndpoint: url, headersFile: '', sample: over.sample ?? 1 };
  const traces = makeTraces({
    store,
    clock,
    log,
    exporter: makeExporter(),
    settings: () => ({ traces: settings }),
    headers: () => ({ authorization: 'Bearer of-the-collector' }),
    counted: (outcome, runs) => void (counts[outcome] = (counts[outcome] ?? 0) + runs),
    ...over,
  });
  onTestFinished(traces.stop);
  /** Lets what has ended be sent. */
  const gather = async () => {
    clock.advance(2_000);
    await traces.settled();
  };
  return { fixture, traces, lines, counts, settings, gather };
}

/** A run that delegates to a sub-agent and ends; everything in it that is content is secret. */
async function delegate(fixture: StoreFixture, traceParent: string | null = null): Promise<string> {
  const { id } = await fixture.accept({
    content: [{ type: 'text', text: SECRET }],
    preview: SECRET,
    title: SECRET,
    traceParent,
  });
  fixture.clock.advance(1_000);
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  fixture.clock.advance(2_000);
  const calls = [{ id: 'call_1', name: 'delegate', input: { agent: 'reader', task: SECRET } }];
  await fixture.store.runs.recordStep(fence, aStep({ calls, text: SECRET, message: { content: SECRET } }), FREE);
  fixture.clock.advance(500);
  await fixture.store.runs.recordSpent(fence, aSpentCall(), FREE);
  const result = { step: 1, toolUseId: 'call_1', name: 'delegate', ok: true, output: SECRET, durationMs: 1_000 };
  fixture.clock.advance(500);
  await fixture.store.runs.recordToolResult(fence, result);
  fixture.clock.advance(1_000);
  await fixture.store.runs.recordStep(fence, aStep({ step: 2, text: SECRET }), FREE);
  await fixture.store.runs.finalize(fence, { outcome: 'completed', answer: SECRET, stopReason: 'end_turn' });
  await fixture.store.runs.settle(fence, { untouched: true });
  return id;
}

/** The spans as lines of a tree: each with the names above it. */
function treeOf(spans: readonly ReceivedSpan[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const pathOf = (span: ReceivedSpan): string => {
    const above = byId.get(span.parentSpanId ?? '');
    return above === undefined ? span.name : `${pathOf(above)} > ${span.name}`;
  };
  return spans.map(pathOf);
}

const durationMs = ({ startTimeUnixNano: start, endTimeUnixNano: end }: ReceivedSpan) =>
  Number((BigInt(end) - BigInt(start)) / 1_000_000n);

test('a run that has ended is one trace: steps, calls of the model, tools and their sub-agents, without any content', async () => {
  const receiver = await openOtlpReceiver();
  const { fixture, gather, counts } = await openTraced(receiver.url);
  const runId = await delegate(fixture);
  await gather();
  expect(receiver.faults).toEqual([]);
  expect(receiver.requests).toMatchObject([
    { path: '/v1/traces', headers: { 'content-type': 'application/json', authorization: 'Bearer of-the-collector' } },
  ]);
  expect(treeOf(receiver.spans)).toEqual(
    expect.arrayContaining([
      'run',
      'run > queue',
      'run > step 1',
      'run > step 1 > chat scripted',
      'run > step 1 > execute_tool delegate',
      'run > step 1 > execute_tool delegate > chat scripted',
      'run > step 2',
      'run > step 2 > chat scripted',
    ]),
  );
  const [root] = receiver.spans;
  expect(new Set(receiver.spans.map(({ traceId }) => traceId))).toEqual(new Set([runId.replaceAll('-', '')]));
  expect(root).toMatchObject({ name: 'run', kind: 2, status: { code: 1 } });
  expect(root).not.toHaveProperty('parentSpanId');
  expect(durationMs(root!)).toBe(5_000);
  expect(factsOf(root!)).toMatchObject({
    'errand.run.id': runId,
    'errand.run.status': 'completed',
    'gen_ai.usage.input_tokens': '30',
    'errand.cost_usd': 0,
  });
  const call = receiver.spans.find(({ name }) => name.startsWith('chat'))!;
  expect(factsOf(call)).toMatchObject({
    'gen_ai.request.model': 'scripted',
    'gen_ai.usage.output_tokens': '4',
    'errand.call.first_token_ms': '40',
    'errand.call.tries': '1',
  });
  expect(JSON.stringify(receiver.spans)).not.toContain('launch code');
  expect(counts).toEqual({ sent: 1 });
});

test('the span of a request is the parent of its run, and its decision counts', async () => {
  const receiver = await openOtlpReceiver();
  const { fixture, traces, gather } = await openTraced(receiver.url, { sample: 0 });
  const header = (flags: string) => `00-${PARENT.traceId}-${PARENT.spanId}-${flags}`;
  for (const given of [header('01'), `${header('00')} `, 'nonsense']) await delegate(fixture, traces.parentOf(given));
  await gather();
  const roots = receiver.spans.filter(({ name }) => name === 'run');
  expect(roots).toMatchObject([{ traceId: PARENT.traceId, parentSpanId: PARENT.spanId }]);
});

test('a failed run names the kind of its error, and not its words', async () => {
  const receiver = await openOtlpReceiver();
  const { fixture, gather } = await openTraced(receiver.url);
  await fixture.accept();
  const [run] = await fixture.claim();
  const error = { type: 'api_error', message: SECRET, retryable: false } as const;
  await fixture.store.runs.finalize(fenceOf(run!), { outcome: 'failed', error });
  await fixture.store.runs.settle(fenceOf(run!), { untouched: true });
  await gather();
  expect(receiver.spans[0]).toMatchObject({ name: 'run', status: { code: 2, message: 'api_error' } });
  expect(JSON.stringify(receiver.spans)).not.toContain('launch code');
});

test('while the collector is overloaded or away, traces wait, and are sent once it is back; the log says so once', async () => {
  let status = 503;
  const receiver = await openOtlpReceiver(() => ({ status, headers: { 'retry-after': '20' } }));
  const { fixture, traces, lines, counts, gather } = await openTraced(receiver.url);
  await delegate(fixture);
  await gather();
  await delegate(fixture);
  await gather();
  expect(receiver.requests).toHaveLength(1);
  fixture.clock.advance(13_000);
  await waitFor(() => receiver.requests.length === 2);
  await traces.settled();
  expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  status = 200;
  fixture.clock.advance(20_000);
  await waitFor(() => counts['sent'] === 2);
  expect(receiver.spans.filter(({ name }) => name === 'run')).toHaveLength(2);
  expect(lines.at(-1)).toMatchObject({ msg: 'traces of runs are sent again' });
});

test('a collector that refuses them loses them; one that can be reached no more keeps only so many', async () => {
  const receiver = await openOtlpReceiver(() => ({ status: 401 }));
  const refused = await openTraced(receiver.url);
  await delegate(refused.fixture);
  await refused.gather();
  expect(refused.counts).toEqual({ rejected: 1 });
  expect(refused.lines).toMatchObject([{ level: 'warn', why: 'the collector replied with 401' }]);

  const listeners: ((events: readonly never[]) => void)[] = [];
  const onOwnCommitted = (listener: (typeof listeners)[number]) => void listeners.push(listener);
  const away = await openTraced('http://127.0.0.77:9', {
    store: { onOwnCommitted } as unknown as TracesParts['store'],
  });
  const ended = Array.from({ length: 2_005 }, (_, i) => ({ type: 'run.done', runSeq: i + 1 }));
  for (const listener of listeners) listener(ended as never);
  expect(away.counts).toEqual({ dropped: 5 });
});

test('without a collector, nothing is kept, and nothing of before is sent when there is one', async () => {
  const receiver = await openOtlpReceiver();
  const { fixture, settings, gather } = await openTraced('');
  await delegate(fixture);
  await gather();
  settings.otlpEndpoint = receiver.url;
  await delegate(fixture);
  await gather();
  expect(receiver.spans.filter(({ name }) => name === 'run')).toHaveLength(1);
});

test('a share of the runs is traced, always the same ones', async () => {
  const receiver = await openOtlpReceiver();
  const { fixture, gather } = await openTraced(receiver.url, { sample: 0.5 });
  for (let i = 0; i < 24; i += 1) await delegate(fixture);
  await gather();
  const roots = receiver.spans.filter(({ name }) => name === 'run').length;
  expect(roots).toBeGreaterThan(0);
  expect(roots).toBeLessThan(24);
});

test('what a model writes in the places of names and ids is not in the trace', async () => {
  const receiver = await openOtlpReceiver();
  const { fixture, gather } = await openTraced(receiver.url);
  await fixture.accept();
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  const calls = [
    { id: SECRET, name: SECRET, input: { path: SECRET } },
    { id: 'call_2', name: 'delegate', input: { agent: SECRET, task: SECRET } },
    { id: 'call_3', name: 'mcp__files__read', input: { path: SECRET } },
  ];
  await fixture.store.runs.recordStep(fence, aStep({ calls, text: SECRET }), FREE);
  for (const { id, name } of calls) {
    const result = { step: 1, toolUseId: id, name, ok: false, output: SECRET, durationMs: 10 };
    await fixture.store.runs.recordToolResult(fence, result);
  }
  await fixture.store.runs.finalize(fence, { outcome: 'completed', answer: SECRET, stopReason: 'end_turn' });
  await fixture.store.runs.settle(fence, { untouched: true });
  await gather();
  expect(JSON.stringify(receiver.spans)).not.toContain('launch code');
  const tools = receiver.spans.filter(({ name }) => name.startsWith('execute_tool'));
  expect(tools.map(({ name }) => name)).toEqual([
    'execute_tool unknown',
    'execute_tool delegate',
    'execute_tool mcp__files__read',
  ]);
  expect(factsOf(tools[2]!)).toMatchObject({ 'gen_ai.tool.call.id': 'call_3' });
});

test('a run that outlives a restart is one trace under the span of its request, with the interruption and both attempts', async () => {
  const receiver = await openOtlpReceiver();
  const before = await openTraced(receiver.url);
  const { fixture } = before;
  await fixture.accept({ traceParent: before.traces.parentOf(`00-${PARENT.traceId}-${PARENT.spanId}-01`) });
  const [run] = await fixture.claim();
  const calls = [{ id: 'call_1', name: 'shell', input: { command: SECRET } }];
  await fixture.store.runs.recordStep(fenceOf(run!), aStep({ calls }), FREE);
  await before.traces.stop();
  fixture.clock.advance(5_000);
  await fixture.store.runs.interrupt(fenceOf(run!), 'crash');

  const after = await openTraced(receiver.url, { fixture });
  const [again] = await fixture.claim();
  const result = { step: 1, toolUseId: 'call_1', name: 'shell', ok: true, output: SECRET, durationMs: 10 };
  await fixture.store.runs.recordToolResult(fenceOf(again!), result);
  await fixture.store.runs.recordStep(fenceOf(again!), aStep({ step: 2 }), FREE);
  await fixture.store.runs.finalize(fenceOf(again!), { outcome: 'completed', answer: SECRET, stopReason: 'end_turn' });
  await fixture.store.runs.settle(fenceOf(again!), { untouched: true });
  await after.gather();
  expect(receiver.faults).toEqual([]);
  expect(new Set(receiver.spans.map(({ traceId }) => traceId))).toEqual(new Set([PARENT.traceId]));
  const root = receiver.spans.find(({ name }) => name === 'run')!;
  expect(factsOf(root)).toMatchObject({ 'errand.run.resumes': '1', 'errand.run.attempt': '2' });
  expect(durationMs(receiver.spans.find(({ name }) => name === 'interruption')!)).toBe(5_000);
  const attempts = receiver.spans.filter(({ name }) => name === 'prepare');
  expect(attempts.map((span) => factsOf(span)['errand.run.attempt'])).toEqual(['1', '2']);
  expect(treeOf(receiver.spans)).toEqual(
    expect.arrayContaining(['run > step 1 > execute_tool shell', 'run > step 2 > chat scripted']),
  );
  expect(new Set(receiver.spans.map(({ spanId }) => spanId)).size).toBe(receiver.spans.length);
});
