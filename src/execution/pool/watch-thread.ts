// Watches a worker thread that has runs: when its event loop hangs, it is ended, and its runs are lost.
import type { Worker } from 'node:worker_threads';
import type { Clock } from '../../domain/clock.ts';

interface WatchParts {
  /** Undefined when the system refused it. */
  worker(): Worker | undefined;
  ping(): void;
  hasRuns(): boolean;
  readonly clock: Clock;
  readonly hangTimeoutMs: number;
}

export interface Watch {
  /** Call it when a run begins. */
  begin(): void;
  /** Call it with each message of the thread. */
  heard(): void;
}

/** Pings the thread while it has runs. When it stays silent and its loop has not idled for the same time, it is ended. */
export function makeWatch({ worker, ping, hasRuns, clock, hangTimeoutMs }: WatchParts): Watch {
  /** Monotonic time of the oldest unanswered ping. */
  let silentSince: number | null = null;
  /** The loop's idle time, and when it was last seen to have grown. */
  let idle = { ms: -1, at: 0 };
  let isWatching = false;

  /** Whether the loop has not idled for the whole timeout; a shorter period would mistake a starved thread for a hung one. */
  function isRestless(thread: Worker, now: number): boolean {
    const { idle: ms, active: busy } = thread.performance.eventLoopUtilization();
    if (idle.ms !== ms || busy === 0) idle = { ms, at: now };
    return now - idle.at >= hangTimeoutMs;
  }

  function look(): void {
    isWatching = false;
    if (!hasRuns()) return;
    const now = clock.monotonic();
    const thread = worker();
    const isHung = thread !== undefined && isRestless(thread, now);
    if (isHung && silentSince !== null && now - silentSince >= hangTimeoutMs) void thread.terminate();
    silentSince ??= now;
    ping();
    begin();
  }

  function begin(): void {
    if (isWatching) return;
    isWatching = true;
    clock.after(hangTimeoutMs / 4, look);
  }

  return {
    begin,
    heard: () => {
      silentSince = null;
    },
  };
}
