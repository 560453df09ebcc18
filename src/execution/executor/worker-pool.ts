// The worker pool: executes runs on groups of threads. A new size takes effect with the next run; earlier runs end where they
// are.
import { isDeepStrictEqual } from 'node:util';
import type { Brief } from '../../agent/port/protocol.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../log/log.ts';
import { briefBytes, shareBytes, threadBytes } from '../brief/brief-room.ts';
import type { RunHandle, RunSink, WorkerEnd } from './line.ts';
import { makeThreadGroup, type PoolSize, type ThreadGroup, type ThreadGroupParts } from './thread-group.ts';
import { type GroupPlan, makeOnDemandGroup, type Reservation } from './on-demand-group.ts';
import { makeSuspects } from './suspects.ts';

/** Threads for suspects: each has one run, others wait for it. */
const ALONE_THREADS = 4;

/** How a run left the pool. `isCharged`: its loss counts against it. */
export type PoolEnd = Exclude<WorkerEnd, { kind: 'lost' }> | (Extract<WorkerEnd, { kind: 'lost' }> & Charge);
interface Charge {
  readonly isCharged: boolean;
}

/** Receives the events of one run in the pool. */
export type PoolSink = Omit<RunSink, 'ended'> & {
  /** Called once, after every signal. */
  ended(end: PoolEnd): void;
};

/** Where one run will be executed. */
export interface Place {
  /** Whether the run takes no slot, even while it waits. */
  readonly takesNoSlot: boolean;
  /** Resolves when the run may start, or has left. */
  readonly ready: Promise<void>;
  /** Starts the run. Only once the place is `ready`. */
  start(brief: Brief, sink: PoolSink): RunHandle;
  /** Call it when the run has ended, or will not start. A second call does nothing. */
  leave(): void;
}

export interface WorkerPool {
  /**
   * Takes a place for a run whose turn has this size in bytes: on its own thread when it may have crashed the last one, or
   * with other large runs when its turn exceeds its share of a thread.
   */
  take(runId: string, turnBytes: number): Place;
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
  readonly budgets: ThreadGroupParts['budgets'];
}

export function makeWorkerPool({ size: initial, clock, log, budgets }: WorkerPoolParts): WorkerPool {
  const retired = new Set<ThreadGroup>();
  const suspects = makeSuspects();
  let size = initial;
  let current = create(size);
  const createGroup = (of: PoolSize) => makeThreadGroup({ size: of, clock, log, budgets });
  const alone = makeOnDemandGroup({ endsWithRuns: true, plan: () => planAlone(size), create: createGroup });
  const large = makeOnDemandGroup({ endsWithRuns: false, plan: () => planLarge(size), create: createGroup });
  const common: Reservation = { ready: Promise.resolve(), group: () => current, leave: () => undefined };

  function create(of: PoolSize): ThreadGroup {
    const group = makeThreadGroup({ size: of, clock, log, budgets, runEnded: () => endIfUnused(group) });
    return group;
  }

  /** A retired group ends with its last run. */
  function endIfUnused(group: ThreadGroup): void {
    if (group === current || group.load().busy > 0) return;
    retired.delete(group);
    void group.destroy();
  }

  const onDemand = () => [alone.current(), large.current()].filter((group) => group !== undefined);
  const groups = () => [current, ...retired, ...onDemand()];

  function reserve(isSuspect: boolean, turnBytes: number): Reservation {
    if (isSuspect) return alone.take(1);
    return turnBytes > shareBytes(size) ? large.take(briefBytes(turnBytes, size)) : common;
  }

  function take(runId: string, turnBytes: number): Place {
    const isSuspect = suspects.has(runId);
    const reservation = reserve(isSuspect, turnBytes);
    const start = (brief: Brief, sink: PoolSink) => {
      const ended = (end: WorkerEnd) => {
        const isCharged = suspects.judge(runId, end, isSuspect);
        sink.ended(end.kind === 'lost' ? { ...end, isCharged } : end);
      };
      return reservation.group().start(brief, { ...sink, ended });
    };
    return { takesNoSlot: reservation !== common, ready: reservation.ready, start, leave: reservation.leave };
  }

  return {
    take,
    withoutSlot: () => alone.count() + large.count(),
    slots: () => size.threads * size.runsPerThread,
    load: () => {
      const loads = groups().map((group) => group.load());
      const sum = (what: 'threads' | 'busy') => loads.reduce((total, load) => total + load[what], 0);
      return { threads: sum('threads'), busy: sum('busy') };
    },
    resize: (wanted) => {
      if (isDeepStrictEqual(wanted, size)) return;
      size = wanted;
      const before = current;
      retired.add(before);
      current = create(size);
      endIfUnused(before);
    },
    destroy: async () => {
      await Promise.all(groups().map((group) => group.destroy()));
    },
  };
}

function planAlone(size: PoolSize): GroupPlan {
  return { size: { ...size, threads: ALONE_THREADS, runsPerThread: 1 }, room: ALONE_THREADS };
}

/** One thread, because it is unknown which of several would get a run. */
function planLarge(size: PoolSize): GroupPlan {
  const room = threadBytes(size);
  return { size: { ...size, threads: 1, runsPerThread: Math.ceil(room / shareBytes(size)) }, room };
}
