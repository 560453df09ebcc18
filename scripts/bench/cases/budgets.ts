// What a budget costs a run: processor time without any, and with one that every call of the same daemon is held to.
import { closedLoop, pause, type Shot } from '../load.ts';
import { cpuMsOf } from '../process-figures.ts';
import { type ErrandServer, startErrand } from '../servers/start.ts';
import type { Figures, Scale } from './scale.ts';

const ANSWER: Shot = { text: 'Say it. [[text=Here you are.]]', stream: false, expect: /Here you are\./ };
const CLIENTS = 16;
const SETTLE_MS = 3_000;
/** More than any run can use. */
const PLENTY = { subject: 'run', unit: 'tokens', period: 'all', limit: 1_000_000_000_000 };
const OF_USER = { subject: 'user', ref: 'admin', unit: 'tokens', period: 'day', limit: 1_000_000_000_000 };

/** There and back, so that what grows with the store costs each the same. */
const PHASES = ['without', 'with', 'with', 'without'] as const;
type Phase = (typeof PHASES)[number];

/** Measures the same load with and without budgets, in turn. */
export async function measureBudgets(
  { modelUrl, scratch }: { readonly modelUrl: string; readonly scratch: string },
  scale: Scale,
  failures: string[],
): Promise<Figures> {
  const errand = await startErrand(modelUrl, scratch);
  const sums = { without: { runs: 0, cpuMs: 0 }, with: { runs: 0, cpuMs: 0 } };
  try {
    await closedLoop(errand.target, ANSWER, CLIENTS, { forMs: scale.warmMs, atMost: scale.warmRuns });
    for (const phase of PHASES) {
      await setBudgets(errand, phase);
      await pause(SETTLE_MS);
      const before = cpuMsOf(errand.pid());
      const volley = await closedLoop(errand.target, ANSWER, CLIENTS, { forMs: scale.loadMs });
      await pause(SETTLE_MS);
      failures.push(...volley.failures);
      sums[phase].runs += volley.results.length;
      sums[phase].cpuMs += cpuMsOf(errand.pid()) - before;
    }
  } finally {
    await errand.close();
  }
  const each = (phase: Phase) => sums[phase].cpuMs / sums[phase].runs;
  return { budgetsOffCpuMs: each('without'), budgetsPercent: 100 * (each('with') / each('without') - 1) };
}

async function setBudgets({ daemon }: ErrandServer, phase: Phase): Promise<void> {
  if (phase === 'with') {
    for (const budget of [PLENTY, OF_USER]) await daemon.admin('PUT', '/api/v1/budgets', budget);
    return;
  }
  const { items } = (await daemon.admin('GET', '/api/v1/budgets')) as { items: { id: string }[] };
  for (const { id } of items) await daemon.admin('DELETE', `/api/v1/budgets/${id}`);
}
