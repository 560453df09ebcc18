// The cases of the benchmark: what is sent to one server, and the figures that come of it.
import type { Shot, Volley } from './load.ts';
import { allAtOnce, closedLoop, oneByOne, quantile } from './load.ts';
import { cpuMsOf, memoryMbOf, watchMachine } from './process-figures.ts';
import type { MeasuredServer } from './servers.ts';

/** Figures of one server by name; a case that a server does not have is missing. */
export type Figures = Record<string, number>;

/** How long and how often. */
export interface Scale {
  readonly warmMs: number;
  readonly single: number;
  readonly loadMs: number;
  readonly streams: number;
  readonly idleMs: number;
  readonly starts: number;
  readonly sessions: number;
}

export const FULL: Scale = {
  warmMs: 2_000,
  single: 300,
  loadMs: 4_000,
  streams: 200,
  idleMs: 10_000,
  starts: 5,
  sessions: 100_000,
};
export const QUICK: Scale = {
  warmMs: 500,
  single: 50,
  loadMs: 800,
  streams: 200,
  idleMs: 2_000,
  starts: 2,
  sessions: 5_000,
};

const ANSWER: Shot = { text: 'Say it. [[text=Here you are.]]', stream: false, expect: /Here you are\./ };
const STREAM: Shot = { text: 'Tell it. [[deltas=20]]', stream: true, expect: /word19 [^]*\[DONE\]/ };
const FIRST: Shot = { text: 'Begin. [[deltas=5 stamp=1]]', stream: true, expect: /;word4 [^]*\[DONE\]/ };
const TOOLS: Shot = {
  text: 'Work. [[tools=2]] [[text=Both are written.]]',
  stream: false,
  expect: /Both are written\./,
};
const PACED: Shot = { text: 'Slowly. [[deltas=50 every=20 stamp=1]]', stream: true, expect: /;word49 [^]*\[DONE\]/ };

const CONCURRENCY = 32;
const TOOLS_CONCURRENCY = 16;
/** Work that a server does after its answer is part of the run's price. */
const SETTLE_MS = 300;

/** Which cases make sense for a server. */
export interface Choice {
  readonly tools: boolean;
  /** Whether the processor time of saturation is this server's own work and worth telling. */
  readonly saturation: boolean;
}

/** Runs every case against one server. Adds what failed to `failures`. */
export async function measure(
  server: MeasuredServer,
  scale: Scale,
  choice: Choice,
  failures: string[],
): Promise<Figures> {
  const { target } = server;
  const figures: Figures = {};
  const checked = (volley: Volley): Volley => {
    failures.push(...volley.failures);
    return volley;
  };
  const machine = watchMachine();
  for (const shot of [ANSWER, STREAM]) checked(await closedLoop(target, shot, 8, scale.warmMs / 2));

  const single = checked(await oneByOne(target, ANSWER, scale.single)).hits.map((hit) => hit.totalMs);
  figures['answerP50Ms'] = quantile(single, 0.5);
  figures['answerP99Ms'] = quantile(single, 0.99);
  const first = checked(await oneByOne(target, FIRST, scale.single)).hits.flatMap((hit) => hit.firstTextMs ?? []);
  figures['firstTextP50Ms'] = quantile(first, 0.5);
  figures['firstTextP99Ms'] = quantile(first, 0.99);

  if (choice.saturation) {
    Object.assign(figures, await saturate('answer', ANSWER, CONCURRENCY));
    Object.assign(figures, await saturate('stream', STREAM, CONCURRENCY));
    if (choice.tools) Object.assign(figures, await saturate('tools', TOOLS, TOOLS_CONCURRENCY));
  }
  await paced();
  figures['busyElsewherePercent'] = machine.busyElsewherePercent();
  return figures;

  async function saturate(name: string, shot: Shot, concurrency: number): Promise<Figures> {
    const before = cpuMsOf(server.pid());
    const { hits, seconds } = checked(await closedLoop(target, shot, concurrency, scale.loadMs));
    await pause(SETTLE_MS);
    const cpuMs = cpuMsOf(server.pid()) - before;
    return {
      [`${name}RunsPerSecond`]: hits.length / seconds,
      [`${name}CpuMsPerRun`]: cpuMs / hits.length,
      [`${name}LoadP99Ms`]: quantile(
        hits.map((hit) => hit.totalMs),
        0.99,
      ),
    };
  }

  async function paced(): Promise<void> {
    const before = cpuMsOf(server.pid());
    let delays: number[] = [];
    figures['loopDelayP99Ms'] = await server.loopDelayP99Ms(async () => {
      delays = checked(await allAtOnce(target, PACED, scale.streams)).hits.flatMap((hit) => hit.delaysMs);
    });
    figures['pacedDeltas'] = delays.length;
    figures['deltaDelayP50Ms'] = quantile(delays, 0.5);
    figures['deltaDelayP99Ms'] = quantile(delays, 0.99);
    await pause(SETTLE_MS);
    figures['pacedCpuMsPerStream'] = (cpuMsOf(server.pid()) - before) / scale.streams;
    figures['peakRssMb'] = memoryMbOf(server.pid(), 'VmHWM');
    figures['restRssMb'] = memoryMbOf(server.pid(), 'VmRSS');
  }
}

/** Memory and processor time of servers just started that have nothing to do, all watched over the same while. */
export async function measureIdle(servers: readonly MeasuredServer[], forMs: number): Promise<Figures[]> {
  // What a server still does for its start is not idleness.
  await pause(forMs / 3);
  const before = servers.map((server) => cpuMsOf(server.pid()));
  await pause(forMs);
  return servers.map((server, i) => ({
    idleRssMb: memoryMbOf(server.pid(), 'VmRSS'),
    idleCpuMsPerSecond: (cpuMsOf(server.pid()) - (before[i] ?? 0)) / (forMs / 1000),
  }));
}

function pause(forMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, forMs));
}
