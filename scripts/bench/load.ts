// The client of the benchmark: sends runs to a server in the chat shape and measures what comes back.
import { Pool } from 'undici';

/** A server that answers chat completions. */
export interface Target {
  readonly name: string;
  /** Address with the path of its chat completions. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** One request of a case. */
export interface Shot {
  /** Directives for the scripted model server. */
  readonly text: string;
  readonly stream: boolean;
  /** What the whole reply must hold, so that a wrong answer is not counted as a fast one. */
  readonly expect: RegExp;
}

/** What one request took. Times in milliseconds. */
interface Hit {
  readonly totalMs: number;
  /** To the first text delta of a stamped stream. */
  readonly firstTextMs: number | undefined;
  /** From the model server's sending of each stamped delta to its arrival here. */
  readonly delaysMs: readonly number[];
}

export interface Volley {
  readonly hits: readonly Hit[];
  readonly failures: readonly string[];
  readonly seconds: number;
}

/** A pool of kept connections to one target. */
interface Gun {
  fire(shot: Shot): Promise<Hit>;
  close(): Promise<void>;
}

const STAMP = /@(\d+);/g;

/** Opens a pool of at most `connections` kept connections. */
function makeGun(target: Target, connections: number): Gun {
  const url = new URL(target.url);
  const pool = new Pool(url.origin, { connections, pipelining: 1, headersTimeout: 60_000, bodyTimeout: 60_000 });
  const headers = { 'content-type': 'application/json', ...target.headers };
  return {
    close: () => pool.close(),
    fire: async (shot) => {
      const body = JSON.stringify({
        model: 'scripted',
        stream: shot.stream,
        messages: [{ role: 'user', content: shot.text }],
      });
      const startedAt = performance.now();
      const reply = await pool.request({ path: url.pathname, method: 'POST', headers, body });
      let text = '';
      let firstTextMs: number | undefined;
      const delaysMs: number[] = [];
      for await (const bytes of reply.body) {
        const piece = (bytes as Buffer).toString('latin1');
        text += piece;
        if (!shot.stream || !piece.includes('@')) continue;
        const arrivedUs = Number(process.hrtime.bigint() / 1000n);
        firstTextMs ??= performance.now() - startedAt;
        for (const [, stamp] of piece.matchAll(STAMP)) delaysMs.push((arrivedUs - Number(stamp)) / 1000);
      }
      const totalMs = performance.now() - startedAt;
      if (reply.statusCode !== 200 || !shot.expect.test(text)) {
        throw new Error(`${target.name}: ${reply.statusCode} ${text.slice(0, 300)}`);
      }
      return { totalMs, firstTextMs, delaysMs };
    },
  };
}

/** Keeps `concurrency` requests in flight, each slot sending its next when its last is answered, until the time is over. */
export async function closedLoop(target: Target, shot: Shot, concurrency: number, forMs: number): Promise<Volley> {
  const gun = makeGun(target, concurrency);
  const startedAt = performance.now();
  const until = startedAt + forMs;
  const volley = await volleyOf(
    Array.from({ length: concurrency }, () => async (record: Recorder) => {
      while (performance.now() < until) await record(() => gun.fire(shot));
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  await gun.close();
  return { ...volley, seconds };
}

/** Sends `count` requests one after the other. */
export async function oneByOne(target: Target, shot: Shot, count: number): Promise<Volley> {
  const gun = makeGun(target, 1);
  const startedAt = performance.now();
  const volley = await volleyOf([
    async (record) => {
      for (let i = 0; i < count; i += 1) await record(() => gun.fire(shot));
    },
  ]);
  const seconds = (performance.now() - startedAt) / 1000;
  await gun.close();
  return { ...volley, seconds };
}

/** Sends `count` requests at once. */
export async function allAtOnce(target: Target, shot: Shot, count: number): Promise<Volley> {
  const gun = makeGun(target, count);
  const startedAt = performance.now();
  const volley = await volleyOf(
    Array.from({ length: count }, () => async (record: Recorder) => record(() => gun.fire(shot))),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  await gun.close();
  return { ...volley, seconds };
}

type Recorder = (fire: () => Promise<Hit>) => Promise<void>;

async function volleyOf(slots: readonly ((record: Recorder) => Promise<void>)[]): Promise<Omit<Volley, 'seconds'>> {
  const hits: Hit[] = [];
  const failures: string[] = [];
  const record: Recorder = async (fire) => {
    try {
      hits.push(await fire());
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
      // A server that refuses at once must not turn the loop into a busy one.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  await Promise.all(slots.map((slot) => slot(record)));
  return { hits, failures };
}

/** The value below which `share` (0 to 1) of the values lie. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
