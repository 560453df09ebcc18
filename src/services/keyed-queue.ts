// A keyed queue: works on keys in order of request, a few at a time and one at a time for each key.
import type { Clock, Timer } from '../domain/clock.ts';
import type { Log } from '../log/log.ts';

export interface KeyedQueueParts<Key> {
  /** How many keys are worked on at once. */
  readonly limit: number;
  /** Does one piece of a key's work; returns whether there may be more. Called again after a failure. */
  work(key: Key): Promise<boolean>;
  /** The log line of work that failed. */
  readonly failure: string;
  /** How long to wait before work that failed in this way is retried. */
  retryMs(error: unknown): number;
  readonly clock: Clock;
  readonly log: Log;
}

export interface KeyedQueue<Key> {
  /** Queues a key behind the others, unless it is already waiting. */
  add(key: Key): void;
  /** Starts nothing more; resolves when the work in progress has ended. */
  stop(): Promise<void>;
}

/** Makes a queue. A key with more to do goes to its end, so that none delays the others. */
export function makeKeyedQueue<Key>(parts: KeyedQueueParts<Key>): KeyedQueue<Key> {
  const { limit, work, failure, retryMs, clock, log } = parts;
  const waiting = new Set<Key>();
  const busy = new Map<Key, Promise<void>>();
  const retries = new Map<Key, Timer>();
  let stopped = false;

  function add(key: Key): void {
    if (stopped) return;
    waiting.add(key);
    advance();
  }

  function advance(): void {
    for (const key of waiting) {
      if (stopped || busy.size >= limit) return;
      if (busy.has(key)) continue;
      waiting.delete(key);
      busy.set(key, perform(key));
    }
  }

  async function perform(key: Key): Promise<void> {
    let more = false;
    try {
      more = await work(key);
    } catch (error) {
      if (!stopped) log.error({ err: error }, failure);
      retry(key, retryMs(error));
    }
    busy.delete(key);
    if (more) add(key);
    advance();
  }

  function retry(key: Key, delayMs: number): void {
    retries.get(key)?.cancel();
    const timer = clock.after(delayMs, () => {
      retries.delete(key);
      add(key);
    });
    retries.set(key, timer);
  }

  return {
    add,
    stop: async () => {
      stopped = true;
      for (const timer of retries.values()) timer.cancel();
      await Promise.all(busy.values());
    },
  };
}
