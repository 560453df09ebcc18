// Metrics and traces of several nodes: what happens is counted and traced by the one that did it, so that their sum is the installation's.
import { expect, onTestFinished, test } from 'vitest';
import { openMetrics } from '../../../src/telemetry/metrics/metrics.ts';
import { makeExporter } from '../../../src/telemetry/traces/exporter.ts';
import { makeTraces } from '../../../src/telemetry/traces/traces.ts';
import { loggedLines } from '../../support/http/http-fixture.ts';
import { openOtlpReceiver } from '../../support/http/otlp-receiver.ts';
import { openPeers, type Peer } from '../../support/postgres/peers.ts';
import { aSpentCall, aStep, fenceOf, FREE, START } from '../../support/store/store-fixture.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const { log } = loggedLines();

async function twoNodes() {
  const { fixture, peers } = await openPeers();
  /** What a node has published, of all. */
  const heard = peers.map(({ bus }) => {
    const events: string[] = [];
    bus.subscribeAll((some) => void events.push(...some.map(({ type }) => type)));
    return events;
  });
  /** A run that executes at a node, with a call of a sub-agent. */
  const execute = async ({ store }: Peer, node: string, traceParent: string | null = null) => {
    await fixture.accept({ traceParent });
    const claim = { ...START, node, limit: 1, background: { slots: 1, maxExecutingPerKey: 1 } };
    const [claimed] = await store.runs.claim(claim);
    const fence = fenceOf(claimed!.run);
    await store.runs.recordSpent(fence, aSpentCall(), FREE);
    await store.runs.recordStep(fence, aStep(), FREE);
    await store.runs.finalize(fence, { outcome: 'completed', answer: '', stopReason: 'end_turn' });
    await store.runs.settle(fence, { untouched: true });
  };
  const allHear = (count: number) =>
    waitFor(() => heard.every((events) => events.filter((type) => type === 'run.done').length === count));
  return { fixture, peers, execute, allHear };
}

async function measured({ store }: Peer, clock: Parameters<typeof openMetrics>[0]['clock']) {
  const metrics = await openMetrics({ store, clock, log });
  onTestFinished(metrics.stop);
  const scrape = metrics.begin({
    dataDir: '/',
    workers: () => ({ threads: 1, slots: 1, busy: 0 }),
    nodes: () => [],
    readiness: () => ({ ready: true, parts: [] }),
    backups: () => null,
    leads: () => true,
  });
  return async () => {
    const lines = (await scrape()).split('\n');
    const sum = (name: string) =>
      lines.filter((line) => line.startsWith(name)).reduce((all, line) => all + Number(line.split(' ').at(-1)), 0);
    return {
      done: sum('errand_events_total{type="run.done"}'),
      runs: sum('errand_runs_total'),
      output: sum('errand_tokens_total{model="scripted",team="unassigned",kind="output"}'),
    };
  };
}

test('events, runs and usage are counted by the node that has them, and by no other', { tags: ['L7'] }, async () => {
  const { fixture, peers, execute, allHear } = await twoNodes();
  const [north, south] = [await measured(peers[0], fixture.clock), await measured(peers[1], fixture.clock)];
  await execute(peers[0], 'north');
  await execute(peers[1], 'south');
  await execute(peers[1], 'south');
  await allHear(3);
  expect(await north()).toEqual({ done: 1, runs: 1, output: 8 });
  expect(await south()).toEqual({ done: 2, runs: 2, output: 16 });
  await execute(peers[0], 'north');
  await allHear(4);
  expect([await north(), await south()]).toEqual([
    { done: 2, runs: 2, output: 16 },
    { done: 2, runs: 2, output: 16 },
  ]);
});

test('a run is traced once, by the node that ended it, under the span of its request to another one', {
  tags: ['L7'],
}, async () => {
  const { fixture, peers, execute, allHear } = await twoNodes();
  const receiver = await openOtlpReceiver();
  const settings = () => ({ traces: { otlpEndpoint: receiver.url, headersFile: '', sample: 0 } });
  const all = peers.map(({ store }) => {
    const traces = makeTraces({
      store,
      clock: fixture.clock,
      log,
      exporter: makeExporter(),
      settings,
      headers: () => ({}),
    });
    onTestFinished(traces.stop);
    return traces;
  });
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  await execute(peers[1], 'south', all[0]!.parentOf(`00-${traceId}-00f067aa0ba902b7-01`));
  await allHear(1);
  fixture.clock.advance(2_000);
  for (const { settled } of all) await settled();
  const roots = receiver.spans.filter(({ name }) => name === 'run');
  expect(roots).toMatchObject([{ traceId, parentSpanId: '00f067aa0ba902b7' }]);
});
