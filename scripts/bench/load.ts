// The client of the benchmark: sends runs to a server in the chat shape and measures the replies.
import { Pool } from 'undici';

/** A server that answers chat completions. */
export interface Target {
  readonly name: string;
  /** Address with the path of its chat completions. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What of a body says a text; absent: as Chat Completions do. */
  readonly inputOf?: (text: string) => object;
}

const asMessages = (text: string): object => ({ messages: [{ role: 'user', content: text }] });

/** One request of a case. */
export interface Shot {
  /** Directives for the scripted model server; `#` becomes the number of the request. */
  readonly text: string;
  readonly stream: boolean;
  /** What the whole reply must contain, so that a wrong reply does not count as a fast one. */
  readonly expect: RegExp;
}

/** What one request took. Times in milliseconds. */
interface Hit {
  readonly totalMs: number;
  /** To the first text delta of a stamped stream. */
  readonly firstTextMs: number | undefined;
  readonly deltas: readonly Delta[];
}

/** A stamped delta: when the model server sent it, on the machine's monotonic clock, and how long it took to arrive here. */
interface Delta {
  readonly sentMs: number;
  readonly delayMs: number;
}

/** The results of a number of calls; failed calls are counted separately. */
interface Outcome<Result> {
  readonly results: readonly Result[];
  readonly failures: readonly string[];
  readonly seconds: number;
}

export type Volley = Outcome<Hit>;

/** How long a loop continues: until the time is over, or earlier after a number of calls. */
export interface Limit {
  readonly forMs: number;
  readonly atMost?: number;
}

/** A pool of keep-alive connections to one target. */
interface Gun {
  fire(shot: Shot): Promise<Hit>;
  close(): Promise<void>;
}

const STAMP = /@(\d+);/g;

let sent = 0;

/** Opens a pool of at most `connections` keep-alive connections. */
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
        ...(target.inputOf ?? asMessages)(shot.text.replace('#', String((sent += 1)))),
      });
      const startedAt = performance.now();
      const reply = await pool.request({ path: url.pathname, method: 'POST', headers, body });
      let text = '';
      let firstTextMs: number | undefined;
      const deltas: Delta[] = [];
      for await (const bytes of reply.body) {
        const piece = (bytes as Buffer).toString('latin1');
        text += piece;
        if (!shot.stream || !piece.includes('@')) continue;
        const arrivedMs = machineMs();
        firstTextMs ??= performance.now() - startedAt;
        for (const [, stamp] of piece.matchAll(STAMP)) {
          const sentMs = Number(stamp) / 1000;
          deltas.push({ sentMs, delayMs: arrivedMs - sentMs });
        }
      }
      const totalMs = performance.now() - startedAt;
      if (reply.statusCode !== 200 || !shot.expect.test(text)) {
        throw new Error(`${target.name}: ${reply.statusCode} ${text.slice(0, 300)}`);
      }
      return { totalMs, firstTextMs, deltas };
    },
  };
}

/** Keeps `concurrency` requests in flight until the limit is reached. */
export async function closedLoop(target: Target, shot: Shot, concurrency: number, limit: Limit): Promise<Volley> {
  const gun = makeGun(target, concurrency);
  const volley = await callInLoop(concurrency, limit, () => gun.fire(shot));
  await gun.close();
  return volley;
}

/** Sends `count` requests one after the other. */
export async function oneByOne(target: Target, shot: Shot, count: number): Promise<Volley> {
  return closedLoop(target, shot, 1, { forMs: Number.POSITIVE_INFINITY, atMost: count });
}

/** Sends `count` requests spread evenly over `overMs`; 0 sends them all at once. */
export async function spread(target: Target, shot: Shot, count: number, overMs: number): Promise<Volley> {
  const gun = makeGun(target, count);
  const volley = await outcomeOf(
    Array.from({ length: count }, (_, place) => async (record: Recorder<Hit>) => {
      if (overMs > 0) await pause((place * overMs) / count);
      await record(() => gun.fire(shot));
    }),
  );
  await gun.close();
  return volley;
}

/** Calls in `clients` slots, each making its next call after the reply to its last, until the limit is reached. */
export async function callInLoop<Result>(
  clients: number,
  { forMs, atMost = Number.POSITIVE_INFINITY }: Limit,
  call: () => Promise<Result>,
): Promise<Outcome<Result>> {
  const until = performance.now() + forMs;
  let begun = 0;
  return outcomeOf(
    Array.from({ length: clients }, () => async (record: Recorder<Result>) => {
      while (performance.now() < until && begun < atMost) {
        begun += 1;
        await record(call);
      }
    }),
  );
}

type Recorder<Result> = (call: () => Promise<Result>) => Promise<void>;

async function outcomeOf<Result>(
  slots: readonly ((record: Recorder<Result>) => Promise<void>)[],
): Promise<Outcome<Result>> {
  const results: Result[] = [];
  const failures: string[] = [];
  const record: Recorder<Result> = async (call) => {
    try {
      results.push(await call());
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
      // A server that refuses immediately must not cause a busy loop.
      await pause(50);
    }
  };
  const startedAt = performance.now();
  await Promise.all(slots.map((slot) => slot(record)));
  return { results, failures, seconds: (performance.now() - startedAt) / 1000 };
}

/** The machine's monotonic clock, which its processes share. */
export function machineMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}

export function pause(forMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, forMs));
}

/** The value below which `share` (0 to 1) of the values are. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
