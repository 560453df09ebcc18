// What a background run costs that its client looks up until it has ended, next to the same run as a request that waits.
import type { Caller } from '../calls.ts';
import { makeCaller } from '../calls.ts';
import { callInLoop, type Limit, pause } from '../load.ts';
import { cpuMsOf } from '../process-figures.ts';
import type { ErrandServer } from '../servers/start.ts';
import type { Figures, Scale } from './scale.ts';

/** Each client begins a run once a second, and looks it up that often, as the SDKs of model servers do. */
const CLIENTS = 256;
const EVERY_MS = 1_000;
/** Work that the daemon does after a reply is part of the run's cost. */
const SETTLE_MS = 300;
const PATH = '/openapi/v1/messages';
const QUESTION = { model: 'scripted', messages: [{ role: 'user', content: '[[text=Here you are.]]' }] };

interface BackgroundReply {
  readonly background_results: { readonly run_id: string; readonly status: string };
}

/** The least of several windows each, in turn. Adds failures to `failures`. */
export async function measurePolled(
  { target, pid }: Pick<ErrandServer, 'target' | 'pid'>,
  scale: Scale,
  failures: string[],
): Promise<Figures> {
  const caller = makeCaller(target, CLIENTS);
  const ways: Readonly<Record<'waited' | 'polled', () => Promise<unknown>>> = {
    waited: () => askAndRest(caller),
    polled: () => submitAndPoll(caller),
  };
  const cpuMsPerRun = async (run: () => Promise<unknown>, limit: Limit): Promise<number> => {
    const before = cpuMsOf(pid());
    const outcome = await callInLoop(CLIENTS, limit, run);
    await pause(SETTLE_MS);
    failures.push(...outcome.failures);
    return (cpuMsOf(pid()) - before) / outcome.results.length;
  };
  const least = { waited: Number.POSITIVE_INFINITY, polled: Number.POSITIVE_INFINITY };
  for (const way of Object.values(ways)) await cpuMsPerRun(way, { forMs: scale.warmMs, atMost: scale.warmRuns });
  for (let window = 0; window < scale.windows; window += 1) {
    for (const name of ['waited', 'polled'] as const) {
      least[name] = Math.min(least[name], await cpuMsPerRun(ways[name], { forMs: scale.windowMs }));
    }
  }
  await caller.close();
  return { waitedCpuMs: least.waited, polledCpuMs: least.polled, polledToWaited: least.polled / least.waited };
}

async function askAndRest(caller: Caller): Promise<void> {
  await caller.call({ method: 'POST', path: PATH, body: QUESTION, expect: 200 });
  await pause(EVERY_MS);
}

let submitted = 0;

async function submitAndPoll(caller: Caller): Promise<void> {
  submitted += 1;
  const body = { ...QUESTION, background: true, idempotency_key: `polled-${submitted}` };
  const { body: accepted } = await caller.call({ method: 'POST', path: PATH, body, expect: 202 });
  const path = `/openapi/v1/runs/${(accepted as BackgroundReply).background_results.run_id}`;
  for (let status = 'queued'; status !== 'completed'; ) {
    await pause(EVERY_MS);
    const { body: found } = await caller.call({ method: 'GET', path, expect: 200 });
    ({ status } = (found as BackgroundReply).background_results);
    if (['failed', 'canceled', 'incomplete'].includes(status)) throw new Error(`${path}: ${status}`);
  }
}
