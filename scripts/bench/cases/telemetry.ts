// What metrics and traces cost a run: processor time without them, with metrics that are scraped after each window, and with
// traces as well.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '../../../test/support/http/free-port.ts';
import { closedLoop, pause, type Shot } from '../load.ts';
import { cpuMsOf } from '../process-figures.ts';
import { type ErrandServer, startErrand } from '../servers/start.ts';
import type { Figures, Scale } from './scale.ts';

const ANSWER: Shot = { text: 'Say it. [[text=Here you are.]]', stream: false, expect: /Here you are\./ };
const CLIENTS = 16;
/** By then, a window is over even on a slow machine. */
const WINDOW_MS = 120_000;
/** Traces of runs that have ended are gathered for two seconds. */
const SETTLE_MS = 2_500;

/** `Control` is set up as `Off` is: what seems to be its cost is noise. */
const SUBJECTS = ['Off', 'Control', 'Metrics', 'Traces'] as const;
type Subject = (typeof SUBJECTS)[number];

/** Each round gives every daemon a window with the same number of runs, one after another. */
interface Rounds {
  readonly rounds: number;
  readonly runs: number;
}

const roundsOf = ({ loadMs }: Scale): Rounds => (loadMs < 2_000 ? { rounds: 9, runs: 150 } : { rounds: 30, runs: 400 });

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

/**
 * Measures daemons side by side, in windows that alternate: what slows the machine down for a while slows all of them. The cost
 * is the median of the ratios within the rounds, of the processor time of the process, not of the time on the clock. It counts until
 * traces are sent.
 */
export async function measureTelemetry(
  { modelUrl, scratch }: { readonly modelUrl: string; readonly scratch: string },
  scale: Scale,
  failures: string[],
): Promise<Figures> {
  const collector = await openCollector();
  const daemons = new Map<Subject, Daemon>();
  try {
    for (const subject of SUBJECTS) {
      const metricsAt = `127.0.0.1:${await freePort()}`;
      const errand = await startErrand(modelUrl, scratch, yamlOf(subject, metricsAt, collector.url));
      const isScraped = subject === 'Metrics' || subject === 'Traces';
      daemons.set(subject, { errand, metricsAt: isScraped ? metricsAt : null, cpuMs: [] });
      await closedLoop(errand.target, ANSWER, CLIENTS, { forMs: scale.warmMs * 4, atMost: scale.warmRuns });
    }
    await playRounds(daemons, roundsOf(scale), failures);
  } finally {
    for (const { errand } of daemons.values()) await errand.close();
    collector.close();
  }
  if (collector.spans() === 0) failures.push('no span arrived at the collector');
  const off = daemons.get('Off')!.cpuMs;
  const percent = (subject: Subject) =>
    100 * (median(daemons.get(subject)!.cpuMs.map((each, round) => each / off[round]!)) - 1);
  return {
    telemetryOffCpuMs: median(off),
    telemetryNoisePercent: percent('Control'),
    telemetryMetricsPercent: percent('Metrics'),
    telemetryTracesPercent: percent('Traces'),
  };
}

interface Daemon {
  readonly errand: ErrandServer;
  /** Where it is scraped; null for one that isn't. */
  readonly metricsAt: string | null;
  /** Of a run, in each round. */
  readonly cpuMs: number[];
}

function yamlOf(subject: Subject, metricsAt: string, collectorUrl: string): string {
  const metrics = subject === 'Metrics' || subject === 'Traces' ? `metrics: { listen: "${metricsAt}" }\n` : '';
  const traces = subject === 'Traces' ? `traces: { otlp_endpoint: "${collectorUrl}" }\n` : '';
  return `workers: { threads: 2, runs_per_thread: 128 }\n${metrics}${traces}`;
}

async function playRounds(
  daemons: ReadonlyMap<Subject, Daemon>,
  { rounds, runs }: Rounds,
  failures: string[],
): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    // Each is first as often as it is last.
    for (const at of SUBJECTS.keys()) {
      const subject = SUBJECTS[(at + round) % SUBJECTS.length]!;
      const { errand, metricsAt, cpuMs } = daemons.get(subject)!;
      const before = cpuMsOf(errand.pid());
      const volley = await closedLoop(errand.target, ANSWER, CLIENTS, { forMs: WINDOW_MS, atMost: runs });
      if (metricsAt !== null) await fetch(`http://${metricsAt}/metrics`).then((reply) => reply.text());
      await pause(SETTLE_MS);
      cpuMs.push((cpuMsOf(errand.pid()) - before) / runs);
      failures.push(...volley.failures);
      if (volley.results.length < runs) failures.push(`a window of ${subject} had ${volley.results.length} runs only`);
    }
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)]! + sorted[Math.ceil((sorted.length - 1) / 2)]!) / 2;
}
