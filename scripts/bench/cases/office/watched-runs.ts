// What watchers cost the runs that they watch: the same runs without watchers, with them, with them, and without.
import { connect, type Socket } from 'node:net';
import { makeCaller } from '../../calls.ts';
import { callInLoop, pause, quantile } from '../../load.ts';
import { cpuMsOf } from '../../process-figures.ts';
import { type ErrandServer, startErrand } from '../../servers/start.ts';
import type { Figures } from '../scale.ts';

/** Many, so that no conversation becomes long. */
const SESSIONS = 320;
const CLIENTS = 32;
/** Administrators who look at the floor; in addition each session has one of its own. */
const OF_INSTALLATION = 10;
const SETTLE_MS = 1_000;
const OFFICE = '/api/v1/office-mode';
const ROOMY = `workers: { threads: 1, runs_per_thread: 64 }
limits: { connections: 4000, connections_per_address: 2000 }
`;

interface Phase {
  readonly runs: number;
  readonly cpuMs: number;
  readonly seconds: number;
  readonly times: readonly number[];
}

/** Measures each of the four phases for `forMs`. The cost that grows with the conversations is the same in both halves. */
export async function measureWatchedRuns(
  { modelUrl, scratch }: { readonly modelUrl: string; readonly scratch: string },
  forMs: number,
  failures: string[],
): Promise<Figures> {
  const errand = await startErrand(modelUrl, scratch, ROOMY);
  const { daemon } = errand;
  const caller = makeCaller({ ...errand.target, headers: { 'x-api-key': daemon.apiKey } }, CLIENTS);
  const turn = (sessionId?: string) =>
    caller.call({ method: 'POST', path: '/openapi/v1/messages', body: bodyOf(sessionId), expect: 200 });
  try {
    await Promise.all(Array.from({ length: SESSIONS }, () => turn()));
    const listed = await daemon.admin('GET', `/api/v1/sessions?limit=100`);
    const sessions = [...(listed as { items: { session_id: string }[] }).items];
    for (let offset = 100; offset < SESSIONS; offset += 100) {
      const page = await daemon.admin('GET', `/api/v1/sessions?limit=100&offset=${offset}`);
      sessions.push(...(page as { items: { session_id: string }[] }).items);
    }
    const free = sessions.map(({ session_id: id }) => id);
    const phase = () => run({ errand, turn, free }, forMs, failures);
    const watched = async () => {
      const sockets = await watchAll(errand, [...free]);
      const found = await phase();
      for (const socket of sockets) socket.destroy();
      await pause(SETTLE_MS);
      return found;
    };
    await phase();
    const phases = [await phase(), await watched(), await watched(), await phase()];
    return figuresOf(sum(phases[0]!, phases[3]!), sum(phases[1]!, phases[2]!));
  } finally {
    await caller.close();
    await errand.close();
  }
}

const bodyOf = (sessionId?: string) => ({
  model: 'm',
  messages: [{ role: 'user', content: 'Tell it. [[deltas=20 every=5]]' }],
  ...(sessionId !== undefined && { metadata: { session_id: sessionId } }),
});

interface Work {
  readonly errand: ErrandServer;
  turn(sessionId: string): Promise<{ readonly tookMs: number }>;
  /** Sessions in which nothing runs; the one that waited longest is next. */
  readonly free: string[];
}

async function run({ errand, turn, free }: Work, forMs: number, failures: string[]): Promise<Phase> {
  const before = cpuMsOf(errand.pid());
  const {
    results,
    failures: failed,
    seconds,
  } = await callInLoop(CLIENTS, { forMs }, async () => {
    const session = free.shift()!;
    try {
      return await turn(session);
    } finally {
      free.push(session);
    }
  });
  failures.push(...failed);
  await pause(SETTLE_MS);
  const times = results.map(({ tookMs }) => tookMs);
  return { runs: results.length, cpuMs: cpuMsOf(errand.pid()) - before, seconds, times };
}

/** Opens one stream of each session, and those of the installation. */
async function watchAll({ daemon }: ErrandServer, sessions: readonly string[]): Promise<readonly Socket[]> {
  const paths = [
    ...sessions.map((id) => `${OFFICE}/sessions/${id}/stream`),
    ...Array<string>(OF_INSTALLATION).fill(`${OFFICE}/stream`),
  ];
  const sockets: Socket[] = [];
  for (const path of paths) {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(daemon.url).port) });
    sockets.push(socket);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${daemon.apiKey}\r\n\r\n`);
    await new Promise((resolve, reject) => {
      socket.once('data', resolve).once('error', reject);
      socket.once('close', () => reject(new Error('The server closed a stream.')));
    });
    socket.resume();
  }
  await pause(SETTLE_MS);
  return sockets;
}

function sum(one: Phase, other: Phase): Phase {
  return {
    runs: one.runs + other.runs,
    cpuMs: one.cpuMs + other.cpuMs,
    seconds: one.seconds + other.seconds,
    times: [...one.times, ...other.times],
  };
}

function figuresOf(alone: Phase, watched: Phase): Figures {
  const [aloneCpu, watchedCpu] = [alone.cpuMs / alone.runs, watched.cpuMs / watched.runs];
  return {
    watchedRunsAloneCpuMs: aloneCpu,
    watchedRunsCpuMs: watchedCpu,
    watchedRunsCostPercent: 100 * (watchedCpu / aloneCpu - 1),
    watchedRunsAlonePerSecond: alone.runs / alone.seconds,
    watchedRunsPerSecond: watched.runs / watched.seconds,
    watchedRunsAloneP99Ms: quantile(alone.times, 0.99),
    watchedRunsP99Ms: quantile(watched.times, 0.99),
  };
}
