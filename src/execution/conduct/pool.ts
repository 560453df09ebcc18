// The pool: where runs are carried out. A new size takes effect with the next run, while earlier runs end where they are.
import { isDeepStrictEqual } from 'node:util';
import type { Brief } from '../../agent/port/protocol.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../log/log.ts';
import { briefBytes, shareBytes, threadBytes } from '../brief/brief-room.ts';
import { type Crew, type CrewSize, makeCrew, type RunHandle, type RunSink, type WorkerEnd } from './crew.ts';
import { type CrewPlan, makeSideCrew, type Seat } from './side-crew.ts';
import { makeSuspects } from './suspects.ts';

/** Threads for suspects: each has one run, and others wait for it. */
const ALONE_THREADS = 4;

/** How a run left the pool. `isCharged`: its loss counts against it. */
export type PoolEnd = Exclude<WorkerEnd, { kind: 'lost' }> | (Extract<WorkerEnd, { kind: 'lost' }> & Charge);
interface Charge {
  readonly isCharged: boolean;
}

/** Hears of one run in the pool. */
export type PoolSink = Omit<RunSink, 'ended'> & {
  /** Once, after every signal. */
  ended(end: PoolEnd): void;
};

/** Where one run is going to be carried out. */
export interface Place {
  /** Whether it is apart from the slots, so that the run takes none, also while it waits. */
  readonly isApart: boolean;
  /** Resolves when the run may start, or has left. */
  readonly ready: Promise<void>;
  /** Starts the run. Only once the place is `ready`. */
  start(brief: Brief, sink: PoolSink): RunHandle;
  /** To be called when the run has ended, or is not going to start. A second call does nothing. */
  leave(): void;
}

export interface Pool {
  /**
   * Takes a place for a run whose turn has so many bytes: on a thread of its own when it may have ended the last one, among
   * other large ones when its turn takes more than its share of a thread.
   */
  take(runId: string, turnBytes: number): Place;
  /** Runs that are kept apart, at work or waiting: they take no slot. */
  apart(): number;
  /** Runs that may be under way at once. */
  slots(): number;
  /** Threads that live now, and runs that are under way on them. */
  load(): { readonly threads: number; readonly busy: number };
  /** Replaces the threads when the size differs. */
  resize(size: CrewSize): void;
  /** Ends every thread at once; its runs are lost. */
  destroy(): Promise<void>;
}

export interface PoolParts {
  readonly size: CrewSize;
  readonly clock: Clock;
  readonly log: Log;
}

export function makePool({ size: initial, clock, log }: PoolParts): Pool {
  const retired = new Set<Crew>();
  const suspects = makeSuspects();
  let size = initial;
  let current = hire(size);
  const hireBeside = (of: CrewSize) => makeCrew({ size: of, clock, log });
  const alone = makeSideCrew({ plan: () => planAlone(size), hire: hireBeside });
  const large = makeSideCrew({ plan: () => planLarge(size), hire: hireBeside });
  const common: Seat = { ready: Promise.resolve(), crew: () => current, leave: () => undefined };

  function hire(of: CrewSize): Crew {
    const crew = makeCrew({ size: of, clock, log, runEnded: () => dismiss(crew) });
    return crew;
  }

  /** A retired crew ends with its last run. */
  function dismiss(crew: Crew): void {
    if (crew === current || crew.load().busy > 0) return;
    retired.delete(crew);
    void crew.destroy();
  }

  const crews = () => [current, ...retired, ...[alone.hired(), large.hired()].filter((crew) => crew !== undefined)];

  function seatFor(isSuspect: boolean, turnBytes: number): Seat {
    if (isSuspect) return alone.take(1);
    return turnBytes > shareBytes(size) ? large.take(briefBytes(turnBytes, size)) : common;
  }

  function take(runId: string, turnBytes: number): Place {
    const isSuspect = suspects.has(runId);
    const seat = seatFor(isSuspect, turnBytes);
    const start = (brief: Brief, sink: PoolSink) => {
      const ended = (end: WorkerEnd) => {
        const isCharged = suspects.judge(runId, end, isSuspect);
        sink.ended(end.kind === 'lost' ? { ...end, isCharged } : end);
      };
      return seat.crew().start(brief, { ...sink, ended });
    };
    return { isApart: seat !== common, ready: seat.ready, start, leave: seat.leave };
  }

  return {
    take,
    apart: () => alone.count() + large.count(),
    slots: () => size.threads * size.runsPerThread,
    load: () => {
      const loads = crews().map((crew) => crew.load());
      const sum = (what: 'threads' | 'busy') => loads.reduce((total, load) => total + load[what], 0);
      return { threads: sum('threads'), busy: sum('busy') };
    },
    resize: (wanted) => {
      if (isDeepStrictEqual(wanted, size)) return;
      size = wanted;
      const before = current;
      retired.add(before);
      current = hire(size);
      dismiss(before);
    },
    destroy: async () => {
      await Promise.all(crews().map((crew) => crew.destroy()));
    },
  };
}

function planAlone(size: CrewSize): CrewPlan {
  return { size: { ...size, threads: ALONE_THREADS, runsPerThread: 1 }, room: ALONE_THREADS };
}

/** One thread, because nobody says which of several a run would come to. */
function planLarge(size: CrewSize): CrewPlan {
  const room = threadBytes(size);
  return { size: { ...size, threads: 1, runsPerThread: Math.ceil(room / shareBytes(size)) }, room };
}
