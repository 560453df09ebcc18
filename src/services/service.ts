// A background service: one loop that works when it is woken or when something is due, and sleeps in between.
import type { Clock, Timer } from '../domain/clock.ts';
import type { Log } from '../log/log.ts';

export interface ServiceParts {
  /**
   * Does what is due, and returns after how many milliseconds to work again; null when only a wake brings more. It may be
   * called before anything is due. `stopping` aborts when the service is stopped.
   */
  work(stopping: AbortSignal): Promise<number | null>;
  /** The log line of work that failed. */
  readonly failure: string;
  /** The longest pause before failed work is retried; 10 s by default. */
  readonly maxRetryMs?: number;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Service {
  /** Works now, within this call; if work is in progress, once more after it. */
  wake(): void;
  /** Resolves when the work in progress, if any, has ended. Never rejects. */
  settled(): Promise<void>;
  /** Starts no more work; resolves when the work in progress has ended. */
  stop(): Promise<void>;
}

/** The first pause after a failure; each further failure in a row doubles it. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 10_000;
/** A timer of Node fires at once when it is set to more than 24 days. */
const MAX_SLEEP_MS = 86_400_000;

/** Makes a service that sleeps until its first wake. */
export function makeService({ work, failure, maxRetryMs = MAX_RETRY_MS, clock, log }: ServiceParts): Service {
  const stopping = new AbortController();
  let timer: Timer | undefined;
  let working: Promise<void> | undefined;
  let again = false;
  let retryMs = RETRY_MS;

  function wake(): void {
    if (stopping.signal.aborted) return;
    timer?.cancel();
    timer = undefined;
    if (working === undefined) working = perform();
    else again = true;
  }

  async function perform(): Promise<void> {
    const delayMs = await attempt();
    working = undefined;
    if (stopping.signal.aborted) return;
    if (again) {
      again = false;
      wake();
    } else if (delayMs !== null) timer = clock.after(Math.min(delayMs, MAX_SLEEP_MS), wake);
  }

  /** Works once; returns when to work again, also after a failure. */
  async function attempt(): Promise<number | null> {
    try {
      const delayMs = await work(stopping.signal);
      retryMs = RETRY_MS;
      return delayMs;
    } catch (error) {
      if (!stopping.signal.aborted) log.error({ err: error }, failure);
      const pauseMs = Math.min(retryMs, maxRetryMs);
      retryMs = pauseMs * 2;
      return pauseMs;
    }
  }

  return {
    wake,
    settled: async () => working,
    stop: async () => {
      stopping.abort();
      timer?.cancel();
      await working;
    },
  };
}
