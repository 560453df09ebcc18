// A node: a daemon that has registered in the database, and what others know of it (D3, L6).

/** A node beats this often. */
export const BEAT_MS = 5_000;
/** A node is online while a beat of it was noticed no longer ago than this (L6). */
export const ONLINE_MS = 15_000;
/** A node whose beats don't reach the database ends its runs after this time, before another one can take them (L4). */
export const SILENT_MS = 10_000;

/**
 * `online`: it starts runs. `draining`: it starts none, and some still execute there. `drained`: none do. `offline`: it has left, or
 * nothing is heard of it.
 */
export const NODE_STATES = ['online', 'draining', 'drained', 'offline'] as const;
export type NodeState = (typeof NODE_STATES)[number];

/** What a node says of itself with each beat. */
export interface NodeFacts {
  readonly id: string;
  /** The process that beats: another one at each start. */
  readonly process: string;
  /** Where its data directory is: a copy of it is at another place. */
  readonly place: string;
  readonly name: string;
  readonly version: string;
  readonly address: string;
  /** Runs that it can execute at once; 0 for one that executes none. */
  readonly slots: number;
  readonly labels: readonly string[];
  /** Runs that execute there, or are about to. */
  readonly running: number;
  /** Whether it starts no runs: as it knows it. */
  readonly draining: boolean;
  /** By how much the clock of its machine is ahead of the database's; negative when it is behind. Null while it isn't known. */
  readonly clockAheadMs: number | null;
  /**
   * What it has configured of what all nodes should have in common: a fingerprint by the name of a setting, or of a kind of definitions.
   * Null where it shares its database with nobody.
   */
  readonly configuration: Readonly<Record<string, string>> | null;
}

/** So much apart, two clocks aren't set by the same time. */
const CLOCK_SLACK_MS = 2_000;

/** Completes "the clock of … is"; null where it is about the database's. */
export function wordsOfClock(aheadMs: number | null): string | null {
  if (aheadMs === null || Math.abs(aheadMs) < CLOCK_SLACK_MS) return null;
  return `${(Math.abs(aheadMs) / 1_000).toFixed(1)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the database's`;
}

/** A node as operators see it. */
export interface KnownNode
  extends Pick<
    NodeFacts,
    'id' | 'name' | 'version' | 'address' | 'slots' | 'labels' | 'running' | 'draining' | 'clockAheadMs'
  > {
  readonly state: NodeState;
  /** Whether it does what is done once for all nodes. */
  readonly leader: boolean;
  /** Whether it is the one that answers. */
  readonly isThis: boolean;
  /** Whether another process uses its id: a copy of its data directory. */
  readonly isTwice: boolean;
  /** The settings, and kinds of definitions, that it has otherwise than most nodes, for longer than a change takes to reach all. */
  readonly differs: readonly string[];
  /** By the database's clock, epoch ms, as is the time of its first registration. */
  readonly lastBeatAt: number;
  readonly registeredAt: number;
}

/** How many nodes are in which state. */
export function countNodes(nodes: readonly Pick<KnownNode, 'state'>[]): Readonly<Record<NodeState, number>> {
  const counts = { online: 0, draining: 0, drained: 0, offline: 0 };
  for (const { state } of nodes) counts[state] += 1;
  return counts;
}
