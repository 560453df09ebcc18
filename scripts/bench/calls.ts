// The benchmark's calls other than conversations: requests any path of a server, reads the whole reply and checks its
// status.
import { Pool } from 'undici';
import type { Target } from './load.ts';

/** One call. */
export interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  /** The expected status. */
  readonly expect: number;
}

/** Keep-alive connections to one server. */
export interface Caller {
  /** Returns the body, parsed when it is JSON, and the time to its last byte. Throws on any other status than the expected one. */
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
      const isJson = String(reply.headers['content-type']).startsWith('application/json');
      return { body: isJson ? (JSON.parse(text) as unknown) : text, tookMs };
    },
    close: () => pool.close(),
  };
}
