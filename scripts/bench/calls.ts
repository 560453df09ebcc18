// Calls of the benchmark that are no conversation: any path of a server, its answer read whole and its status checked.
import { Pool } from 'undici';
import type { Target } from './load.ts';

/** One call. */
export interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  /** The status of a right answer. */
  readonly expect: number;
}

/** Kept connections to one server. */
export interface Caller {
  /** Answers the body and how long it took to its last byte. Throws on any other status than the expected one. */
  call(call: Call): Promise<{ readonly body: unknown; readonly tookMs: number }>;
  close(): Promise<void>;
}

/** Opens at most `connections` connections to a target's server. */
export function makeCaller({ name, url, headers }: Target, connections: number): Caller {
  const pool = new Pool(new URL(url).origin, { connections, pipelining: 1 });
  return {
    call: async ({ method, path, body, expect }) => {
      const startedAt = performance.now();
      const reply = await pool.request({
        method,
        path,
        headers: { 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await reply.body.text();
      const tookMs = performance.now() - startedAt;
      if (reply.statusCode !== expect) throw new Error(`${name}: ${path}: ${reply.statusCode} ${text.slice(0, 300)}`);
      return { body: JSON.parse(text) as unknown, tookMs };
    },
    close: () => pool.close(),
  };
}
