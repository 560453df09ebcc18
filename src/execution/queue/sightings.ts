// When a process has seen the other nodes move, on the clock that doesn't jump: which of them are online (L6).
import type { Clock } from '../../domain/clock.ts';
import { differencesOf } from '../../domain/nodes/differences.ts';
import { BEAT_MS, type KnownNode, type NodeState, ONLINE_MS } from '../../domain/nodes/node.ts';
import type { NodeRow } from '../../store/worker-nodes.ts';

/** A change of the configuration reaches all nodes, and the rows of all, within this time. */
const SETTLED_MS = 2 * BEAT_MS;

/** A row, and when its counters were seen to have moved. */
interface Seen extends NodeRow {
  readonly movedAt: number;
  readonly contestedAt: number;
}

interface Sighting extends Seen {
  readonly differs: readonly string[];
  /** Since when it was seen to have another configuration; null while it has the same. */
  readonly differsSince: number | null;
}

export interface Sightings {
  /** Whether there was a look yet. */
  any(): boolean;
  /** Takes the rows as they are now. */
  look(rows: readonly NodeRow[]): void;
  /** All of them, by name. */
  list(): readonly Omit<KnownNode, 'isThis'>[];
  find(id: string): NodeRow | undefined;
  /** Rows whose process has given no sign of life for so long that it is lost. */
  lost(): readonly NodeRow[];
  /** Whether another process has tried to beat with this id lately. */
  isContested(id: string): boolean;
}

export function makeSightings(clock: Pick<Clock, 'monotonic'>): Sightings {
  /** Undefined before the first look. */
  let seen: ReadonlyMap<string, Sighting> | undefined;

  function look(rows: readonly NodeRow[]): void {
    const now = clock.monotonic();
    const compared = (id: string, differences: ReturnType<typeof differencesOf>) => {
      const differs = differences.get(id) ?? [];
      return { differs, differsSince: differs.length === 0 ? null : (seen?.get(id)?.differsSince ?? now) };
    };
    const sighted = (row: NodeRow) => {
      const before = seen?.get(row.id);
      const hasMoved = before?.beats !== row.beats || before.process !== row.process;
      const isContested = before !== undefined && before.contests !== row.contests;
      return {
        ...row,
        movedAt: before === undefined ? firstSightOf(row, now) : hasMoved ? now : before.movedAt,
        contestedAt: isContested ? now : (before?.contestedAt ?? -Infinity),
      };
    };
    const sights = rows.map(sighted);
    const differences = differencesOf(sights.filter(isAlive));
    seen = new Map(sights.map((sight) => [sight.id, { ...sight, ...compared(sight.id, differences) }]));
  }

  const isRecent = (at: number) => clock.monotonic() - at <= ONLINE_MS;
  const isAlive = (row: Seen) => row.process !== null && isRecent(row.movedAt);
  const stateNow = (row: Seen) => stateOf(row, isAlive(row));
  const isSettled = ({ differsSince: since }: Sighting) => since !== null && clock.monotonic() - since >= SETTLED_MS;

  return {
    any: () => seen !== undefined,
    look,
    list: () =>
      Array.from(seen?.values() ?? [], (row) => ({
        ...row,
        state: stateNow(row),
        running: isAlive(row) ? row.running : 0,
        isTwice: isRecent(row.contestedAt),
        differs: isSettled(row) ? row.differs : [],
      })),
    find: (id) => seen?.get(id),
    lost: () => Array.from(seen?.values() ?? []).filter((row) => row.process !== null && !isRecent(row.movedAt)),
    isContested: (id) => isRecent(seen?.get(id)?.contestedAt ?? -Infinity),
  };
}

/** Of a row that wasn't there before: by the age of its beat. One from the future says nothing: the database's clock was set back. */
function firstSightOf({ silentMs }: NodeRow, now: number): number {
  return silentMs >= 0 && silentMs <= ONLINE_MS ? now - silentMs : -Infinity;
}

type Working = Pick<NodeRow, 'draining' | 'noticed' | 'running'>;

/** A node that doesn't know yet that it drains may start a run. */
export function stateOf({ draining, noticed, running }: Working, isOnline: boolean): NodeState {
  if (!isOnline) return 'offline';
  if (!draining) return 'online';
  return noticed && running === 0 ? 'drained' : 'draining';
}
