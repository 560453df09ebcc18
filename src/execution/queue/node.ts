// Worker nodes: this process as one, with a heartbeat, and which nodes are online, so that background work is admitted by the
// capacity of live nodes (D3).
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../log/log.ts';
import { makeService } from '../../services/service.ts';
import type { Store } from '../../store/open-store.ts';
import type { NodeRow } from '../../store/worker-nodes.ts';

const BEAT_MS = 10_000;
/** A node is online while its last beat was noticed no longer ago than this. */
const ONLINE_MS = 30_000;
/** What the queue is measured by when no node ever registered (§8). */
const CAPACITY_WITHOUT_NODES = 5;

export interface NodeParts {
  readonly store: Pick<Store, 'nodes'>;
  readonly clock: Clock;
  readonly log: Log;
  /** The node's name: one row each. */
  readonly id: string;
  /** Runs that this process can execute concurrently; null when it only watches other nodes. */
  readonly capacity: (() => number) | null;
}

/** A worker node as operators see it. */
export interface WorkerNode {
  readonly id: string;
  readonly capacity: number;
  readonly online: boolean;
}

export interface WorkerNodes {
  /** Resolves when this process is registered and knows the others, or the first try has failed. */
  start(): Promise<void>;
  /** Ends the heartbeat and unregisters this process. */
  stop(): Promise<void>;
  /** Every registered node, online or not, by name. */
  list(): readonly WorkerNode[];
  /** Background runs that the nodes which are online can execute at once (D3). */
  onlineCapacity(): number;
}

/** A node, and when its counter was seen to have moved, on the monotonic clock. */
interface Sighting extends NodeRow {
  readonly movedAt: number;
}

export function makeNode({ store: { nodes }, clock, log, id, capacity }: NodeParts): WorkerNodes {
  /** Undefined before the first look. */
  let seen: ReadonlyMap<string, Sighting> | undefined;

  async function work(): Promise<number> {
    // What stands there already may be left by a crash. What moves or is added from now on, is alive.
    if (seen === undefined) look(await nodes.list());
    if (capacity !== null) await nodes.beat(id, capacity());
    look(await nodes.list());
    return BEAT_MS;
  }

  function look(rows: readonly NodeRow[]): void {
    const now = seen === undefined ? -Infinity : clock.monotonic();
    const movedAt = (row: NodeRow): number => {
      const before = seen?.get(row.id);
      return before?.beats === row.beats ? before.movedAt : now;
    };
    seen = new Map(rows.map((row) => [row.id, { ...row, movedAt: movedAt(row) }]));
  }

  const sightings = (): Sighting[] => Array.from(seen?.values() ?? []);
  const isOnline = ({ beats, movedAt }: Sighting) => beats !== null && clock.monotonic() - movedAt <= ONLINE_MS;

  const heartbeat = makeService({ work, failure: 'the heartbeat could not be written', clock, log });
  let isStarted = false;
  return {
    start: async () => {
      isStarted = true;
      heartbeat.wake();
      await heartbeat.settled();
    },
    stop: async () => {
      await heartbeat.stop();
      if (isStarted && capacity !== null) await nodes.leave(id).catch(() => undefined);
    },
    list: () => sightings().map((node) => ({ id: node.id, capacity: node.capacity, online: isOnline(node) })),
    onlineCapacity: () => {
      if (seen?.size === 0) return CAPACITY_WITHOUT_NODES;
      const online = sightings().filter((node) => node.supportsOpenapi && isOnline(node));
      return online.reduce((sum, node) => sum + node.capacity, 0);
    },
  };
}
