// What a run costs with its rows in SQLite, in PostgreSQL on the same machine, in PostgreSQL at 2 ms, and beside many sessions there.
import type { DaemonProcess } from '../../../test/support/daemon/daemon-process.ts';
import { runErrand, startDaemonProcess } from '../../../test/support/daemon/daemon-process.ts';
import { takeTurn } from '../../../test/support/daemon/turn.ts';
import { type Cluster, ROLE, startCluster } from '../../../test/support/postgres/cluster.ts';
import { startDelayingProxy } from '../../../test/support/postgres/delaying-proxy.ts';
import { canRunPostgres } from '../../../test/support/postgres/programs.ts';
import { closedLoop, pause, quantile, type Shot, spread, type Target, type Volley } from '../load.ts';
import { atRest, cpuMsOf } from '../process-figures.ts';
import { ROOMY } from '../servers/start.ts';
import { fillStore } from '../stores/fill-store.ts';
import type { Figures, Scale } from './scale.ts';

/** Where the rows are, in the order of the report. */
export const PLACES = ['sqlite', 'local', 'far'] as const;
type Place = (typeof PLACES)[number] | 'large';
export const CLIENTS = [1, 32, 200] as const;
export const LARGE_CLIENTS = 32;

export const SHOTS = {
  answer: { text: 'Say it. [[text=Here you are.]]', stream: false, expect: /Here you are\./ },
  stream: { text: 'Tell it. [[deltas=20]]', stream: true, expect: /word19 [^]*\[DONE\]/ },
  tools: { text: 'Look. [[lists=4]] [[text=All is seen.]]', stream: false, expect: /All is seen\./ },
} as const satisfies Record<string, Shot>;
const FIRST: Shot = { text: 'Begin. [[deltas=5 stamp=1]]', stream: true, expect: /;word4 [^]*\[DONE\]/ };

/** Half of a round trip of 2 ms. */
const WAY_MS = 1;
/** As a server is that keeps what it has answered. */
export const DURABLE = {
  fsync: 'on',
  full_page_writes: 'on',
  wal_level: 'replica',
  max_wal_senders: 10,
  shared_buffers: "'128MB'",
};

interface Lane {
  readonly place: Place;
  readonly daemon: DaemonProcess;
  readonly target: Target;
  /** Of the server's processes; 0 for SQLite. */
  serverCpuMs(): number;
  /** Transactions of the database so far. */
  commits(): Promise<number>;
}

type Checked = (volley: Volley) => Volley;

interface Parts {
  readonly modelUrl: string;
  readonly scale: Scale;
  readonly failures: string[];
  say(text: string): void;
}

/** Measures all three in turns. Nothing where PostgreSQL is not installed. */
export async function measurePostgres({ modelUrl, scale, failures, say }: Parts): Promise<Figures> {
  if (!canRunPostgres()) return {};
  const cluster = await startCluster({ settings: DURABLE });
  const proxy = await startDelayingProxy(cluster.directory, WAY_MS);
  const urls: Readonly<Record<(typeof PLACES)[number], string | undefined>> = {
    sqlite: undefined,
    local: cluster.url('local'),
    far: `postgres://${ROLE}@127.0.0.1:${proxy.port}/far?sslmode=disable`,
  };
  const lanes: Lane[] = [];
  const checked: Checked = (volley) => {
    failures.push(...volley.failures);
    return volley;
  };
  const figures: Figures = {};
  try {
    for (const place of PLACES) lanes.push(await startLane(place, urls[place], { cluster, modelUrl }));
    for (const clients of CLIENTS) {
      say(`measuring ${clients} clients …`);
      for (const [name, shot] of Object.entries(SHOTS)) {
        for (const lane of lanes) Object.assign(figures, await loaded({ lane, name, shot, clients, scale, checked }));
      }
    }
    for (const lane of lanes) Object.assign(figures, await timely(lane, scale, checked));
    say(`measuring beside ${scale.sessions} sessions …`);
    const { lane, ...large } = await startLarge({ cluster, modelUrl }, scale);
    lanes.push(lane);
    Object.assign(figures, large);
    for (const [name, shot] of Object.entries(SHOTS)) {
      Object.assign(figures, await loaded({ lane, name, shot, clients: LARGE_CLIENTS, scale, checked }));
    }
  } finally {
    for (const { daemon } of lanes) await daemon.close();
    await proxy.close();
    await cluster.close();
  }
  return figures;
}

interface Servers {
  readonly cluster: Cluster;
  readonly modelUrl: string;
}

async function startLane(place: Place, database: string | undefined, { cluster, modelUrl }: Servers): Promise<Lane> {
  if (database !== undefined) await cluster.query('postgres', `CREATE DATABASE ${place} OWNER ${ROLE}`);
  const daemon = await startDaemonProcess({
    modelServerUrl: modelUrl,
    errandYaml: ROOMY,
    ...(database !== undefined && { database }),
  });
  return laneOf(place, daemon, database === undefined ? null : cluster);
}

function laneOf(place: Place, daemon: DaemonProcess, cluster: Cluster | null): Lane {
  const statistics = `SELECT xact_commit::int AS commits FROM pg_stat_database WHERE datname = '${place}'`;
  return {
    place,
    daemon,
    target: {
      name: place,
      url: `${daemon.url}/openapi/v1/chat/completions`,
      headers: { authorization: `Bearer ${daemon.apiKey}` },
    },
    serverCpuMs: () => (cluster === null ? 0 : cpuMsOf(cluster.pid())),
    commits: async () => (await cluster?.query<{ commits: number }>('postgres', statistics))?.[0]?.commits ?? 0,
  };
}

/** A daemon on SQLite whose many sessions move to PostgreSQL. */
async function startLarge({ cluster, modelUrl }: Servers, { sessions }: Scale) {
  const daemon = await startDaemonProcess({ modelServerUrl: modelUrl, errandYaml: ROOMY });
  const { sessionId } = await takeTurn(daemon, { content: 'Tell it. [[deltas=5]]', sessionId: null });
  await daemon.stop();
  const events = fillStore(daemon.dataDir, sessionId!, sessions);
  await cluster.query('postgres', `CREATE DATABASE large OWNER ${ROLE}`);
  const startedAt = performance.now();
  await runErrand(['store', 'copy', '--data-dir', daemon.dataDir, '--to', cluster.url('large')]);
  const largeCopySeconds = (performance.now() - startedAt) / 1_000;
  await daemon.restart({ env: { ERRAND_DATABASE: cluster.url('large') } });
  return {
    lane: laneOf('large', daemon, cluster),
    largeEvents: events,
    largeCopySeconds,
    largeStartMs: daemon.startMs(),
  };
}

interface Load {
  readonly lane: Lane;
  readonly name: string;
  readonly shot: Shot;
  readonly clients: number;
  readonly scale: Scale;
  readonly checked: Checked;
}

/** The least of several windows in CPU: what else the machine does only ever adds to it. */
async function loaded({ lane, name, shot, clients, scale, checked }: Load): Promise<Figures> {
  const { daemon, target } = lane;
  checked(await closedLoop(target, shot, clients, { forMs: scale.warmMs, atMost: scale.warmRuns }));
  const [cpu, server, commits, times]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let window = 0; window < scale.windows; window += 1) {
    await atRest(daemon.pid());
    const before = [cpuMsOf(daemon.pid()), lane.serverCpuMs(), await lane.commits()] as const;
    const { results } = checked(await closedLoop(target, shot, clients, { forMs: scale.windowMs }));
    await atRest(daemon.pid());
    cpu.push((cpuMsOf(daemon.pid()) - before[0]) / results.length);
    server.push((lane.serverCpuMs() - before[1]) / results.length);
    commits.push(((await lane.commits()) - before[2]) / results.length);
    times.push(...results.map(({ totalMs }) => totalMs));
  }
  const key = `${lane.place}${name}${clients}`;
  return {
    [`${key}P50Ms`]: quantile(times, 0.5),
    [`${key}P99Ms`]: quantile(times, 0.99),
    [`${key}CpuMs`]: Math.min(...cpu),
    ...(lane.place !== 'sqlite' && {
      [`${key}ServerCpuMs`]: Math.min(...server),
      [`${key}Commits`]: quantile(commits, 0.5),
    }),
  };
}

const DELTA_MS = 20;

/** First text of one client at a time, and the deltas of many paced streams. */
async function timely({ place, target }: Lane, scale: Scale, checked: Checked): Promise<Figures> {
  const first = checked(await closedLoop(target, FIRST, 1, { forMs: scale.loadMs, atMost: scale.single }));
  await pause(scale.leadMs);
  const deltas = Math.ceil((scale.rampMs + scale.pacedMs) / DELTA_MS);
  const paced: Shot = {
    text: `Slowly. [[deltas=${deltas} every=${DELTA_MS} stamp=1]]`,
    stream: true,
    expect: new RegExp(`;word${deltas - 1} [^]*\\[DONE\\]`),
  };
  const { results } = checked(await spread(target, paced, scale.streams, scale.rampMs));
  const delays = results.flatMap((hit) => hit.deltas).map(({ delayMs }) => delayMs);
  return {
    [`${place}FirstTextP50Ms`]: quantile(
      first.results.flatMap(({ firstTextMs }) => firstTextMs ?? []),
      0.5,
    ),
    [`${place}DeltaP50Ms`]: quantile(delays, 0.5),
    [`${place}DeltaP99Ms`]: quantile(delays, 0.99),
  };
}
