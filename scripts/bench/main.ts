// Measures what Errand costs compared with baselines, in one run on one machine: a bare pass-through, Koa with SQLite and a bare AI SDK
// server. `npm run bench -- [--quick] [--json FILE] [--only servers|runs|tools|history|files|watchers|office|view|webhooks|
// shares|schedules|package|retention|backup|telemetry|protocols|budgets|postgres|nodes|storm|profile] [--without-errand] [--without-large]`
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CASES } from './alone.ts';
import { claimDelays, measureBackground } from './cases/background.ts';
import type { Figures, Scale } from './cases/scale.ts';
import { FULL, QUICK } from './cases/scale.ts';
import { compare, measureIdle } from './cases/turns.ts';
import { fillStore } from './stores/fill-store.ts';
import { listPages } from './cases/lists.ts';
import { quantile } from './load.ts';
import { watchMachine } from './process-figures.ts';
import type { Report } from './report.ts';
import { renderReport } from './report.ts';
import type { ErrandServer, MeasuredServer } from './servers/start.ts';
import { startErrand, startKoa, startModel, startPassThrough, startSdk } from './servers/start.ts';
import { measureStore } from './cases/store.ts';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    only: { type: 'string' },
    'without-errand': { type: 'boolean', default: false },
    'without-large': { type: 'boolean', default: false },
  },
});

interface Bench {
  readonly scale: Scale;
  readonly columns: Record<string, Figures>;
  readonly runs: Figures;
  readonly failures: string[];
  readonly scratch: string;
}

const say = (text: string): void => void process.stderr.write(`${text}\n`);

type Part = 'servers' | 'runs' | (typeof CASES)[number]['part'];
const PARTS: ReadonlySet<string> = new Set(['servers', 'runs', ...CASES.map(({ part }) => part)]);

if (options.only !== undefined && !PARTS.has(options.only)) {
  throw new Error(`--only must be one of ${[...PARTS].join(', ')}.`);
}
const wants = (part: Part): boolean => options.only === undefined || options.only === part;

async function main(bench: Bench): Promise<void> {
  const model = await startModel(bench.scratch);
  try {
    if (wants('servers')) await compareServers(bench, model);
    if (options['without-errand']) return;
    if (wants('runs')) await measureRuns(bench, model);
    const parts = { ...bench, modelUrl: new URL(model.target.url).origin, say };
    for (const { part, what, measure } of CASES) {
      if (!wants(part)) continue;
      const machine = watchMachine();
      say(`measuring ${what} …`);
      Object.assign(bench.runs, await measure(parts));
      bench.runs['busyElsewherePercent'] = machine.busyElsewherePercent();
    }
  } finally {
    await model.close();
  }
}

async function compareServers(bench: Bench, model: MeasuredServer): Promise<void> {
  const { scale, columns, failures, scratch } = bench;
  const modelUrl = new URL(model.target.url).origin;
  const sdk = await startSdk(modelUrl, scratch);
  const floors = [await startPassThrough(modelUrl, scratch), await startKoa(modelUrl, scratch), sdk];
  const errands = options['without-errand'] ? [] : await startErrands(bench, modelUrl);
  const servers = [...floors, ...errands.map(({ server }) => server)];
  try {
    say('watching idle servers …');
    const idle = await measureIdle(servers, scale.idleMs);
    const contenders = [
      { server: model, saturation: false, tools: false },
      ...servers.map((server) => ({ server, saturation: true, tools: !floors.includes(server) || server === sdk })),
    ];
    const since = Date.now();
    const [first, ...others] = await compare(contenders, scale, failures, say);
    columns[model.target.name] = first ?? {};
    servers.forEach((server, i) => (columns[server.target.name] = { ...others[i], ...idle[i] }));
    for (const errand of errands)
      Object.assign(columns[errand.server.target.name] ?? {}, await alone(bench, errand, since));
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
}

interface Filled {
  readonly server: ErrandServer;
  readonly events: number | undefined;
}

/** One with an empty store, and one with many sessions. */
async function startErrands({ scale, scratch }: Bench, modelUrl: string): Promise<Filled[]> {
  const empty = { server: await startErrand(modelUrl, scratch), events: undefined };
  if (options['without-large']) return [empty];
  const server = await startErrand(modelUrl, scratch, undefined, `errand, ${scale.sessions} sessions`);
  say(`filling the store with ${scale.sessions} sessions …`);
  const sessionId = await oneSession(server);
  await server.daemon.stop();
  const events = fillStore(server.daemon.dataDir, sessionId, scale.sessions);
  await server.daemon.restart();
  return [empty, { server, events }];
}

/** What its journal shows of the runs since a moment, what its lists cost, and how long it takes to start. */
async function alone({ scale, failures }: Bench, { server, events }: Filled, since: number): Promise<Figures> {
  say(`measuring lists and starts of ${server.target.name} …`);
  return {
    ...claimDelays(server, 'immediate', since),
    ...(await listPages(server.target, scale, failures)),
    startMs: await medianStart(server, scale.starts),
    ...(events !== undefined && { events }),
  };
}

async function measureRuns({ scale, runs, failures, scratch }: Bench, model: MeasuredServer): Promise<void> {
  const machine = watchMachine();
  say('measuring background runs …');
  const modelUrl = new URL(model.target.url).origin;
  Object.assign(runs, await measureBackground(modelUrl, scratch, scale, failures));
  say('measuring the store and credentials …');
  Object.assign(runs, await measureStore(scratch, scale));
  Object.assign(runs, { queued: scale.queued, busyElsewherePercent: machine.busyElsewherePercent() });
}

async function medianStart({ daemon }: ErrandServer, starts: number): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < starts; i += 1) {
    await daemon.restart();
    times.push(daemon.startMs());
  }
  return quantile(times, 0.5);
}

/** Creates the conversation that is copied: one run with a reply of five deltas. */
async function oneSession({ target }: ErrandServer): Promise<string> {
  const response = await fetch(target.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...target.headers },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Tell it. [[deltas=5]]' }] }),
  });
  const sessionId = response.headers.get('x-session-id');
  if (!response.ok || sessionId === null) throw new Error(`No session: ${response.status} ${await response.text()}`);
  await response.body?.cancel();
  return sessionId;
}

/** The median time of writing and syncing a page: the minimum cost of a durable commit on this machine. */
function syncMs(scratch: string): number {
  const handle = openSync(join(scratch, 'sync'), 'w');
  const times = Array.from({ length: 50 }, () => {
    const startedAt = performance.now();
    writeSync(handle, Buffer.alloc(4096, 1));
    fsyncSync(handle);
    return performance.now() - startedAt;
  });
  closeSync(handle);
  return quantile(times, 0.5);
}

const scratch = mkdtempSync(join(tmpdir(), 'errand-bench-'));
const bench: Bench = { scale: options.quick ? QUICK : FULL, columns: {}, runs: {}, failures: [], scratch };
const startedAt = performance.now();
try {
  const machine = {
    node: process.version,
    processor: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
    'disk sync p50, ms': syncMs(scratch).toFixed(2),
  };
  await main(bench);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const { columns, runs } = bench;
  const report: Report = {
    machine: { ...machine, 'whole run, s': seconds },
    columns,
    ...(Object.keys(runs).length === 0 ? {} : { runs }),
  };
  process.stdout.write(renderReport(report));
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
if (bench.failures.length > 0) {
  say(`${bench.failures.length} requests failed, the first with: ${bench.failures[0]}`);
  process.exitCode = 1;
}
