// An operator's requests in the storm: repeated until the daemon has replied, or sent once and looked up when the reply is lost.
import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 50;
/** Sent again: it is not the daemon's time, or a standstill has kept the request from arriving in time, so that nothing was done. */
export const AGAIN: ReadonlySet<number> = new Set([408, 503]);

export interface Reply {
  readonly status: number;
  /** `data` of the envelope; undefined in errors. */
  readonly data: unknown;
  readonly text: string;
}

/** `lost`: nobody knows whether it will be carried out. `refused`: with 408 or 503; if it was carried out all the same, that is to be seen. */
export type NoReply = 'lost' | 'refused';

export interface Operator {
  /** Sends a request that may be repeated, until the reply is neither 408 nor 503. Throws on any other status than `expected`. */
  ask<T>(
    method: string,
    path: string,
    options?: { readonly body?: object; readonly expected?: readonly number[] },
  ): Promise<T>;
  /** Sends a request that arrives. */
  once(method: string, path: string, body?: object): Promise<Reply | NoReply>;
  /** Reads what everybody may read. */
  read(path: string): Promise<{ readonly status: number; readonly text: string }>;
}

/** Makes requests with an administrator's key. */
export function makeOperator({ url, apiKey }: { readonly url: string; readonly apiKey: string }): Operator {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };

  /** Undefined when it never arrived. */
  async function send(path: string, init: RequestInit): Promise<{ status: number; text: string } | null | undefined> {
    try {
      const response = await fetch(url + path, init);
      return { status: response.status, text: await response.text() };
    } catch (error) {
      return (error as { cause?: { code?: string } }).cause?.code === 'ECONNREFUSED' ? undefined : null;
    }
  }

  async function untilAnswered(path: string, init: RequestInit): Promise<{ status: number; text: string }> {
    for (;;) {
      const reply = await send(path, init);
      if (reply != null && !AGAIN.has(reply.status)) return reply;
      await sleep(PAUSE_MS);
    }
  }

  const initOf = (method: string, body?: object): RequestInit => ({
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

  return {
    ask: async <T>(method: string, path: string, { body, expected = [200] }: Parameters<Operator['ask']>[2] = {}) => {
      const { status, text } = await untilAnswered(path, initOf(method, body));
      if (!expected.includes(status)) throw new Error(`${method} ${path} was answered ${status}: ${text}`);
      return dataOf(text) as T;
    },
    once: async (method, path, body) => {
      for (;;) {
        const reply = await send(path, initOf(method, body));
        if (reply === null) return 'lost';
        if (reply !== undefined && AGAIN.has(reply.status)) return 'refused';
        if (reply !== undefined) return { ...reply, data: dataOf(reply.text) };
        await sleep(PAUSE_MS);
      }
    },
    read: (path) => untilAnswered(path, {}),
  };
}

function dataOf(text: string): unknown {
  return (JSON.parse(text) as { data?: unknown }).data;
}
