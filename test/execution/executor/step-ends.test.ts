// The end of a step: once all of its calls have a result, its workspace can be recorded.
import { expect, test } from 'vitest';
import type { Brief } from '../../../src/agent/port/protocol.ts';
import { executeRun } from '../../../src/execution/executor/executor.ts';
import type { PoolEnd } from '../../../src/execution/pool/worker-pool.ts';
import type { RunSink } from '../../../src/execution/pool/run-on-thread.ts';
import { AT_ONCE, executorParts } from '../../support/agent/executor-parts.ts';
import { aStep, storeFixture } from '../../support/store/store-fixture.ts';

const DONE: PoolEnd = {
  kind: 'done',
  outcome: { status: 'completed', text: '', stopReason: 'end_turn' },
  untouched: false,
};

test('it is told once, with the result of its last call; not of a step without calls, nor of one of an earlier attempt', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const { promise: started, resolve: begin } = Promise.withResolvers<RunSink<PoolEnd>>();
  const start = (_: Brief, sink: RunSink<PoolEnd>) => {
    begin(sink);
    return { send: () => undefined };
  };
  const parts = executorParts(fixture, { reserve: () => ({ ...AT_ONCE, start }) });
  const told: number[] = [];
  const baseline = { ...parts.collector.baselineOf(run!), stepEnded: (step: number) => void told.push(step) };
  const choice = { keyModel: null, scenario: null, target: 'free', leadModel: null };
  const execution = executeRun(
    { ...parts, collector: { baselineOf: () => baseline } },
    { run: run!, choice },
    () => undefined,
  );
  const { signals, ended } = await started;
  const call = (id: string) => ({ id, name: 'shell', input: {} });
  const reply = (step: number, ...ids: string[]) => ({
    t: 'step' as const,
    ack: step,
    reply: { ...aStep({ step, calls: ids.map(call) }), kind: 'openai' as const },
  });
  const result = (step: number, id: string) =>
    ({ t: 'tool-result', ack: 9, step, call: call(id), result: { ok: true, output: '' }, durationMs: 1 }) as const;
  signals([result(1, 'earlier'), result(1, 'attempt')]);
  expect(told).toEqual([]);
  signals([reply(2, 'a', 'b'), result(2, 'a')]);
  expect(told).toEqual([]);
  signals([result(2, 'b'), reply(3, 'c'), result(3, 'c'), reply(4)]);
  expect(told).toEqual([2, 3]);
  ended(DONE);
  await execution.ended;
});
