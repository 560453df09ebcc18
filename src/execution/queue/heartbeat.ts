// The heartbeat of this process as a node: it says what is true of the node, and learns whether it drains, or is there twice (L6).
import type { Clock, Timer } from '../../domain/clock.ts';
import { BEAT_MS, type NodeFacts, SILENT_MS } from '../../domain/nodes/node.ts';
import type { NodeIdentity } from '../../files/node-id.ts';
import type { Log } from '../../log/log.ts';
import { makeService, type Service } from '../../services/service.ts';
import type { Store } from '../../store/open-store.ts';
import type { Peers } from '../../store/engine/database.ts';
import type { BeatAnswer, NodeRow } from '../../store/worker-nodes.ts';
import { shellWord } from '../../terminal/shell-word.ts';
import { makeOwnClock } from './own-clock.ts';
import type { Sightings } from './sightings.ts';
import { takeNode, wordsOfCopy } from './take-node.ts';

/** After a beat that was slow. */
const LEAST_PAUSE_MS = 1_000;
/** How often nodes that have long been silent are forgotten: once an hour. */
const BEATS_BETWEEN_FORGETTING = 3_600_000 / BEAT_MS;

export interface HeartbeatParts {
  readonly store: Pick<Store, 'nodes'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly identity: NodeIdentity;
  /** Of this process: no other one has it. */
  readonly process: string;
  /** What is true of the node now. */
  facts(): Omit<NodeFacts, 'id' | 'process' | 'place' | 'draining' | 'clockAheadMs'>;
  /** Wall time as the machine has it. */
  readonly machine: Pick<Clock, 'now'>;
  /** Called when it may start runs again. */
  opened(): void;
  /** The other daemons on the database, where there may be some. */
  readonly peers: Pick<Peers, 'fence'> | null;
  /** Called once, when this node begins to do what is done once for all nodes. */
  led(): void;
  /** Called when its beats have not reached the database for so long that its runs have to end. */
  silenced(): void;
}

export interface Heartbeat {
  /** Resolves with the first beat, or when it has failed. Throws `conflict` when another process that runs has the id. */
  start(): Promise<void>;
  /** Ends the beats, and notes that this process has left. */
  stop(): Promise<void>;
  /** Beats now. */
  refresh(): Promise<void>;
  isDraining(): boolean;
  /** Why this process isn't the node of its row: another one has its id; null when it is. */
  copied(): string | null;
  /** What keeps the node from starting runs; null without. */
  fault(): string | null;
  /** For how many milliseconds the database has taken no beat. */
  silentMs(): number;
  clockAheadMs(): NodeFacts['clockAheadMs'];
}

export function makeHeartbeat(
  parts: HeartbeatParts,
  sightings: Pick<Sightings, 'look' | 'find' | 'lost' | 'isContested'>,
): Heartbeat {
  const { store, clock, log, identity, process, facts, peers } = parts;
  const { nodes } = store;
  const { id, place, file } = identity;
  const who = { id, process, place };
  const { isDraining, copied, fault, follow, setRival, setContested } = makeStanding(parts);
  /** The process whose row this one takes. */
  let replaced: string | null = null;
  const { comparing, aheadMs } = makeOwnClock(parts);
  const forget = makeForgetting(parts);
  let isStarted = false;
  const allFacts = (): NodeFacts => ({ ...facts(), ...who, draining: isDraining(), clockAheadMs: aheadMs() });
  const service = makeService({ work, failure: 'the heartbeat could not be written', clock, log });
  const silence = makeSilence(parts);

  async function beat() {
    const begunAt = clock.monotonic();
    const said = await nodes.beat(allFacts(), replaced);
    if (said !== null) silence.heard(begunAt, said);
    return said;
  }

  async function work(): Promise<number> {
    const begunAt = clock.monotonic();
    let said = await beat();
    if (said !== null && said.draining !== isDraining()) {
      follow(said.draining);
      // At once, so that the others know that it knows.
      said = await beat();
    }
    sightings.look(await comparing(nodes.list));
    setRival(said === null ? sightings.find(id) : undefined);
    await takeOver(parts, sightings);
    if (copied() === null) replaced = null;
    setContested(sightings.isContested(id));
    await forget();
    // From beat to beat: a slow one must not put off the next.
    return Math.max(LEAST_PAUSE_MS, begunAt + BEAT_MS - clock.monotonic());
  }

  const refresh = () => beatNow(service);

  return {
    start: async () => {
      replaced = await takeNode({ nodes, clock, file, facts: allFacts });
      isStarted = true;
      await refresh();
    },
    stop: async () => {
      await service.stop();
      silence.end();
      // What is written from here on is of no run.
      peers?.fence(false);
      if (isStarted) await nodes.leave({ id, process }).catch(() => undefined);
    },
    refresh,
    isDraining,
    copied,
    fault,
    silentMs: silence.silentMs,
    clockAheadMs: aheadMs,
  };
}

async function beatNow({ wake, settled }: Pick<Service, 'wake' | 'settled'>): Promise<void> {
  wake();
  // The beat in progress, and one after it.
  await settled();
  await settled();
}

/** Called with each beat: now and then, forgets nodes that have long been silent. */
function makeForgetting({ store: { nodes }, identity }: HeartbeatParts): () => Promise<void> {
  let beats = 0;
  return async () => {
    if (beats % BEATS_BETWEEN_FORGETTING === 0) while (await nodes.forget(identity.id));
    beats += 1;
  };
}

/** Takes the runs of nodes that are lost. Others may do the same at this moment: one of them does. */
async function takeOver(
  { store: { nodes }, identity, log }: HeartbeatParts,
  { lost }: Pick<Sightings, 'lost'>,
): Promise<void> {
  for (const row of lost()) {
    if (row.id === identity.id) continue;
    const rescued = await nodes.takeOver(row);
    const facts = { node: row.name, node_id: row.id, ...rescued };
    if (rescued !== null) log.warn(facts, 'a node was lost: its runs go on elsewhere');
  }
}

/** What follows when a beat was taken, and when none has been for long, where this node isn't alone. */
function makeSilence({ peers, clock, log, led, silenced }: HeartbeatParts) {
  let timer: Timer | undefined;
  let leads = false;
  let heardAt = clock.monotonic();
  const silent = () => {
    log.error('the database has not answered this node for so long that others will take its runs: they end here');
    silenced();
  };
  return {
    /** `at`: when that beat began. */
    heard: (at: number, { leader }: BeatAnswer) => {
      heardAt = clock.monotonic();
      timer?.cancel();
      if (peers !== null) timer = clock.after(at + SILENT_MS - clock.monotonic(), silent);
      peers?.fence(true);
      if (leader && !leads) led();
      leads = leader;
    },
    end: () => timer?.cancel(),
    silentMs: () => clock.monotonic() - heardAt,
  };
}

/** Whether this process may start runs for its node, and what is said when that changes. */
function makeStanding({ log, identity, facts, opened }: HeartbeatParts) {
  let draining = false;
  let copied: string | null = null;
  let contested = false;

  function follow(said: boolean): void {
    draining = said;
    if (said) log.warn('this node drains: it starts no runs');
    else log.info('this node starts runs again');
    if (!said && copied === null) opened();
  }

  /** Whether another process has lately tried to beat with the id of this node, which is this one's. */
  function setContested(is: boolean): void {
    if (is && !contested && copied === null) log.warn(TRIED);
    contested = is;
  }

  /** The row of another process with the id of this node. */
  function setRival(row: NodeRow | undefined): void {
    const wasCopied = copied !== null;
    copied = row === undefined ? null : wordsOfCopy(row, identity.file);
    if (copied !== null && !wasCopied) log.error(copied);
    if (copied !== null || !wasCopied) return;
    log.info('this node is the only one with its id again');
    if (!draining) opened();
  }

  return {
    follow,
    setRival,
    setContested,
    isDraining: () => draining,
    copied: () => copied,
    fault: () => copied ?? (draining ? drains(facts().name) : null),
  };
}

const TRIED =
  'another process was started with the id of this node: its data directory was copied with the file node-id';
const drains = (name: string) => `it drains, and starts no runs: errand nodes undrain ${shellWord(name)}`;
