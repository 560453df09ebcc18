// Rows of worker nodes: what can execute background runs. Whether one is online, each process observes itself (D3).
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';

/** A node as it has registered. */
export interface NodeRow {
  readonly id: string;
  readonly capacity: number;
  /** Whether it executes background runs. */
  readonly supportsOpenapi: boolean;
  /** Grows while the node is alive; null once it has left. */
  readonly beats: number | null;
}

/** The verbs on worker nodes. */
export function makeWorkerNodes({ write, read }: Database) {
  return {
    /** Registers a node, or counts a beat as its sign of life. */
    beat: write(function* (tx: Transaction, id: string, capacity: number): Step<void> {
      yield* tx.run(
        `INSERT INTO worker_nodes AS n (id, capacity, supports_openapi, beats, registered_at) VALUES (?, ?, 1, 1, ?)
         ON CONFLICT (id) DO UPDATE SET capacity = excluded.capacity, beats = coalesce(n.beats, 0) + 1`,
        id,
        capacity,
        tx.now,
      );
    }, 'free'),

    /** Notes that a node has left. */
    leave: write(function* (tx: Transaction, id: string): Step<void> {
      yield* tx.run('UPDATE worker_nodes SET beats = NULL WHERE id = ?', id);
    }),

    /** Every node that ever registered. */
    list: read(function* (tx: Reader): Step<NodeRow[]> {
      const rows = yield* tx.all<Omit<NodeRow, 'supportsOpenapi'> & { supportsOpenapi: number }>(
        'SELECT id, capacity, supports_openapi AS supportsOpenapi, beats FROM worker_nodes ORDER BY id',
      );
      return rows.map((row) => ({ ...row, supportsOpenapi: row.supportsOpenapi === 1 }));
    }),
  };
}
