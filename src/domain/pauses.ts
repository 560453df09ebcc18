// Pauses in work that is long: between its slices, others on the thread get their turn.
import type { Clock } from './clock.ts';

const LONGEST_HOLD_MS = 4;

/** To be awaited between slices: it lets go of the thread once that has been held for a while. */
export type Pause = () => Promise<void>;

export function makePause(clock: Pick<Clock, 'monotonic'>): Pause {
  let since = clock.monotonic();
  return async () => {
    if (clock.monotonic() - since < LONGEST_HOLD_MS) return;
    await new Promise((resolve) => void setImmediate(resolve));
    since = clock.monotonic();
  };
}
