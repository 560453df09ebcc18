// The worker pool: executes runs on threads, and says when each may start. A new size takes effect with the next run; earlier
// runs end where they are.
import { isDeepStrictEqual } from 'node:util';
import { WINDOW_MS } from '../../agent/port/outbox.ts';
import type { Brief } from '../../agent/port/protocol.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../log/log.ts';
import { briefBytes, shareBytes } from '../brief/brief-room.ts';
import { CAPACITIES, type PoolSize, type RunClass } from './capacity.ts';
import { makePermits } from './permits.ts';
import type { RunSink, WorkerEnd, WorkerRun } from './run-on-thread.ts';
import { makeSuspects } from './suspects.ts';
import { Thread } from './thread.ts';

/** How a run left the pool. `isCharged`: its loss counts against it. */
export type PoolEnd =
  | Extract<WorkerEnd, { kind: 'done' }>
  | { readonly kind: 'lost'; readonly why: string; readonly isCharged: boolean };

/** The right of one run to a thread, once it has room. */
export interface Reservation {
  /** Whether the run takes no slot, even while it waits. */
  readonly takesNoSlot: boolean;
  /** Resolves when the run may start, or has left. */
  readonly ready: Promise<void>;
  /** Starts the run. Only once the reservation is `ready`. */
  start(brief: Brief, sink: RunSink<PoolEnd>): WorkerRun;
  /** Call it when the run has ended, or will not start. A second call does nothing. */
  leave(): void;
}

export interface WorkerPool {
  /**
   * Reserves a thread for a run whose turn has this size in bytes: its own when it may have crashed the last one, or that of
   * other large runs when its turn exceeds its share of a thread.
   */
  reserve(runId: string, turnBytes: number): Reservation;
  /** Runs that take no slot, executing or waiting. */
  withoutSlot(): number;
  /** Maximum of concurrent runs. */
  slots(): number;
  /** Live threads, and runs in progress on them. */
  load(): { readonly threads: number; readonly busy: number };
  /** Replaces the threads when the size differs. */
  resize(size: PoolSize): void;
  /** Ends every thread at once; its runs are lost. */
  destroy(): Promise<void>;
}

export interface WorkerPoolParts {
  readonly size: PoolSize;
  readonly clock: Clock;
  readonly log: Log;
  /** Its one element is 1 while model calls have to ask for their budget, see `ThreadTask`. */
  readonly budgets: Int32Array<SharedArrayBuffer>;
  /** How long what is streamed waits for more; a commit's time unless given. */
  readonly windowMs?: number;
}

interface PooledThread {
  readonly runClass: RunClass;
  readonly size: PoolSize;
  readonly thread: Thread;
}

/** Makes a pool without threads. A run starts one when all of its class are full; they end after idling, those of suspects at once. */
export function makeWorkerPool(parts: WorkerPoolParts): WorkerPool {
  const permits = makePermits();
  const suspects = makeSuspects();
  let { size } = parts;
  let withoutSlot = 0;
  const threads = makeThreads(parts, () => size);

  function classOf(runId: string, turnBytes: number): RunClass {
    if (suspects.has(runId)) return 'suspect';
    return turnBytes > shareBytes(size) ? 'large' : 'common';
  }

  function reserve(runId: string, turnBytes: number): Reservation {
    const runClass = classOf(runId, turnBytes);
    const takesNoSlot = runClass !== 'common';
    const { promise: ready, resolve } = Promise.withResolvers<void>();
    const weight = runClass === 'large' ? briefBytes(turnBytes, size) : 1;
    const permit = permits.acquire(runClass, { limit: CAPACITIES[runClass](size).weight, weight }, resolve);
    let hasLeft = false;
    if (takesNoSlot) withoutSlot += 1;
    return {
      takesNoSlot,
      ready,
      start: (brief, sink) => {
        const ended = (end: WorkerEnd) => {
          const isCharged = suspects.judge(runId, end, runClass === 'suspect');
          sink.ended(end.kind === 'done' ? end : { kind: 'lost', why: end.why, isCharged });
        };
        return threads.pick(runClass).start(brief, { signals: sink.signals, ended });
      },
      leave: () => {
        if (hasLeft) return;
        hasLeft = true;
        if (takesNoSlot) withoutSlot -= 1;
        permit.release();
        resolve();
      },
    };
  }

  return {
    reserve,
    withoutSlot: () => withoutSlot,
    slots: () => size.threads * size.runsPerThread,
    load: threads.load,
    resize: (wanted) => {
      if (isDeepStrictEqual(wanted, size)) return;
      size = wanted;
      threads.endUnused();
    },
    destroy: threads.destroy,
  };
}

/** The live threads of a pool. Those of an earlier size get no runs. */
function makeThreads({ clock, log, budgets, windowMs = WINDOW_MS }: WorkerPoolParts, size: () => PoolSize) {
  const live = new Set<PooledThread>();
  const all = () => Array.from(live, ({ thread }) => thread);

  function open(runClass: RunClass): Thread {
    const { memoryMb, hangTimeoutMs } = size();
    const thread = new Thread({
      clock,
      memoryMb,
      hangTimeoutMs,
      budgets,
      windowMs,
      endsIdle: () => runClass === 'suspect' || pooled.size !== size(),
      gone: () => live.delete(pooled),
      failed: (error) => log.error({ err: error }, 'a worker thread failed'),
    });
    const pooled: PooledThread = { runClass, size: size(), thread };
    live.add(pooled);
    return thread;
  }

  /** The one with the fewest runs that has room; otherwise another, if there can be one. */
  function pick(runClass: RunClass): Thread {
    const capacity = CAPACITIES[runClass](size());
    const byLoad = Array.from(live)
      .filter((pooled) => pooled.runClass === runClass && pooled.size === size())
      .map(({ thread }) => thread)
      .toSorted((a, b) => a.load - b.load);
    const roomy = byLoad.find((thread) => !thread.isRefused && thread.load < capacity.runsPerThread);
    if (roomy !== undefined) return roomy;
    const [least] = byLoad;
    return least !== undefined && byLoad.length >= capacity.threads ? least : open(runClass);
  }

  return {
    pick,
    load: () => ({ threads: live.size, busy: all().reduce((sum, { load }) => sum + load, 0) }),
    endUnused: () => {
      for (const thread of all()) if (thread.load === 0) void thread.end('the size of the pool has changed');
    },
    destroy: async () => {
      await Promise.all(all().map((thread) => thread.end('its thread was ended')));
    },
  };
}
