// The pool: where runs are carried out. A new size takes effect with the next run, while earlier runs end where they are.
import { isDeepStrictEqual } from 'node:util';
import type { Brief } from '../agent/protocol.ts';
import type { Clock } from '../domain/clock.ts';
import type { Log } from '../log.ts';
import { type Crew, type CrewSize, makeCrew, type RunHandle, type RunSink } from './crew.ts';

export interface Pool {
  start(brief: Brief, sink: RunSink): RunHandle;
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
  let size = initial;
  let current = hire();

  function hire(): Crew {
    const crew = makeCrew({ size, clock, log, runEnded: () => dismiss(crew) });
    return crew;
  }

  /** A retired crew ends with its last run. */
  function dismiss(crew: Crew): void {
    if (crew === current || crew.load().busy > 0) return;
    retired.delete(crew);
    void crew.destroy();
  }

  const crews = () => [current, ...retired];

  return {
    start: (brief, sink) => current.start(brief, sink),
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
      current = hire();
      dismiss(before);
    },
    destroy: async () => {
      await Promise.all(crews().map((crew) => crew.destroy()));
    },
  };
}
