// Rows of worker nodes: what can execute background runs, as far as heartbeats tell (D3).
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';

/** A node is online while its last heartbeat is not older than this. */
const ONLINE_MS = 30_000;
/** What the queue is measured by when no node ever registered (§8). */
const CAPACITY_WITHOUT_NODES = 5;

/** A worker node as operators see it. */
export interface WorkerNode {
  readonly id: string;
  readonly capacity: number;
  readonly online: boolean;
  readonly registeredAt: number;
}

interface NodeRow {
  id: string;
  capacity: number;
  heartbeat_at: number;
  registered_at: number;
}

/** Runs that the online nodes can execute at once. */
export function* countCapacity(tx: Transaction): Step<number> {
  const row = (yield* tx.get<{ registered: number; capacity: number | null }>(
    `SELECT count(*) AS registered,
       sum(CASE WHEN supports_openapi = 1 AND heartbeat_at >= ? THEN capacity ELSE 0 END) AS capacity FROM worker_nodes`,
    tx.steadyNow - ONLINE_MS,
  ))!;
  return row.registered === 0 ? CAPACITY_WITHOUT_NODES : (row.capacity ?? 0);
}

/** The verbs on worker nodes. */
export function makeWorkerNodes({ write, read }: Database) {
  return {
    /** Registers a node, or tells that it is alive. */
    beat: write(function* (tx: Transaction, id: string, capacity: number): Step<void> {
      yield* tx.run(
        `INSERT INTO worker_nodes (id, capacity, supports_openapi, heartbeat_at, registered_at)
             VALUES (?, ?, 1, ?, ?)
             ON CONFLICT (id) DO UPDATE SET capacity = excluded.capacity, heartbeat_at = excluded.heartbeat_at`,
        id,
        capacity,
        tx.steadyNow,
        tx.now,
      );
    }, 'free'),

    /** Tells that a node has left. */
    leave: write(function* (tx: Transaction, id: string): Step<void> {
      yield* tx.run('UPDATE worker_nodes SET heartbeat_at = 0 WHERE id = ?', id);
    }),

    /** Every node that ever registered; `steadyNow` is on the clock that does not jump. */
    list: read(function* (tx: Reader, steadyNow: number): Step<WorkerNode[]> {
      return (yield* tx.all<NodeRow>('SELECT * FROM worker_nodes ORDER BY id')).map((row) => ({
        id: row.id,
        capacity: row.capacity,
        online: row.heartbeat_at >= steadyNow - ONLINE_MS,
        registeredAt: row.registered_at,
      }));
    }),
  };
}
