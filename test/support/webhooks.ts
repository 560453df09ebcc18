// Receivers for tests of the sender: a pool that replies when the test says so.
import { EgressError } from '../../src/outbound/egress.ts';
import type { PooledReply, PooledRequest } from '../../src/outbound/exchange.ts';
import type { GuardedPool } from '../../src/outbound/guarded-pool.ts';

/** A request that waits for its reply. */
export interface Sent extends PooledRequest {
  readonly path: string;
  readonly eventId: string;
  readonly text: string;
  /** Replies with a status, or not at all. */
  reply(status: number | null, headers?: Readonly<Record<string, string>>): void;
}

export interface FakeReceivers extends GuardedPool {
  /** Every request so far, in order. */
  readonly sent: readonly Sent[];
  /** Those without a reply. */
  open(): Sent[];
}

/** Receivers that reply when a test calls `reply`, or by themselves with what `answer` gives for a request. */
export function fakeReceivers(answer: (request: Sent) => number | null | undefined = () => undefined): FakeReceivers {
  const sent: Sent[] = [];
  const waiting = new Set<Sent>();
  return {
    sent,
    open: () => [...waiting],
    close: () => undefined,
    send: async (request) =>
      new Promise<PooledReply>((resolve) => {
        const failed = (kind: 'unreachable' | 'canceled') => new EgressError(kind, `The request was ${kind}.`);
        const settle = (reply: Pick<PooledReply, 'status' | 'headers' | 'error'>) => {
          waiting.delete(one);
          resolve({ ...reply, body: Buffer.alloc(0), isWhole: reply.error === null });
        };
        const one: Sent = {
          ...request,
          path: new URL(request.url).pathname,
          eventId: request.headers['X-Service-Event-Id'] ?? '',
          text: Buffer.from(request.body).toString(),
          reply: (status, headers = {}) =>
            settle({ status, headers, error: status === null ? failed('unreachable') : null }),
        };
        sent.push(one);
        waiting.add(one);
        request.signal?.addEventListener('abort', () =>
          settle({ status: null, headers: {}, error: failed('canceled') }),
        );
        const status = answer(one);
        if (status !== undefined) one.reply(status);
      }),
  };
}
