// This process as a node among the others: whether it may start runs, which nodes are online, and what they can execute (D3, L6).
import { type KnownNode, ONLINE_MS } from '../../domain/nodes/node.ts';
import type { Store } from '../../store/open-store.ts';
import { type HeartbeatParts, makeHeartbeat } from './heartbeat.ts';
import { makeSightings, stateOf } from './sightings.ts';

/** What the queue is measured by when no node that executes runs ever registered (§8). */
const CAPACITY_WITHOUT_NODES = 5;

const SILENT = `The daemon's database has not answered for ${ONLINE_MS / 1_000} seconds.`;

export interface WorkerNodes {
  /**
   * Resolves when this process is registered and knows the others, or its first beat has failed. Throws `conflict` when another process
   * that runs has its id.
   */
  start(): Promise<void>;
  /** Ends the heartbeat and notes that this process has left. */
  stop(): Promise<void>;
  /** Looks at the nodes now. */
  look(): Promise<void>;
  /** Has a node drain or start runs again: this one at once, another one with its next beat. Throws `not_found`. */
  setDraining(...input: Parameters<Store['nodes']['setDraining']>): Promise<void>;
  /** Removes a node. Returns false when it has beaten since the last look. */
  remove(id: string, note?: Parameters<Store['nodes']['remove']>[1]): Promise<boolean>;
  readonly id: string;
  /** Other nodes that start runs now. */
  others(): readonly string[];
  /** Whether this process may start runs: it doesn't drain, and is the only one with its id. */
  mayStart(): boolean;
  /** This node, and what keeps it from starting runs, in words; null without. */
  own(): { readonly id: string; readonly name: string; readonly fault: string | null };
  /** That the database takes no beats: the other nodes have this one for lost; null otherwise. For everybody (L8). */
  silence(): string | null;
  /** Every registered node, online or not, by name. */
  list(): readonly KnownNode[];
  /** Background runs that the nodes which are online and don't drain can execute at once (D3, L6). */
  onlineCapacity(): number;
  /** Whether there are nodes online that execute runs, and each of them drains. */
  allDrain(): boolean;
}

/** Makes it. It beats from its start on. */
export function makeNode(parts: HeartbeatParts): WorkerNodes {
  const { nodes } = parts.store;
  const { id } = parts.identity;
  const { facts } = parts;
  const sightings = makeSightings(parts.clock);
  const heartbeat = makeHeartbeat(parts, sightings);
  const { start, stop, refresh, isDraining, copied, fault, silentMs, clockAheadMs } = heartbeat;

  async function look(): Promise<void> {
    sightings.look(await nodes.list());
  }

  /** This process knows more of itself than its row says. */
  function knownAs(node: Omit<KnownNode, 'isThis'>): KnownNode {
    if (node.id !== id || copied() !== null) return { ...node, isThis: node.id === id };
    const { name, version, address, slots, labels, running } = facts();
    const draining = isDraining();
    const state = stateOf({ draining, noticed: true, running }, true);
    const own = { name, version, address, slots, labels, running, draining, clockAheadMs: clockAheadMs() };
    return { ...node, ...own, state, isThis: true };
  }

  const list = (): KnownNode[] => sightings.list().map(knownAs);
  const workers = () => list().filter(({ slots }) => slots > 0);

  return {
    id,
    others: () =>
      sightings.list().flatMap((one) => (one.state === 'online' && one.slots > 0 && one.id !== id ? [one.id] : [])),
    start,
    stop,
    look,
    setDraining: async (...input) => {
      await nodes.setDraining(...input);
      await refresh();
    },
    remove: async (of, note) => {
      const row = sightings.find(of);
      const isRemoved = row !== undefined && (await nodes.remove(row, note));
      await look();
      return isRemoved;
    },
    mayStart: () => fault() === null,
    own: () => ({ id, name: facts().name, fault: fault() }),
    silence: () => (silentMs() > ONLINE_MS ? SILENT : null),
    list,
    onlineCapacity: () => {
      if (!sightings.any()) return 0;
      const all = workers();
      if (all.length === 0) return CAPACITY_WITHOUT_NODES;
      return all.filter(({ state }) => state === 'online').reduce((sum, { slots }) => sum + slots, 0);
    },
    allDrain: () => {
      const online = workers().filter(({ state }) => state !== 'offline');
      return online.length > 0 && online.every(({ state }) => state !== 'online');
    },
  };
}
