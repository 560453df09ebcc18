// The worst inputs together: what a tenant who does little notices while eight users ask for the largest of what they may have, each for
// everything at once, and 200 connections without a credential read what is public.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type DaemonProcess, startDaemonProcess } from '../../../../test/support/daemon/daemon-process.ts';
import { watchLoop } from '../../../../test/support/daemon/loop-watch.ts';
import { pause, quantile } from '../../load.ts';
import { atRest, cpuMsOf } from '../../process-figures.ts';
import type { FloodPlan, FloodReport } from '../../servers/flood.ts';
import { startModel } from '../../servers/start.ts';
import type { TenantHit, TenantReport } from '../../servers/small-tenant.ts';
import type { Figures, Scale } from '../scale.ts';
import { fillStorm, type StormFixture } from './storm-fixture.ts';

/** The small tenant sends a request so often. */
const EVERY_MS = 200;
/** Of the storm, before it is measured. */
const LEAD_MS = 5_000;
const WARM_REQUESTS = 50;
/** What `bin/errand` sets. */
const HEAP_MB = 1_024;

const FLOOD = new URL('../../servers/flood.ts', import.meta.url);
const TENANT = new URL('../../servers/small-tenant.ts', import.meta.url);

interface Parts {
  readonly scratch: string;
  readonly scale: Scale;
  readonly failures: string[];
  say(text: string): void;
}

/** The processes of one storm. */
interface Scene {
  readonly daemon: DaemonProcess;
  readonly fixture: StormFixture;
  readonly tenant: ChildProcess;
  readonly modelPid: number;
  readonly failures: string[];
}

/** Measures the tenant's requests without and with the storm, for as long as the scale says each. */
export async function measureStorm({ scratch, scale, failures, say }: Parts): Promise<Figures> {
  const loop = watchLoop({ heapMb: HEAP_MB });
  // It is not that of the other cases: its processor time is told apart.
  const model = await startModel(scratch);
  const daemon = await startDaemonProcess({ modelsYaml: modelsOf(new URL(model.target.url).origin), env: loop.env });
  const tenant = fork(TENANT);
  try {
    const fixture = await fillStorm(daemon);
    const scene: Scene = { daemon, fixture, tenant, modelPid: model.pid(), failures };
    const count = Math.ceil(scale.stormMs / EVERY_MS);
    await sendSmall(scene, WARM_REQUESTS);
    await atRest(daemon.pid());
    const calm = await sendSmall(scene, count);
    sayKinds('calm', calm, say);
    const calmUse = await loop.during(daemon, () => pause(0));
    const floods = fixture.floods.map(startFlood);
    await pause(LEAD_MS);
    const uses = watchUses(scene, floods);
    let storm: readonly TenantHit[] = [];
    const { longestMs, peakRssMb } = await loop.during(daemon, async () => {
      storm = await sendSmall(scene, count);
    });
    const used = uses();
    const reports = await Promise.all(floods.map(endFlood));
    sayKinds('storm', storm, say);
    for (const report of reports) sayReplies(report, say);
    return {
      ...figuresOf('Calm', calm),
      ...figuresOf('', storm),
      stormRatio: quantile(tookOf(storm), 0.99) / quantile(tookOf(calm), 0.99),
      stormLongestTurnMs: longestMs,
      stormRssMb: peakRssMb,
      stormRssBeforeMb: calmUse.peakRssMb,
      stormRefused: reports.reduce((sum, { statuses }) => sum + refusedOf(statuses), 0),
      ...used,
    };
  } finally {
    tenant.kill();
    await daemon.close();
    await model.close();
    loop.close();
  }
}

/** A model whose window is wide enough for the longest turn. */
const modelsOf = (url: string): string =>
  [
    `endpoints: { scripted: { kind: openai, base_url: "${url}/v1" } }`,
    'models: { scripted: { endpoint: scripted, model: scripted, context_window: 10000000, max_output_tokens: 4096 } }',
    'scenarios: { general: { model: scripted } }',
    'default_scenario: general',
    '',
  ].join('\n');

async function sendSmall({ daemon, fixture, tenant, failures }: Scene, count: number): Promise<readonly TenantHit[]> {
  tenant.send({ ...fixture.tenant, everyMs: EVERY_MS, count, serverPid: daemon.pid() });
  const [report] = (await once(tenant, 'message')) as [TenantReport];
  failures.push(...report.failures);
  return report.hits;
}

function startFlood(plan: FloodPlan): ChildProcess {
  const flood = fork(FLOOD);
  flood.send(plan);
  return flood;
}

async function endFlood(flood: ChildProcess): Promise<FloodReport> {
  flood.send('end');
  const [report] = (await once(flood, 'message')) as [FloodReport];
  flood.kill();
  return report;
}

/** Starts watching; returns what each process took since then, in processors, and what share of the time the main thread waited for one. */
function watchUses({ daemon, tenant, modelPid }: Scene, floods: readonly ChildProcess[]): () => Figures {
  const pids = {
    stormDaemonCpus: [daemon.pid()],
    stormModelCpus: [modelPid],
    stormClientCpus: [...floods, tenant].map(({ pid }) => pid!),
  };
  const cpuMs = () => Object.values(pids).map((own) => own.reduce((sum, pid) => sum + cpuMsOf(pid), 0));
  const mainThread = () =>
    readFileSync(`/proc/${daemon.pid()}/schedstat`, 'utf8')
      .split(' ', 2)
      .map((ns) => Number(ns) / 1e6) as [number, number];
  const [startedAt, before, [ranBefore, waitedBefore]] = [performance.now(), cpuMs(), mainThread()];
  return () => {
    const tookMs = performance.now() - startedAt;
    const [after, [ran, waited]] = [cpuMs(), mainThread()];
    return {
      ...Object.fromEntries(Object.keys(pids).map((name, i) => [name, (after[i]! - before[i]!) / tookMs])),
      stormMainRunsPercent: (100 * (ran - ranBefore)) / tookMs,
      stormMainWaitsPercent: (100 * (waited - waitedBefore)) / tookMs,
    };
  };
}

const tookOf = (hits: readonly TenantHit[]) => hits.map(({ tookMs }) => tookMs);

function figuresOf(phase: 'Calm' | '', hits: readonly TenantHit[]): Figures {
  const values = { Took: tookOf(hits), Waited: hits.map(({ waitedMs }) => waitedMs) };
  const own = hits.map(({ tookMs, waitedMs }) => Math.max(0, tookMs - waitedMs));
  return Object.fromEntries(
    Object.entries({ ...values, Own: own }).flatMap(([name, ms]) => [
      [`storm${phase}${name}P50Ms`, quantile(ms, 0.5)],
      [`storm${phase}${name}P99Ms`, quantile(ms, 0.99)],
    ]),
  );
}

function sayKinds(phase: string, hits: readonly TenantHit[], say: (text: string) => void): void {
  for (const [kind, own] of Map.groupBy(hits, (hit) => hit.kind)) {
    const [p50, p99] = [0.5, 0.99].map((share) => quantile(tookOf(own), share).toFixed(1));
    say(`  ${phase}: ${kind}: ${own.length}, p50 ${p50} ms, p99 ${p99} ms`);
  }
}

function sayReplies({ statuses, words, megabytes }: FloodReport, say: (text: string) => void): void {
  for (const [kind, counts] of Object.entries(statuses))
    say(
      `  ${kind}: ${Object.entries(counts)
        .map(([status, count]) => `${count} × ${status}`)
        .join(', ')}`,
    );
  for (const said of words) say(`  refused with: ${said}`);
  say(`  ${megabytes.toFixed(0)} MB`);
}

const refusedOf = (statuses: FloodReport['statuses']): number =>
  Object.values(statuses).reduce((sum, counts) => sum + (counts[503] ?? 0), 0);
