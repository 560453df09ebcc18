// This process as a worker node: registered with a heartbeat, so that background work is admitted by the capacity of live nodes
// (D3).
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../log/log.ts';
import { makeService } from '../../services/service.ts';
import type { Store } from '../../store/open-store.ts';

const BEAT_MS = 10_000;

export interface NodeParts {
  readonly store: Pick<Store, 'nodes'>;
  readonly clock: Clock;
  readonly log: Log;
  /** The node's name: one row each. */
  readonly id: string;
  /** Runs that it can execute concurrently. */
  capacity(): number;
}

export interface WorkerNodeLife {
  /** Resolves when the node is registered, or the first try has failed. */
  start(): Promise<void>;
  /** Ends the heartbeat and unregisters the node. */
  stop(): Promise<void>;
}

export function makeNode({ store: { nodes }, clock, log, id, capacity }: NodeParts): WorkerNodeLife {
  let isStarted = false;

  async function work(): Promise<number> {
    await nodes.beat(id, capacity());
    return BEAT_MS;
  }

  const heartbeat = makeService({ work, failure: 'the heartbeat could not be written', clock, log });
  return {
    start: async () => {
      isStarted = true;
      heartbeat.wake();
      await heartbeat.settled();
    },
    stop: async () => {
      await heartbeat.stop();
      if (isStarted) await nodes.leave(id).catch(() => undefined);
    },
  };
}
