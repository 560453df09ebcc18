// What metrics and traces cost a run: processor time without them, with metrics that are scraped, and with traces as well.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '../../../test/support/daemon/daemon-process.ts';
import { closedLoop, pause, type Shot } from '../load.ts';
import { cpuMsOf } from '../process-figures.ts';
import { type ErrandServer, startErrand } from '../servers/start.ts';
import type { Figures, Scale } from './turns.ts';

const ANSWER: Shot = { text: 'Say it. [[text=Here you are.]]', stream: false, expect: /Here you are\./ };
const CLIENTS = 16;
/** Three times as often as Prometheus usually does. */
const SCRAPE_MS = 5_000;
const SETTLE_MS = 3_000;

type Phase = 'Off' | 'Metrics' | 'Traces';
/** There and back, so that what grows with the store costs each the same. */
const PHASES: readonly Phase[] = ['Off', 'Metrics', 'Traces', 'Traces', 'Metrics', 'Off'];

interface Sum {
  runs: number;
  cpuMs: number;
}

/** A collector that takes everything. Returns its address, and how many spans it got. */
async function openCollector() {
  let spans = 0;
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      spans += Buffer.concat(chunks).toString().split('"spanId"').length - 1;
      res.end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, spans: () => spans, close: () => server.close() };
}

/** Measures the phases, with a restart before each. */
export async function measureTelemetry(
  { modelUrl, scratch }: { readonly modelUrl: string; readonly scratch: string },
  scale: Scale,
  failures: string[],
): Promise<Figures> {
  const collector = await openCollector();
  const metricsAt = `127.0.0.1:${await freePort()}`;
  const base = 'workers: { threads: 2, runs_per_thread: 128 }\n';
  const metrics = `${base}metrics: { listen: "${metricsAt}" }\n`;
  const yaml: Readonly<Record<Phase, string>> = {
    Off: base,
    Metrics: metrics,
    Traces: `${metrics}traces: { otlp_endpoint: "${collector.url}" }\n`,
  };
  const errand = await startErrand(modelUrl, scratch, base);
  const sums = new Map<Phase, Sum>();
  try {
    for (const phase of PHASES) {
      await errand.restartWith(yaml[phase]);
      const sum = await measurePhase(errand, phase === 'Off' ? null : metricsAt, scale, failures);
      const known = sums.get(phase) ?? { runs: 0, cpuMs: 0 };
      sums.set(phase, { runs: known.runs + sum.runs, cpuMs: known.cpuMs + sum.cpuMs });
    }
  } finally {
    await errand.close();
    collector.close();
  }
  if (collector.spans() === 0) failures.push('no span arrived at the collector');
  const each = (phase: Phase) => sums.get(phase)!.cpuMs / sums.get(phase)!.runs;
  const percent = (phase: Phase) => 100 * (each(phase) / each('Off') - 1);
  return {
    telemetryOffCpuMs: each('Off'),
    telemetryMetricsPercent: percent('Metrics'),
    telemetryTracesPercent: percent('Traces'),
  };
}

async function measurePhase(
  errand: ErrandServer,
  metricsAt: string | null,
  scale: Scale,
  failures: string[],
): Promise<Sum> {
  await closedLoop(errand.target, ANSWER, CLIENTS, { forMs: scale.warmMs, atMost: scale.warmRuns });
  await pause(SETTLE_MS);
  const scrape = () => void fetch(`http://${metricsAt}/metrics`).then((reply) => reply.text());
  if (metricsAt !== null) scrape();
  const timer = metricsAt === null ? undefined : setInterval(scrape, SCRAPE_MS);
  const before = cpuMsOf(errand.pid());
  const volley = await closedLoop(errand.target, ANSWER, CLIENTS, { forMs: scale.loadMs });
  await pause(SETTLE_MS);
  clearInterval(timer);
  failures.push(...volley.failures);
  return { runs: volley.results.length, cpuMs: cpuMsOf(errand.pid()) - before };
}
