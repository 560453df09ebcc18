// What requests cost that are made again and again, one at a time.
import type { Call, Caller } from '../calls.ts';
import { callInLoop, quantile } from '../load.ts';
import { cpuMsOf } from '../process-figures.ts';
import type { ErrandServer } from '../servers/start.ts';
import type { Figures } from './scale.ts';

export interface Repeated {
  readonly errand: ErrandServer;
  readonly caller: Caller;
  /** How often, once to warm up and once to measure. */
  readonly times: number;
  readonly failures: string[];
}

/** Returns the figures `CpuMs`, `P50Ms`, `P99Ms`, `PauseMs` and `BusyMs`, each after `name`. Adds failures to `failures`. */
export async function measureRepeated(
  { errand, caller, times, failures }: Repeated,
  name: string,
  call: Call,
): Promise<Figures> {
  const repeat = () => callInLoop(1, { forMs: Number.POSITIVE_INFINITY, atMost: times }, () => caller.call(call));
  await repeat();
  const before = cpuMsOf(errand.pid());
  let took: number[] = [];
  const { maxMs, maxBusyMs } = await errand.loopDelay(async () => {
    const { results, failures: failed } = await repeat();
    failures.push(...failed);
    took = results.map(({ tookMs }) => tookMs);
  });
  return {
    [`${name}CpuMs`]: (cpuMsOf(errand.pid()) - before) / took.length,
    [`${name}P50Ms`]: quantile(took, 0.5),
    [`${name}P99Ms`]: quantile(took, 0.99),
    [`${name}PauseMs`]: maxMs,
    [`${name}BusyMs`]: maxBusyMs,
  };
}
