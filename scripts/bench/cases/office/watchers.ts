// What watchers of live sessions cost, compared with a bare node:http fan-out that sends the same events to as many.
import { connect, type Socket } from 'node:net';
import type { Figures } from '../scale.ts';
import { machineMs, pause, quantile } from '../../load.ts';
import { cpuMsOf, memoryMbOf } from '../../process-figures.ts';
import { type ErrandServer, startErrand, startFanOut } from '../../servers/start.ts';

interface Case {
  readonly name: string;
  readonly watchers: number;
  readonly sessions: number;
  readonly everyMs: number;
}

const CASES: readonly Case[] = [
  { name: 'watched1000', watchers: 1_000, sessions: 1, everyMs: 50 },
  { name: 'watched5000', watchers: 5_000, sessions: 50, everyMs: 500 },
];
const SETTLE_MS = 2_000;
const STAMP = /@(\d+);word/g;
/** One address has at most half of a server's connections. */
const ADDRESSES = 4;
const ROOMY = `workers: { threads: 2, runs_per_thread: 128 }
limits: { connections: 20000, connections_per_address: 20000 }
`;

interface Watched {
  readonly url: string;
  readonly paths: readonly string[];
  readonly headers: string;
  readonly pid: number;
}

/** Measures all cases for `forMs` each. */
export async function measureWatchers(
  modelUrl: string,
  scratch: string,
  forMs: number,
  say: (text: string) => void,
): Promise<Figures> {
  const figures: Figures = {};
  const errand = await startErrand(modelUrl, scratch, ROOMY);
  try {
    for (const one of CASES) {
      say(`measuring ${one.watchers} watchers of ${one.sessions} sessions …`);
      const bare = await startFanOut(one.sessions, one.everyMs, scratch);
      const paths = Array.from({ length: one.sessions }, (_, at) => `/${at}`);
      const floor = await watchAll({ url: bare.target.url, paths, headers: '', pid: bare.pid() }, one.watchers, forMs);
      await bare.close();
      const own = await measureErrand(errand, one, forMs);
      Object.assign(figures, named(`${one.name}Bare`, floor), named(one.name, own));
    }
  } finally {
    await errand.close();
  }
  return figures;
}

/** The watchers' own cost: the cost of the same runs without them is subtracted. */
async function measureErrand(
  errand: ErrandServer,
  { watchers, sessions, everyMs }: Case,
  forMs: number,
): Promise<Seen> {
  const deltas = Math.ceil((3 * forMs + 60_000) / everyMs);
  const text = `Tell. [[deltas=${deltas} every=${everyMs} stamp=1]]`;
  const started = await Promise.all(Array.from({ length: sessions }, () => begin(errand, text)));
  const paths = started.map(({ sessionId }) => `/api/v1/office-mode/sessions/${sessionId}/stream`);
  const headers = `Authorization: Bearer ${errand.daemon.apiKey}\r\n`;
  const place = { url: errand.daemon.url, paths, headers, pid: errand.pid() };
  await pause(SETTLE_MS);
  const alone = await watchAll(place, sessions, forMs);
  const seen = await watchAll(place, watchers, forMs);
  for (const { sessionId } of started) await errand.daemon.admin('POST', `/api/v1/sessions/${sessionId}/stop`);
  return { ...seen, cpuMsPerSecond: seen.cpuMsPerSecond - alone.cpuMsPerSecond, aloneDelayP99Ms: alone.delayP99Ms };
}

async function begin({ daemon }: ErrandServer, text: string): Promise<{ readonly sessionId: string }> {
  const response = await fetch(`${daemon.url}/openapi/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': daemon.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: text }] }),
  });
  const sessionId = response.headers.get('x-session-id');
  if (!response.ok || sessionId === null) throw new Error(`No session: ${response.status}`);
  await response.body?.cancel();
  return { sessionId };
}

interface Seen {
  readonly cpuMsPerSecond: number;
  readonly eventsPerSecond: number;
  readonly delayP50Ms: number;
  readonly delayP99Ms: number;
  readonly kbEach: number;
  /** With one watcher of each session. */
  readonly aloneDelayP99Ms?: number;
}

/** Watches with a number of connections, spread over the paths. */
async function watchAll({ url, paths, headers, pid }: Watched, count: number, forMs: number): Promise<Seen> {
  const before = memoryMbOf(pid, 'VmRSS');
  const { hostname, port } = new URL(url);
  const delays: number[] = [];
  let isMeasured = false;
  const take = (chunk: Buffer): void => {
    if (!isMeasured) return;
    const now = machineMs();
    for (const [, stamp] of chunk.toString('latin1').matchAll(STAMP)) delays.push(now - Number(stamp) / 1_000);
  };
  const sockets: Socket[] = [];
  for (let at = 0; at < count; at += 1) {
    const socket = connect({ host: hostname, port: Number(port), localAddress: `127.0.0.${1 + (at % ADDRESSES)}` });
    sockets.push(socket);
    socket.write(`GET ${paths[at % paths.length]!} HTTP/1.1\r\nHost: bench\r\n${headers}\r\n`);
    await new Promise((resolve, reject) => {
      socket.once('data', resolve).once('error', reject);
      socket.once('close', () => reject(new Error(`The server closed connection ${at + 1}.`)));
    });
    socket.on('data', take);
  }
  await pause(SETTLE_MS);
  const kbEach = ((memoryMbOf(pid, 'VmRSS') - before) * 1024) / count;
  isMeasured = true;
  const [cpu, startedAt] = [cpuMsOf(pid), performance.now()];
  await pause(forMs);
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpuMsPerSecond = (cpuMsOf(pid) - cpu) / seconds;
  isMeasured = false;
  for (const socket of sockets) socket.destroy();
  await pause(SETTLE_MS);
  return {
    cpuMsPerSecond,
    eventsPerSecond: delays.length / seconds,
    delayP50Ms: quantile(delays, 0.5),
    delayP99Ms: quantile(delays, 0.99),
    kbEach,
  };
}

function named(name: string, seen: Seen): Figures {
  return Object.fromEntries(
    Object.entries(seen).map(([what, value]) => [`${name}${what[0]!.toUpperCase()}${what.slice(1)}`, value as number]),
  );
}
