// Admission of background work, counted within the accepting transaction, so that the limits always hold (§8, D2, D3).
import type { ApiKey, User } from '../../domain/people/user.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { IS_BACKGROUND_WORK, IS_UNFINISHED } from './run-states.ts';

export interface BackgroundLimits {
  readonly maxUnfinishedPerKey: number;
  readonly maxUnfinishedPerUser: number;
  /** Background runs that the worker nodes which are online can execute at once. */
  readonly capacity: number;
}

/** Why a background run is refused. */
export type BackgroundRefusal = 'session_busy' | 'key_limit' | 'user_limit' | 'no_capacity' | 'queue_full';

/** Locations in the global queue for each run that the online workers can execute at once. */
export const PLACES_PER_SLOT = 10;

// Each checks whether the limit is reached, and reads no further: queues may be long.
const OF_KEY = `SELECT 1 FROM runs WHERE user_seq = ? AND key_seq = ?
  AND ${IS_UNFINISHED} AND ${IS_BACKGROUND_WORK} LIMIT 1 OFFSET ?`;
const OF_USER = `SELECT 1 FROM runs WHERE user_seq = ?
  AND ${IS_UNFINISHED} AND ${IS_BACKGROUND_WORK} LIMIT 1 OFFSET ?`;
const WAITING = `SELECT 1 FROM runs WHERE status = 'queued' AND ${IS_BACKGROUND_WORK} LIMIT 1 OFFSET ?`;

/** The reason to refuse a new background run, or undefined: first the session, then key and user, then capacity (A1). */
export function* admitBackground(
  tx: Transaction,
  { user, key }: { readonly user: User; readonly key: ApiKey },
  limits: BackgroundLimits & { readonly busy: boolean },
): Step<BackgroundRefusal | undefined> {
  if (limits.busy) return 'session_busy';
  if (yield* reaches(tx, limits.maxUnfinishedPerKey, [OF_KEY, user.seq, key.seq])) return 'key_limit';
  return yield* admitOfUser(tx, user.seq, limits);
}

/** Why a run without a key is refused. */
export type UserRefusal = Extract<BackgroundRefusal, 'user_limit' | 'no_capacity' | 'queue_full'>;

/** The reason to refuse a user one more unfinished run of background work, or undefined. */
export function* admitOfUser(
  tx: Transaction,
  userSeq: number,
  { maxUnfinishedPerUser, capacity }: Pick<BackgroundLimits, 'maxUnfinishedPerUser' | 'capacity'>,
): Step<UserRefusal | undefined> {
  if (yield* reaches(tx, maxUnfinishedPerUser, [OF_USER, userSeq])) return 'user_limit';
  if (capacity === 0) return 'no_capacity';
  return (yield* reaches(tx, PLACES_PER_SLOT * capacity, [WAITING])) ? 'queue_full' : undefined;
}

function* reaches(tx: Transaction, limit: number, [sql, ...values]: [string, ...number[]]): Step<boolean> {
  return (yield* tx.get(sql, ...values, limit - 1)) !== undefined;
}
