// What a run costs with one, two and three daemons on one database; text through another node; and how soon a lost node's runs go on.
import type { DaemonProcess } from '../../../test/support/daemon/daemon-process.ts';
import { startInstallation } from '../../../test/support/daemon/installation.ts';
import { takeTurn } from '../../../test/support/daemon/turn.ts';
import { type Cluster, ROLE, startCluster } from '../../../test/support/postgres/cluster.ts';
import { canRunPostgres } from '../../../test/support/postgres/programs.ts';
import { waitFor } from '../../../test/support/time/wait-for.ts';
import { closedLoop, pause, quantile, type Shot, spread, type Target, type Volley } from '../load.ts';
import { atRest, cpuMsOf } from '../process-figures.ts';
import { ROOMY } from '../servers/start.ts';
import { DURABLE, SHOTS } from './postgres.ts';
import type { Figures, Scale } from './scale.ts';

export const NODES = [1, 2, 3] as const;
/** Of each daemon. Where the clients of one are spread over three, fewer turns come together in a commit, and each costs more. */
export const NODE_CLIENTS = 32;
const DELTA_MS = 20;

interface Parts {
  readonly modelUrl: string;
  readonly scale: Scale;
  readonly failures: string[];
  say(text: string): void;
}

/** Measures them one after another: those that are measured are those that run. Nothing where PostgreSQL is not installed. */
export async function measureNodes({ modelUrl, scale, failures, say }: Parts): Promise<Figures> {
  if (!canRunPostgres()) return {};
  const closers: (() => void | Promise<void>)[] = [];
  const of = { onTestFinished: (close: () => void | Promise<void>) => void closers.push(close) };
  const figures: Figures = {};
  try {
    const cluster = await startCluster({ settings: DURABLE });
    closers.push(cluster.close);
    await cluster.query('postgres', `CREATE DATABASE nodes OWNER ${ROLE}`);
    const options = { modelServerUrl: modelUrl, errandYaml: ROOMY, database: cluster.url('nodes') };
    const { nodes, add } = await startInstallation(1, options, of);
    for (const count of NODES) {
      while (nodes.length < count) await add();
      say(`measuring ${count} daemons …`);
      for (const [name, shot] of Object.entries(SHOTS))
        Object.assign(figures, await loaded({ nodes, cluster, name, shot, scale, failures }));
    }
    const [north, south] = nodes as [DaemonProcess, DaemonProcess];
    say('measuring text through another node …');
    Object.assign(figures, await timely('own', north, scale, failures));
    // It starts nothing, so that others execute the turns that it takes.
    await north.admin('POST', '/api/v1/nodes/south/drain');
    Object.assign(figures, await timely('other', south, scale, failures));
    await north.admin('POST', '/api/v1/nodes/south/undrain');
    say('measuring the loss of a node …');
    figures['nodeLossSeconds'] = await lossSeconds(north, south);
  } finally {
    for (const close of closers.toReversed()) await close();
  }
  return figures;
}

const targetOf = (daemon: DaemonProcess): Target => ({
  name: 'node',
  url: `${daemon.url}/openapi/v1/chat/completions`,
  headers: { authorization: `Bearer ${daemon.apiKey}` },
});

interface Load {
  readonly nodes: readonly DaemonProcess[];
  readonly cluster: Cluster;
  readonly name: string;
  readonly shot: Shot;
  readonly scale: Scale;
  readonly failures: string[];
}

/** Processor time is that of all of them: the least of several windows. */
async function loaded({ nodes, cluster, name, shot, scale, failures }: Load): Promise<Figures> {
  const fire = async (forMs: number) => {
    const volleys = await Promise.all(nodes.map((node) => closedLoop(targetOf(node), shot, NODE_CLIENTS, { forMs })));
    failures.push(...volleys.flatMap((volley) => volley.failures));
    return volleys.flatMap(({ results }) => results);
  };
  const used = () => nodes.reduce((sum, node) => sum + cpuMsOf(node.pid()), 0);
  const rest = () => Promise.all(nodes.map((node) => atRest(node.pid())));
  await fire(scale.warmMs);
  const [cpu, server, rates, times]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let window = 0; window < scale.windows; window += 1) {
    await rest();
    const before = [used(), cpuMsOf(cluster.pid())] as const;
    const results = await fire(scale.windowMs);
    await rest();
    cpu.push((used() - before[0]) / results.length);
    server.push((cpuMsOf(cluster.pid()) - before[1]) / results.length);
    rates.push((results.length * 1_000) / scale.windowMs);
    times.push(...results.map(({ totalMs }) => totalMs));
  }
  const key = `nodes${nodes.length}${name}`;
  return {
    [`${key}PerSecond`]: Math.max(...rates),
    [`${key}CpuMs`]: Math.min(...cpu),
    [`${key}ServerCpuMs`]: Math.min(...server),
    [`${key}P50Ms`]: quantile(times, 0.5),
    [`${key}P99Ms`]: quantile(times, 0.99),
  };
}

/** First text of one client at a time, and the deltas of paced streams. */
async function timely(key: string, node: DaemonProcess, scale: Scale, failures: string[]): Promise<Figures> {
  const checked = (volley: Volley) => {
    failures.push(...volley.failures);
    return volley.results;
  };
  const begin: Shot = { text: 'Begin. [[deltas=5 stamp=1]]', stream: true, expect: /;word4 [^]*\[DONE\]/ };
  const first = checked(await closedLoop(targetOf(node), begin, 1, { forMs: scale.loadMs, atMost: scale.single }));
  await pause(scale.leadMs);
  const deltas = Math.ceil((scale.rampMs + scale.pacedMs) / DELTA_MS);
  const paced: Shot = {
    text: `Slowly. [[deltas=${deltas} every=${DELTA_MS} stamp=1]]`,
    stream: true,
    expect: new RegExp(`;word${deltas - 1} [^]*\\[DONE\\]`),
  };
  const streams = Math.ceil(scale.streams / 10);
  const delays = checked(await spread(targetOf(node), paced, streams, scale.rampMs)).flatMap((hit) => hit.deltas);
  const waits = delays.map(({ delayMs }) => delayMs);
  return {
    [`${key}NodeFirstTextP50Ms`]: quantile(
      first.flatMap(({ firstTextMs }) => firstTextMs ?? []),
      0.5,
    ),
    [`${key}NodeDeltaP50Ms`]: quantile(waits, 0.5),
    [`${key}NodeDeltaP99Ms`]: quantile(waits, 0.99),
  };
}

/** From the kill of a node until its run has begun again at another one. */
async function lossSeconds(north: DaemonProcess, south: DaemonProcess): Promise<number> {
  await south.admin('POST', '/api/v1/nodes/south/drain');
  await south.admin('POST', '/api/v1/nodes/east/drain');
  const body = { background: true, idempotency_key: 'lost' };
  const { runId } = await takeTurn(north, { content: 'Slowly. [[deltas=3000 every=20]]', body });
  const run = async () => (await south.admin('GET', `/api/v1/runs/${runId}`)) as { status: string; resumes: number };
  await waitFor(async () => (await run()).status === 'running');
  for (const name of ['south', 'east']) await south.admin('POST', `/api/v1/nodes/${name}/undrain`);
  const killedAt = performance.now();
  await north.kill();
  await waitFor(async () => {
    const { status, resumes } = await run();
    return status === 'running' && resumes === 1;
  });
  return (performance.now() - killedAt) / 1_000;
}
