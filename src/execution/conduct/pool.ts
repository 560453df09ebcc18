// The pool: where runs are carried out. A new size takes effect with the next run, while earlier runs end where they are.
import { isDeepStrictEqual } from 'node:util';
import type { Brief } from '../../agent/port/protocol.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../log/log.ts';
import { type Crew, type CrewSize, makeCrew, type RunHandle, type RunSink, type WorkerEnd } from './crew.ts';
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

export interface Pool {
  /** Starts a run, on a thread of its own when it may have ended the last one. */
  start(brief: Brief, sink: PoolSink): RunHandle;
  /** Runs under way that are kept apart: they take no slot. */
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
  let alone: Crew | undefined;
  let size = initial;
  let current = hire(size);

  function hire(of: CrewSize): Crew {
    const crew = makeCrew({ size: of, clock, log, runEnded: () => dismiss(crew) });
    return crew;
  }

  /** A retired crew ends with its last run, and so does that of suspects. */
  function dismiss(crew: Crew): void {
    if (crew === current || crew.load().busy > 0) return;
    if (crew === alone) alone = undefined;
    retired.delete(crew);
    void crew.destroy();
  }

  const crews = () => [current, ...retired, ...(alone === undefined ? [] : [alone])];

  function start(brief: Brief, sink: PoolSink): RunHandle {
    const { runId } = brief;
    const isApart = suspects.has(runId);
    if (isApart) alone ??= hire({ ...size, threads: ALONE_THREADS, runsPerThread: 1 });
    const crew = isApart && alone !== undefined ? alone : current;
    const ended = (end: WorkerEnd) => {
      const isCharged = suspects.judge(runId, end, isApart);
      sink.ended(end.kind === 'lost' ? { ...end, isCharged } : end);
    };
    return crew.start(brief, { ...sink, ended });
  }

  return {
    start,
    apart: () => alone?.load().busy ?? 0,
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
