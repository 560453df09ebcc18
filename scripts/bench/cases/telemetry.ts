// What metrics and traces cost a run: processor time without them, with metrics that are scraped after each window, and with
// traces as well.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '../../../test/support/http/free-port.ts';
import { closedLoop, type Shot } from '../load.ts';
import { type ErrandServer, startErrand } from '../servers/start.ts';
import { median, ratioOf, type Side, sideBySide, WINDOW_MS } from '../side-by-side.ts';
import type { Figures, Scale } from './scale.ts';

const ANSWER: Shot = { text: 'Say it. [[text=Here you are.]]', stream: false, expect: /Here you are\./ };
const CLIENTS = 16;
/** Traces of runs that have ended are gathered for two seconds. */
const SETTLE_MS = 2_500;

/** `Control` is set up as `Off` is: what seems to be its cost is noise. */
type Subject = 'Off' | 'Control' | 'Metrics' | 'Traces';

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

/** Measures daemons side by side. The cost is of the processor time of the process, not of the time on the clock. It counts until traces are sent. */
export async function measureTelemetry(
  { modelUrl, scratch }: { readonly modelUrl: string; readonly scratch: string },
  scale: Scale,
  failures: string[],
): Promise<Figures> {
  const collector = await openCollector();
  const daemons: ErrandServer[] = [];
  const open = async (subject: Subject): Promise<Side> => {
    const metricsAt = `127.0.0.1:${await freePort()}`;
    const errand = await startErrand(modelUrl, scratch, yamlOf(subject, metricsAt, collector.url));
    daemons.push(errand);
    await closedLoop(errand.target, ANSWER, CLIENTS, { forMs: scale.warmMs * 4, atMost: scale.warmRuns });
    const scrape = () => fetch(`http://${metricsAt}/metrics`).then((reply) => reply.text());
    return {
      pid: errand.pid,
      load: (runs) => closedLoop(errand.target, ANSWER, CLIENTS, { forMs: WINDOW_MS, atMost: runs }),
      ...(isMeasured(subject) && { after: scrape }),
    };
  };
  try {
    const sides = {
      off: await open('Off'),
      control: await open('Control'),
      metrics: await open('Metrics'),
      traces: await open('Traces'),
    };
    const cpuMs = await sideBySide(sides, { scale, settleMs: SETTLE_MS }, failures);
    if (collector.spans() === 0) failures.push('no span arrived at the collector');
    const percent = (one: readonly number[]) => 100 * (ratioOf(one, cpuMs.off) - 1);
    return {
      telemetryOffCpuMs: median(cpuMs.off),
      telemetryNoisePercent: percent(cpuMs.control),
      telemetryMetricsPercent: percent(cpuMs.metrics),
      telemetryTracesPercent: percent(cpuMs.traces),
    };
  } finally {
    for (const errand of daemons) await errand.close();
    collector.close();
  }
}

const isMeasured = (subject: Subject) => subject === 'Metrics' || subject === 'Traces';

function yamlOf(subject: Subject, metricsAt: string, collectorUrl: string): string {
  const metrics = isMeasured(subject) ? `metrics: { listen: "${metricsAt}" }\n` : '';
  const traces = subject === 'Traces' ? `traces: { otlp_endpoint: "${collectorUrl}" }\n` : '';
  return `workers: { threads: 2, runs_per_thread: 128 }\n${metrics}${traces}`;
}
