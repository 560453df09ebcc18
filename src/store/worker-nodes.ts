// Rows of nodes: who has registered, and its beats. Whether one is online, each process observes itself (L6).
import { notFound } from '../domain/errors.ts';
import type { NodeFacts } from '../domain/nodes/node.ts';
import type { BudgetKit } from './budgets/budget-kit.ts';
import { rescueNode } from './lifecycle/rescue-node.ts';
import type { Rescued } from './lifecycle/rescue-runs.ts';
import { makeAuditedWrite, type Note } from './audit/record-entry.ts';
import { COMMITTED, type Database, FREES } from './engine/database.ts';
import { flag, json, plain, rowKind } from './engine/row.ts';
import type { Reader, Step, Transaction } from './engine/statement.ts';

/** A node as it stands in its row. */
export interface NodeRow extends Omit<NodeFacts, 'process'> {
  /** The process that beats; null once it has left. */
  readonly process: string | null;
  /** Whether the node knew that it drains when it counted its runs. */
  readonly noticed: boolean;
  /** Grows while the node is alive. */
  readonly beats: number;
  /** Grows while another process tries to beat with its id. */
  readonly contests: number;
  /** By the database's clock, as is how long ago that was. */
  readonly lastBeatAt: number;
  readonly silentMs: number;
  readonly registeredAt: number;
  /** Whether it does what is done once for all nodes. */
  readonly leader: boolean;
}

/** A node is forgotten after thirty days without a beat. */
export const KEPT_MS = 30 * 24 * 3_600_000;
/** Nodes kept at most: those that have beaten last. */
export const MOST_NODES = 1_000;
/** Nodes forgotten in one commit at most. */
const FORGOTTEN_AT_ONCE = 100;

// One statement. It changes nothing where another process has the row: not one that has left, and not the one that is replaced.
const BEAT = `INSERT INTO worker_nodes
    (id, process, place, name, version, address, slots, labels, running, draining, noticed, clock_ahead_ms, configuration, beats, contests, last_beat_at, registered_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0, database_now(), database_now())
  ON CONFLICT (id) DO UPDATE SET process = excluded.process, place = excluded.place, name = excluded.name,
    version = excluded.version, address = excluded.address, slots = excluded.slots, labels = excluded.labels,
    running = excluded.running, noticed = excluded.noticed, clock_ahead_ms = excluded.clock_ahead_ms,
    configuration = excluded.configuration, beats = worker_nodes.beats + 1, last_beat_at = excluded.last_beat_at
  WHERE worker_nodes.process IS NULL OR worker_nodes.process IN (excluded.process, ?)
  RETURNING draining, leader, beats = 1 AS is_new`;

/** Who has left, or was lost, leads no more; the next one that beats does. */
const UNLEAD = 'UPDATE worker_nodes SET leader = 0 WHERE leader = 1 AND process IS NULL';
const LEAD = `UPDATE worker_nodes SET leader = 1
  WHERE id = ? AND NOT EXISTS (SELECT 1 FROM worker_nodes WHERE leader = 1)`;
const LEAVE = `UPDATE worker_nodes SET process = NULL, running = 0, leader = 0 WHERE id = ? AND process = ?`;
const LOSE = `UPDATE worker_nodes SET process = NULL, running = 0, leader = 0 WHERE id = ? AND beats = ? AND process IS NOT NULL`;
// Its data directory may be gone, and the anchor of the audit log in it.
const UNANCHOR = 'DELETE FROM audit_anchors WHERE node_id = ?';
// Before the first node, only the key of the installation is known.
const AT_HOME = `INSERT INTO installation (id, home_node) VALUES (1, ?)
  ON CONFLICT (id) DO UPDATE SET home_node = excluded.home_node WHERE installation.home_node = ''`;

const NODE = rowKind<NodeRow>({
  id: plain,
  process: plain,
  place: plain,
  name: plain,
  version: plain,
  address: plain,
  slots: plain,
  labels: json<readonly string[]>,
  running: plain,
  draining: flag,
  clockAheadMs: plain,
  configuration: json<NodeFacts['configuration']>,
  noticed: flag,
  beats: plain,
  contests: plain,
  lastBeatAt: plain,
  silentMs: plain,
  registeredAt: plain,
  leader: flag,
});
const LIST = `SELECT *, database_now() - last_beat_at AS silent_ms FROM worker_nodes ORDER BY name, id`;

/** The verbs on nodes. */
export function makeWorkerNodes(database: Database, kit: BudgetKit) {
  const { write, read } = database;
  const auditedWrite = makeAuditedWrite(database);
  return {
    /**
     * Registers a node, or counts a beat as its sign of life, in place of the process that is replaced, if any. Returns whether its
     * row says that it drains; null when another process has the row, which gets to know of it.
     */
    beat: write(beat, { ...FREES, ...COMMITTED, scope: () => [] }),

    /** Notes that a process has left its node. */
    leave: write(function* (tx: Transaction, { id, process }: Pick<NodeFacts, 'id' | 'process'>): Step<void> {
      if ((yield* tx.count(LEAVE, id, process)) === 1) yield* rescueNode(tx, kit, id);
    }, FREES),

    /**
     * Takes the runs of a node that was lost, unless it has beaten since: from then on nothing of its process is committed. Returns what
     * became of them; null when it lives.
     */
    takeOver: write(function* (tx: Transaction, { id, beats }: Pick<NodeRow, 'id' | 'beats'>): Step<Rescued | null> {
      if ((yield* tx.count(LOSE, id, beats)) === 0) return null;
      return yield* rescueNode(tx, kit, id);
    }, FREES),

    /** Every registered node, online or not, by name. */
    list: read(function* (tx: Reader): Step<NodeRow[]> {
      return yield* tx.rows(NODE).all(LIST);
    }, 'committed'),

    /** Has a node drain, or start runs again; it sees that with its next beat. Throws `not_found`. */
    setDraining: (id: string, draining: boolean, note?: Note<{ readonly id: string }>) =>
      auditedWrite(note, function* (tx) {
        const found = yield* tx.count('UPDATE worker_nodes SET draining = ? WHERE id = ?', Number(draining), id);
        if (found === 0) throw notFound('Node');
        return { id };
      }),

    /** Removes a node, unless it has beaten again. Returns whether it was removed. */
    remove: ({ id, beats }: Pick<NodeRow, 'id' | 'beats'>, note?: Note<boolean>) =>
      auditedWrite(note, function* (tx) {
        if ((yield* tx.count('DELETE FROM worker_nodes WHERE id = ? AND beats = ?', id, beats)) === 0) return false;
        yield* tx.run(UNANCHOR, id);
        yield* rescueNode(tx, kit, id);
        return true;
      }),

    /** Forgets nodes without a beat for long, and the oldest of too many, but never this one. Returns whether there may be more. */
    forget: write(function* (tx: Transaction, id: string): Step<boolean> {
      const old = yield* tx.all<{ id: string }>(
        `SELECT id FROM worker_nodes WHERE id <> ? AND last_beat_at < database_now() - ? ORDER BY last_beat_at LIMIT ?`,
        id,
        KEPT_MS,
        FORGOTTEN_AT_ONCE,
      );
      const beyond = yield* tx.all<{ id: string }>(
        'SELECT id FROM worker_nodes WHERE id <> ? ORDER BY last_beat_at DESC LIMIT ? OFFSET ?',
        id,
        FORGOTTEN_AT_ONCE,
        MOST_NODES - 1,
      );
      const gone = new Set([...old, ...beyond].map((row) => row.id));
      for (const one of gone) {
        yield* tx.run('DELETE FROM worker_nodes WHERE id = ?', one);
        yield* tx.run(UNANCHOR, one);
        yield* rescueNode(tx, kit, one);
      }
      return gone.size >= FORGOTTEN_AT_ONCE;
    }, FREES),
  };
}

/** What the row of a node says to the process that beats. */
export interface BeatAnswer {
  readonly draining: boolean;
  readonly leader: boolean;
}

function* beat(tx: Transaction, node: NodeFacts, replaced: string | null): Step<BeatAnswer | null> {
  const draining = Number(node.draining);
  const row = yield* tx.get<{ draining: number; leader: number; isNew: number }>(
    BEAT,
    node.id,
    node.process,
    node.place,
    node.name,
    node.version,
    node.address,
    node.slots,
    JSON.stringify(node.labels),
    node.running,
    draining,
    draining,
    node.clockAheadMs,
    node.configuration === null ? null : JSON.stringify(node.configuration),
    replaced ?? node.process,
  );
  if (row === undefined) {
    yield* tx.run('UPDATE worker_nodes SET contests = contests + 1 WHERE id = ?', node.id);
    return null;
  }
  if (row.isNew === 1) yield* tx.run(AT_HOME, node.id);
  return { draining: row.draining === 1, leader: row.leader === 1 || (yield* leadIn(tx, node)) };
}

function* leadIn(tx: Transaction, { id }: NodeFacts): Step<boolean> {
  yield* tx.run(UNLEAD);
  return (yield* tx.count(LEAD, id)) === 1;
}
