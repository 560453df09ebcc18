// The cases of the benchmark that compare servers: what is sent to each of them in turn, and the resulting figures.
import type { Shot, Volley } from '../load.ts';
import { closedLoop, machineMs, oneByOne, pause, quantile, spread } from '../load.ts';
import { atRest, cpuMsOf, memoryMbOf, watchMachine } from '../process-figures.ts';
import type { MeasuredServer } from '../servers/start.ts';
import type { Figures, Scale } from './scale.ts';

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

/** A server and which cases apply to it. */
export interface Contender {
  readonly server: MeasuredServer;
  readonly tools: boolean;
  /** Whether the processor time of saturation is this server's own work and worth reporting. */
  readonly saturation: boolean;
}

interface Lane extends Contender {
  readonly figures: Figures;
}

/** How a volley is fired whose failures count. */
type Checked = (volley: Volley) => Volley;

interface Race {
  readonly lanes: readonly Lane[];
  readonly scale: Scale;
  readonly checked: Checked;
}

/**
 * Runs every case against every server, in turns: whatever the machine does to one window it does to those of the others next
 * to it. Figures are in the order of the servers. Adds failures to `failures`.
 */
export async function compare(
  contenders: readonly Contender[],
  scale: Scale,
  failures: string[],
  say: (text: string) => void,
): Promise<Figures[]> {
  const lanes = contenders.map((contender): Lane => ({ ...contender, figures: {} }));
  const checked: Checked = (volley) => {
    failures.push(...volley.failures);
    return volley;
  };
  const race = { lanes, scale, checked };
  const machine = watchMachine();
  say('measuring one request at a time …');
  await singly(race);
  const loaded = { ...race, lanes: lanes.filter(({ saturation }) => saturation) };
  say('measuring answers …');
  await saturate(loaded, { answer: ANSWER }, CONCURRENCY);
  say('measuring streams …');
  await saturate(loaded, { stream: STREAM }, CONCURRENCY);
  say('measuring calls of tools …');
  await saturate({ ...loaded, lanes: loaded.lanes.filter(({ tools }) => tools) }, TOOLS, TOOLS_CONCURRENCY);
  say('measuring many streams at once …');
  for (const lane of lanes) await burst(lane, race);
  await paced(race);
  for (const { figures } of lanes) figures['busyElsewherePercent'] = machine.busyElsewherePercent();
  return lanes.map(({ figures }) => figures);
}

/** Gives each of the lanes a turn, so often; every second time in the opposite order. */
async function inTurns<L>(lanes: readonly L[], times: number, turn: (lane: L) => Promise<void>): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    for (const lane of time % 2 === 0 ? lanes : lanes.toReversed()) await turn(lane);
  }
}

async function singly({ lanes, scale, checked }: Race): Promise<void> {
  const warmth = { forMs: scale.warmMs / 2, atMost: scale.warmRuns / 2 };
  for (const { server } of lanes) {
    for (const shot of [ANSWER, FIRST]) checked(await closedLoop(server.target, shot, 8, warmth));
  }
  const count = Math.ceil(scale.single / scale.windows);
  const times = lanes.map(({ server: { target }, figures }): Times => ({ target, figures, answer: [], first: [] }));
  await inTurns(times, scale.windows, async ({ target, answer, first }) => {
    answer.push(...checked(await oneByOne(target, ANSWER, count)).results.map(({ totalMs }) => totalMs));
    first.push(
      ...checked(await oneByOne(target, FIRST, count)).results.flatMap(({ firstTextMs }) => firstTextMs ?? []),
    );
  });
  for (const { figures, answer, first } of times) {
    figures['answerP50Ms'] = quantile(answer, 0.5);
    figures['answerP99Ms'] = quantile(answer, 0.99);
    figures['firstTextP50Ms'] = quantile(first, 0.5);
    figures['firstTextP99Ms'] = quantile(first, 0.99);
  }
}

interface Times {
  readonly target: MeasuredServer['target'];
  readonly figures: Figures;
  readonly answer: number[];
  readonly first: number[];
}

/** What `concurrency` clients cost. The shots take turns as well, so that they can be compared with each other. */
async function saturate(
  { lanes, scale, checked }: Race,
  shots: Readonly<Record<string, Shot>>,
  concurrency: number,
): Promise<void> {
  const loads = lanes.flatMap(({ server, figures }) =>
    Object.entries(shots).map(([name, shot]) => ({ server, figures, name, shot, seen: newSeen() })),
  );
  for (const { server, shot } of loads) {
    checked(await closedLoop(server.target, shot, concurrency, { forMs: scale.warmMs, atMost: scale.warmRuns }));
  }
  await inTurns(loads, scale.windows, async ({ server, shot, seen }) => {
    // While the others had their turns, its code and caches have become cold.
    checked(await closedLoop(server.target, shot, concurrency, { forMs: scale.leadMs }));
    await atRest(server.pid());
    const before = cpuMsOf(server.pid());
    const { results: hits, seconds } = checked(
      await closedLoop(server.target, shot, concurrency, { forMs: scale.windowMs }),
    );
    // What a run leaves to be done after its reply is part of its cost.
    await atRest(server.pid());
    seen.perSecond.push(hits.length / seconds);
    seen.cpuMs.push((cpuMsOf(server.pid()) - before) / hits.length);
    seen.totalMs.push(...hits.map((hit) => hit.totalMs));
  });
  for (const { figures, name, seen } of loads) {
    figures[`${name}RunsPerSecond`] = Math.max(...seen.perSecond);
    figures[`${name}CpuMsPerRun`] = Math.min(...seen.cpuMs);
    figures[`${name}LoadP99Ms`] = quantile(seen.totalMs, 0.99);
  }
  for (const { figures } of lanes) {
    const [files, lists] = [figures['filesCpuMsPerRun'], figures['listsCpuMsPerRun']];
    if (files !== undefined && lists !== undefined) figures['filesToLists'] = files / lists;
  }
}

interface Seen {
  readonly perSecond: number[];
  readonly cpuMs: number[];
  readonly totalMs: number[];
}

const newSeen = (): Seen => ({ perSecond: [], cpuMs: [], totalMs: [] });

async function burst({ server, figures }: Lane, { scale, checked }: Race): Promise<void> {
  const { results } = checked(await spread(server.target, FIRST, scale.streams, 0));
  figures['burstFirstTextMs'] = Math.max(...results.map((hit) => hit.firstTextMs ?? Number.NaN));
  await pause(SETTLE_MS);
}

/** The medians of several rounds: a pause of the machine, such as that of its disk, is in one of them. */
async function paced({ lanes, scale, checked }: Race): Promise<void> {
  const rounds = lanes.map((lane) => ({ ...lane, seen: [] as Figures[] }));
  await inTurns(rounds, scale.pacedRounds, async ({ server, seen }) => {
    seen.push(await pacedRound(server, scale, checked));
  });
  for (const { server, figures, seen } of rounds) {
    for (const name of Object.keys(seen[0] ?? {})) {
      figures[name] = quantile(
        seen.map((round) => round[name] ?? Number.NaN),
        0.5,
      );
    }
    figures['peakRssMb'] = memoryMbOf(server.pid(), 'VmHWM');
    figures['restRssMb'] = memoryMbOf(server.pid(), 'VmRSS');
  }
}

async function pacedRound(server: MeasuredServer, scale: Scale, checked: Checked): Promise<Figures> {
  const { rampMs, pacedMs, streams } = scale;
  const under = spread(server.target, pacedShot(scale), streams, rampMs);
  await pause(rampMs + SETTLE_MS);
  const [cpuBefore, from] = [cpuMsOf(server.pid()), machineMs()];
  let [cpuMs, until] = [0, from];
  const { p99Ms } = await server.loopDelay(async () => {
    await pause(pacedMs);
    cpuMs = cpuMsOf(server.pid()) - cpuBefore;
    until = machineMs();
  });
  const deltas = checked(await under).results.flatMap((hit) => hit.deltas);
  const delays = deltas.filter(({ sentMs }) => sentMs >= from && sentMs < until).map(({ delayMs }) => delayMs);
  await pause(SETTLE_MS);
  return {
    loopDelayP99Ms: p99Ms,
    pacedDeltas: delays.length,
    deltaDelayP50Ms: quantile(delays, 0.5),
    deltaDelayP99Ms: quantile(delays, 0.99),
    pacedCpuMsPerSecond: cpuMs / ((until - from) / 1000),
  };
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
