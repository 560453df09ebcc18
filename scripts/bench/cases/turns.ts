// The cases of the benchmark: what is sent to one server, and the resulting figures.
import type { Shot, Volley } from '../load.ts';
import { closedLoop, machineMs, oneByOne, pause, quantile, spread } from '../load.ts';
import { atRest, cpuMsOf, memoryMbOf, watchMachine } from '../process-figures.ts';
import type { MeasuredServer } from '../servers/start.ts';

/** Figures of one server by name; a case that a server does not have is missing. */
export type Figures = Record<string, number>;

/** How long and how often. */
export interface Scale {
  /** Warm-up before every measurement of processor time: this many runs or this long, whichever comes first. */
  readonly warmRuns: number;
  readonly warmMs: number;
  readonly single: number;
  readonly loadMs: number;
  /** Processor time under load is the least of so many windows: what else the machine does only ever adds to it. */
  readonly windows: number;
  readonly windowMs: number;
  readonly streams: number;
  /** The starts of paced streams are spread over this. */
  readonly rampMs: number;
  /** How long all the paced streams are then watched. */
  readonly pacedMs: number;
  readonly idleMs: number;
  /** How long watchers of live sessions are measured. */
  readonly watchMs: number;
  /** How long the terminal view is measured at each rate. */
  readonly viewMs: number;
  readonly starts: number;
  readonly sessions: number;
  /** Background runs that wait, in the cases of the queue. */
  readonly queued: number;
  /** How long a number of clients submit runs. */
  readonly submitMs: number;
  /** Files of a workspace, and of a crowded one. */
  readonly files: number;
  readonly crowd: number;
  /** The size of the file that is packed and sent. */
  readonly packedMb: number;
}

export const FULL: Scale = {
  warmRuns: 1_500,
  warmMs: 4_000,
  single: 300,
  loadMs: 5_000,
  windows: 6,
  windowMs: 2_000,
  streams: 200,
  rampMs: 1_000,
  pacedMs: 3_000,
  idleMs: 7_500,
  watchMs: 15_000,
  viewMs: 120_000,
  starts: 5,
  sessions: 100_000,
  queued: 10_000,
  submitMs: 3_000,
  files: 10_000,
  crowd: 30_000,
  packedMb: 1_024,
};
export const QUICK: Scale = {
  warmRuns: 200,
  warmMs: 500,
  single: 50,
  loadMs: 800,
  windows: 4,
  windowMs: 800,
  streams: 200,
  rampMs: 500,
  pacedMs: 700,
  idleMs: 2_000,
  watchMs: 5_000,
  viewMs: 10_000,
  starts: 2,
  sessions: 5_000,
  queued: 1_000,
  submitMs: 500,
  files: 2_000,
  crowd: 5_000,
  packedMb: 64,
};

const ANSWER: Shot = { text: 'Say it. [[text=Here you are.]]', stream: false, expect: /Here you are\./ };
const STREAM: Shot = { text: 'Tell it. [[deltas=20]]', stream: true, expect: /word19 [^]*\[DONE\]/ };
const FIRST: Shot = { text: 'Begin. [[deltas=5 stamp=1]]', stream: true, expect: /;word4 [^]*\[DONE\]/ };
/** Runs with tools: four calls that read, two that read, two that write files. */
const TOOLS = {
  tools: { text: 'Look. [[lists=4]] [[text=All is seen.]]', stream: false, expect: /All is seen\./ },
  lists: { text: 'Look. [[lists=2]] [[text=All is seen.]]', stream: false, expect: /All is seen\./ },
  files: { text: 'Work. [[tools=2 note=#]] [[text=Both are written.]]', stream: false, expect: /Both are written\./ },
} as const satisfies Record<string, Shot>;
const DELTA_MS = 20;

/** A stream that is still in progress when the last of the spread ones has been watched long enough. */
function pacedShot({ rampMs, pacedMs }: Scale): Shot {
  const deltas = Math.ceil((rampMs + pacedMs + 2 * SETTLE_MS) / DELTA_MS);
  return {
    text: `Slowly. [[deltas=${deltas} every=${DELTA_MS} stamp=1]]`,
    stream: true,
    expect: new RegExp(`;word${deltas - 1} [^]*\\[DONE\\]`),
  };
}

const CONCURRENCY = 32;
const TOOLS_CONCURRENCY = 16;
/** Work that a server does after its reply is part of the run's cost. */
const SETTLE_MS = 300;

/** Which cases apply to a server. */
export interface Choice {
  readonly tools: boolean;
  /** Whether the processor time of saturation is this server's own work and worth reporting. */
  readonly saturation: boolean;
}

/** Runs every case against one server. Adds failures to `failures`. */
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
  const warmth = { forMs: scale.warmMs / 2, atMost: scale.warmRuns / 2 };
  for (const shot of [ANSWER, FIRST]) checked(await closedLoop(target, shot, 8, warmth));

  const single = checked(await oneByOne(target, ANSWER, scale.single)).results.map((hit) => hit.totalMs);
  figures['answerP50Ms'] = quantile(single, 0.5);
  figures['answerP99Ms'] = quantile(single, 0.99);
  const first = checked(await oneByOne(target, FIRST, scale.single)).results.flatMap((hit) => hit.firstTextMs ?? []);
  figures['firstTextP50Ms'] = quantile(first, 0.5);
  figures['firstTextP99Ms'] = quantile(first, 0.99);

  if (choice.saturation) {
    Object.assign(figures, await saturate('answer', ANSWER, CONCURRENCY));
    Object.assign(figures, await saturate('stream', STREAM, CONCURRENCY));
    if (choice.tools) await withTools();
  }
  await burst();
  await paced();
  figures['busyElsewherePercent'] = machine.busyElsewherePercent();
  return figures;

  async function withTools(): Promise<void> {
    for (const [name, shot] of Object.entries(TOOLS)) {
      Object.assign(figures, await saturate(name, shot, TOOLS_CONCURRENCY));
    }
    figures['filesToLists'] = (figures['filesCpuMsPerRun'] ?? Number.NaN) / (figures['listsCpuMsPerRun'] ?? Number.NaN);
  }

  async function saturate(name: string, shot: Shot, concurrency: number): Promise<Figures> {
    checked(await closedLoop(target, shot, concurrency, { forMs: scale.warmMs, atMost: scale.warmRuns }));
    const [perSecond, cpuMs, totalMs]: [number[], number[], number[]] = [[], [], []];
    for (let window = 0; window < scale.windows; window += 1) {
      await atRest(server.pid());
      const before = cpuMsOf(server.pid());
      const { results: hits, seconds } = checked(
        await closedLoop(target, shot, concurrency, { forMs: scale.windowMs }),
      );
      // What a run leaves to be done after its reply is part of its cost.
      await atRest(server.pid());
      perSecond.push(hits.length / seconds);
      cpuMs.push((cpuMsOf(server.pid()) - before) / hits.length);
      totalMs.push(...hits.map((hit) => hit.totalMs));
    }
    return {
      [`${name}RunsPerSecond`]: Math.max(...perSecond),
      [`${name}CpuMsPerRun`]: Math.min(...cpuMs),
      [`${name}LoadP99Ms`]: quantile(totalMs, 0.99),
    };
  }

  async function burst(): Promise<void> {
    const { results } = checked(await spread(target, FIRST, scale.streams, 0));
    figures['burstFirstTextMs'] = Math.max(...results.map((hit) => hit.firstTextMs ?? Number.NaN));
    await pause(SETTLE_MS);
  }

  async function paced(): Promise<void> {
    const { rampMs, pacedMs, streams } = scale;
    const under = spread(target, pacedShot(scale), streams, rampMs);
    await pause(rampMs + SETTLE_MS);
    const [cpuBefore, from] = [cpuMsOf(server.pid()), machineMs()];
    let [cpuMs, until] = [0, from];
    const { p99Ms } = await server.loopDelay(async () => {
      await pause(pacedMs);
      cpuMs = cpuMsOf(server.pid()) - cpuBefore;
      until = machineMs();
    });
    figures['loopDelayP99Ms'] = p99Ms;
    const deltas = checked(await under).results.flatMap((hit) => hit.deltas);
    const delays = deltas.filter(({ sentMs }) => sentMs >= from && sentMs < until).map(({ delayMs }) => delayMs);
    figures['pacedDeltas'] = delays.length;
    figures['deltaDelayP50Ms'] = quantile(delays, 0.5);
    figures['deltaDelayP99Ms'] = quantile(delays, 0.99);
    figures['pacedCpuMsPerSecond'] = cpuMs / ((until - from) / 1000);
    await pause(SETTLE_MS);
    figures['peakRssMb'] = memoryMbOf(server.pid(), 'VmHWM');
    figures['restRssMb'] = memoryMbOf(server.pid(), 'VmRSS');
  }
}

/** Memory and processor time of idle servers just after their start, all measured over the same period. */
export async function measureIdle(servers: readonly MeasuredServer[], forMs: number): Promise<Figures[]> {
  // Work that a server still does for its start does not count as idle.
  await pause(forMs / 3);
  const before = servers.map((server) => cpuMsOf(server.pid()));
  await pause(forMs);
  return servers.map((server, i) => ({
    idleRssMb: memoryMbOf(server.pid(), 'VmRSS'),
    idleCpuMsPerSecond: (cpuMsOf(server.pid()) - (before[i] ?? 0)) / (forMs / 1000),
  }));
}
