// Watches worker threads that have runs: a thread whose event loop hangs is ended, and its runs are lost.
import type { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../../domain/clock.ts';
import type { Line } from './line.ts';

interface WatchParts {
  /** The threads, whether they have runs or not. */
  workers(): readonly Worker[];
  /** The runs in progress. */
  lines(): readonly Line[];
  readonly clock: Clock;
  readonly hangTimeoutMs: number;
}

/** A thread's idle time, and when it was last seen to have grown. */
interface Idling {
  readonly idleMs: number;
  readonly at: number;
}

/** Pings every run while there are any. When one stays silent, threads that have not idled for the same time are ended. */
export function makeWatch({ workers, lines, clock, hangTimeoutMs }: WatchParts): { begin(): void; stop(): void } {
  let idling = new Map<number, Idling>();
  let timer: Timer | undefined;

  /** Threads whose loop has not idled for the whole timeout; a shorter period would mistake a starved thread for a hung one. */
  function restless(now: number): Worker[] {
    const before = idling;
    idling = new Map();
    return workers().filter((thread) => {
      const { idle, active: busy } = thread.performance.eventLoopUtilization();
      const known = before.get(thread.threadId);
      const seen = known?.idleMs === idle && busy > 0 ? known : { idleMs: idle, at: now };
      idling.set(thread.threadId, seen);
      return now - seen.at >= hangTimeoutMs;
    });
  }

  function look(): void {
    timer = undefined;
    const now = clock.monotonic();
    const silentMs = (run: Line) => (run.unanswered === null ? 0 : now - run.unanswered);
    const hung = restless(now);
    const active = lines();
    if (active.some((run) => silentMs(run) >= hangTimeoutMs)) for (const thread of hung) void thread.terminate();
    for (const run of active) {
      run.unanswered ??= now;
      run.ping();
    }
    begin();
  }

  function begin(): void {
    if (timer === undefined && lines().length > 0) timer = clock.after(hangTimeoutMs / 4, look);
  }

  return { begin, stop: () => timer?.cancel() };
}
