// Ends the wait of background runs that no worker takes. Without any waiting there is no timer.
import type { Clock, Timer } from '../../domain/clock.ts';
import type { Settings } from '../../domain/settings.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open-store.ts';

export interface QueueWait {
  /** Looks when the next wait ends. Called when a background run was accepted, and at start. */
  watch(): void;
  stop(): void;
}

/** A change of the limit is noticed at the latest after this. */
const LOOK_MS = 5_000;

export interface QueueWaitParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  settings(): Settings;
}

export function makeQueueWait({ store, clock, log, settings }: QueueWaitParts): QueueWait {
  let timer: Timer | undefined;
  let stopped = false;

  function watch(): void {
    if (timer !== undefined || stopped) return;
    const oldestAt = store.runs.oldestQueuedAt();
    if (oldestAt === undefined) return;
    const leftMs = oldestAt + waitMs() - clock.steady();
    timer = clock.after(Math.min(Math.max(leftMs, 1), LOOK_MS), () => void look());
  }

  const waitMs = () => settings().background.queueWaitSeconds * 1_000;

  async function look(): Promise<void> {
    try {
      const expired = await store.runs.expireQueued(waitMs());
      if (expired > 0) log.warn({ runs: expired }, 'background runs waited too long and failed');
    } catch (error) {
      log.error({ err: error }, 'waits in the queue could not be ended');
    }
    timer = undefined;
    watch();
  }

  return {
    watch,
    stop: () => {
      stopped = true;
      timer?.cancel();
    },
  };
}
