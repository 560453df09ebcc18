// Rows of worker nodes: what can execute background runs. Whether one is online, each process observes itself (D3).
import { type Database, FREES } from './engine/database.ts';
import type { Reader, Step, Transaction } from './engine/statement.ts';

/** A node as it has registered. */
export interface NodeRow {
  readonly id: string;
  readonly capacity: number;
  /** Whether it executes background runs. */
  readonly supportsOpenapi: boolean;
  /** Grows while the node is alive; null once it has left. */
  readonly beats: number | null;
}

/** A node is forgotten after this many beats of others: thirty days of one node that beats every ten seconds. */
export const KEPT_BEATS = (30 * 24 * 3_600) / 10;
/** Nodes kept at most: those that have beaten last. */
export const MOST_NODES = 1_000;
/** Nodes forgotten in one commit at most. */
const FORGOTTEN_AT_ONCE = 100;

// `beats` numbers the beats of all nodes in their order, which needs no clock. It is negative once the node has left; rows of
// nodes that left before beats were numbered have none, and are forgotten first.
const LAST_BEAT = 'abs(coalesce(beats, 0))';

/** The verbs on worker nodes. */
export function makeWorkerNodes({ write, read }: Database) {
  return {
    /** Registers a node, or counts a beat as its sign of life. Forgets nodes without one for long, but never this one. */
    beat: write(function* (tx: Transaction, id: string, capacity: number): Step<void> {
      const newest = yield* tx.get<{ beat: number }>(`SELECT max(${LAST_BEAT}) AS beat FROM worker_nodes`);
      const beat = (newest?.beat ?? 0) + 1;
      yield* tx.run(
        `INSERT INTO worker_nodes (id, capacity, supports_openapi, beats, registered_at) VALUES (?, ?, 1, ?, ?)
         ON CONFLICT (id) DO UPDATE SET capacity = excluded.capacity, beats = excluded.beats`,
        id,
        capacity,
        beat,
        tx.now,
      );
      yield* forget(tx, beat - KEPT_BEATS);
    }, FREES),

    /** Notes that a node has left. */
    leave: write(function* (tx: Transaction, id: string): Step<void> {
      yield* tx.run('UPDATE worker_nodes SET beats = -beats WHERE id = ? AND beats > 0', id);
    }),

    /** Every registered node, online or not. */
    list: read(function* (tx: Reader): Step<NodeRow[]> {
      const rows = yield* tx.all<Omit<NodeRow, 'supportsOpenapi'> & { supportsOpenapi: number }>(
        'SELECT id, capacity, supports_openapi, beats FROM worker_nodes ORDER BY id',
      );
      return rows.map(({ beats, ...row }) => ({
        ...row,
        supportsOpenapi: row.supportsOpenapi === 1,
        beats: beats === null || beats < 0 ? null : beats,
      }));
    }),
  };
}

/** Forgets nodes whose last beat is not after this one, and the oldest of too many. */
function* forget(tx: Transaction, upTo: number): Step<void> {
  const beyond = yield* tx.get<{ beat: number }>(
    `SELECT ${LAST_BEAT} AS beat FROM worker_nodes ORDER BY ${LAST_BEAT} DESC LIMIT 1 OFFSET ?`,
    MOST_NODES,
  );
  yield* tx.run(
    `DELETE FROM worker_nodes WHERE id IN
       (SELECT id FROM worker_nodes WHERE ${LAST_BEAT} <= ? ORDER BY ${LAST_BEAT} LIMIT ?)`,
    Math.max(upTo, beyond?.beat ?? 0),
    FORGOTTEN_AT_ONCE,
  );
}
