// This process as a worker node: registered with a heartbeat, so that background work is admitted by what can do it (D3).
import type { Clock, Timer } from '../../domain/clock.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open-store.ts';

const BEAT_MS = 10_000;

export interface NodeParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** The node's name: one row for each. */
  readonly id: string;
  /** Runs that it can execute at once. */
  capacity(): number;
}

export interface WorkerNodeLife {
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function makeNode({ store, clock, log, id, capacity }: NodeParts): WorkerNodeLife {
  let timer: Timer | undefined;
  let running = false;

  async function beat(): Promise<void> {
    await store.nodes.beat(id, capacity()).catch((error: unknown) => {
      log.error({ err: error }, 'the heartbeat could not be written');
    });
    if (running) timer = clock.after(BEAT_MS, () => void beat());
  }

  return {
    start: async () => {
      running = true;
      await beat();
    },
    stop: async () => {
      if (!running) return;
      running = false;
      timer?.cancel();
      await store.nodes.leave(id).catch(() => undefined);
    },
  };
}
