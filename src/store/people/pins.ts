// Who holds a name of the configuration that isn't defined.
import {
  type Defined,
  type LostPins,
  MOST_LOST_PINS,
  type Pin,
  type PinHolder,
} from '../../domain/capabilities/pin.ts';
import { parseTarget } from '../../domain/capabilities/target.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';

/** A column of names. */
interface Source {
  readonly holder: PinHolder;
  readonly kind: 'model' | 'scenario' | 'target';
  /** The next name after one, by the conditions of its index in migration 38. */
  readonly next: string;
  /** Those who hold a name and can use it: the name, the time, how many at most. */
  readonly holders: string;
}

const KEYS = 'SELECT k.id, k.name, u.username FROM api_keys k JOIN users u ON u.seq = k.user_seq WHERE';
const USABLE = `k.revoked_at IS NULL AND u.disabled = 0 AND (k.expires_at IS NULL OR k.expires_at > ?) ORDER BY k.seq LIMIT ?`;

const SOURCES: readonly Source[] = [
  {
    holder: 'key',
    kind: 'model',
    next: 'SELECT min(model) AS name FROM api_keys WHERE revoked_at IS NULL AND model > ?',
    holders: `${KEYS} k.model = ? AND ${USABLE}`,
  },
  {
    holder: 'key',
    kind: 'target',
    next: "SELECT min(target) AS name FROM api_keys WHERE target <> 'free' AND revoked_at IS NULL AND target > ?",
    holders: `${KEYS} k.target = ? AND k.target <> 'free' AND ${USABLE}`,
  },
  {
    holder: 'user',
    kind: 'scenario',
    next: 'SELECT min(scenario) AS name FROM users WHERE disabled = 0 AND scenario > ?',
    holders: `SELECT u.username AS id, u.username AS name, u.username FROM users u
      WHERE u.scenario = ? AND u.disabled = 0 AND ? >= 0 ORDER BY u.seq LIMIT ?`,
  },
  {
    holder: 'task',
    kind: 'target',
    next: "SELECT min(target) AS name FROM scheduled_tasks WHERE target <> 'free' AND enabled = 1 AND target > ?",
    holders: `SELECT t.id, t.name, u.username FROM scheduled_tasks t JOIN users u ON u.seq = t.user_seq
      WHERE t.target = ? AND t.target <> 'free' AND t.enabled = 1 AND u.disabled = 0 AND ? >= 0 ORDER BY t.seq LIMIT ?`,
  },
];

/** The verb on pins. */
export function makePins({ read }: Database) {
  return {
    /** Pins to what isn't defined, of which so many are named. */
    lost: read(lostPinsIn),
  };
}

type HolderRow = Pick<Pin, 'id' | 'name' | 'username'>;

/** Reads each name in use once, and the holders of those that aren't defined. `at`: keys that have expired by then don't count. */
export function* lostPinsIn(tx: Reader, defined: Defined, at: number, shown: number): Step<LostPins> {
  const pins: Pin[] = [];
  let total = 0;
  for (const { holder, kind, next, holders } of SOURCES) {
    for (let name = yield* nextName(tx, next, ''); name !== null; name = yield* nextName(tx, next, name)) {
      const pinned = pinnedBy(kind, name);
      if (pinned === null || defined[pinned.kind].has(pinned.to)) continue;
      const rows = yield* tx.all<HolderRow>(holders, name, at, MOST_LOST_PINS - total);
      total += rows.length;
      pins.push(...rows.slice(0, shown - pins.length).map((row) => ({ holder, ...row, ...pinned })));
      if (total === MOST_LOST_PINS) return { pins, total };
    }
  }
  return { pins, total };
}

function* nextName(tx: Reader, sql: string, after: string): Step<string | null> {
  return (yield* tx.get<{ name: string | null }>(sql, after))!.name;
}

/** Null for a target that names nothing. */
function pinnedBy(kind: Source['kind'], name: string): Pick<Pin, 'kind' | 'to'> | null {
  if (kind !== 'target') return { kind, to: name };
  const target = parseTarget(name);
  return target === null || target.kind === 'free' ? null : { kind: target.kind, to: target.name };
}
