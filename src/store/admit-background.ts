// Admission of background runs: counted inside the transaction that accepts, so that nothing is ever over-admitted (§8, D2, D3).
import type { ApiKey, User } from '../domain/user.ts';
import type { Transaction } from './database.ts';
import { countCapacity } from './worker-nodes.ts';

export interface BackgroundLimits {
  readonly maxUnfinishedPerKey: number;
  readonly maxUnfinishedPerUser: number;
}

/** Why a background run is refused. */
export type BackgroundRefusal = 'session_busy' | 'key_limit' | 'user_limit' | 'no_capacity' | 'queue_full';

/** Places in the global queue for each run that the online workers can execute at once. */
const PLACES_PER_SLOT = 10;

const COUNT_OF_KEY = `SELECT count(*) AS runs FROM runs WHERE user_seq = ? AND key_seq = ?
  AND status IN ('queued', 'running', 'finalizing') AND schedule_mode = 'background'`;
const COUNT_OF_USER = `SELECT count(*) AS runs FROM runs WHERE user_seq = ?
  AND status IN ('queued', 'running', 'finalizing') AND schedule_mode = 'background'`;
const COUNT_WAITING = "SELECT count(*) AS runs FROM runs WHERE status = 'queued' AND schedule_mode = 'background'";

/** The reason to refuse a new background run, or undefined: first the session, then key and user, then capacity (A1). */
export function admitBackground(
  tx: Transaction,
  { user, key }: { readonly user: User; readonly key: ApiKey },
  limits: BackgroundLimits & { readonly busy: boolean },
): BackgroundRefusal | undefined {
  const count = (sql: string, ...values: number[]) => tx.get<{ runs: number }>(sql, ...values)!.runs;
  if (limits.busy) return 'session_busy';
  if (count(COUNT_OF_KEY, user.seq, key.seq) >= limits.maxUnfinishedPerKey) return 'key_limit';
  if (count(COUNT_OF_USER, user.seq) >= limits.maxUnfinishedPerUser) return 'user_limit';
  const capacity = countCapacity(tx);
  if (capacity === 0) return 'no_capacity';
  return count(COUNT_WAITING) >= PLACES_PER_SLOT * capacity ? 'queue_full' : undefined;
}
