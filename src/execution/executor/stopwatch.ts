// How long a run has been at work: the time that it had a worker, over all its attempts (docs/DECISIONS/0005).
import type { Clock } from '../../domain/clock.ts';

export interface Stopwatch {
  /** The run has its worker from now on. */
  start(): void;
  /** It has none any more. */
  stop(): void;
  /** Whole milliseconds at work until now. */
  workedMs(): number;
}

/** A stopwatch that starts with the time that earlier attempts have used. */
export function makeStopwatch(clock: Pick<Clock, 'monotonic'>, usedMs: number): Stopwatch {
  let beforeMs = usedMs;
  let startedAt: number | undefined;
  const read = () => beforeMs + (startedAt === undefined ? 0 : clock.monotonic() - startedAt);
  return {
    start: () => void (startedAt = clock.monotonic()),
    stop: () => {
      beforeMs = read();
      startedAt = undefined;
    },
    workedMs: () => Math.round(read()),
  };
}
