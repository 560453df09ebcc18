// What was used before a budget was set: read from the ledger once, in slices, so that no reader or writer waits for it.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Amounts } from '../../domain/budgets/budget.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import type { Payer } from './budget-rows.ts';

/** Whose usage to count, and since when. Exactly one of the three is given. */
export interface PastUse {
  readonly payer: { readonly [P in keyof Payer]: Payer[P] | null };
  readonly since: number;
}

/** The sum of all records up to the one with this number. */
export interface Counted extends Amounts {
  readonly upTo: number;
}

/** Records that are read at once, in a few milliseconds. */
const SLICE = 5_000;

/** The first match decides: calls without a team of their own count for that of their run, as in Office Mode. */
const SUM = `SELECT coalesce(sum(x.input_tokens + x.output_tokens), 0) AS tokens, coalesce(sum(x.cost_usd), 0) AS usd
  FROM usage_records x LEFT JOIN runs r ON r.seq = x.run_seq
  WHERE x.seq > ? AND x.seq <= ? AND x.at >= ? AND (x.key_seq = ? OR x.user_seq = ? OR coalesce(x.team_id, r.team_id) = ?)`;
const NEWEST = 'SELECT seq FROM usage_records ORDER BY seq DESC LIMIT 1';
const NEWEST_IN = 'SELECT max(at) AS newest FROM usage_records WHERE seq > ? AND seq <= ?';

interface Slice extends PastUse {
  readonly above: number;
  readonly upTo: number;
}

/** The sum of the records of a slice. */
export function* sumIn(tx: Reader, { payer, since, above, upTo }: Slice): Step<Amounts> {
  const { keySeq, userSeq, teamId } = payer;
  return (yield* tx.get<Amounts>(SUM, above, upTo, since, keySeq, userSeq, teamId))!;
}

/** The number of the newest record; 0 without any. */
export function* newestRecord(tx: Reader): Step<number> {
  return (yield* tx.get<{ seq: number }>(NEWEST))?.seq ?? 0;
}

/** Makes the count. It goes back from the newest record to the first slice that is older than `since` as a whole. */
export function makeCountPast({ read }: Database): (use: PastUse) => Promise<Counted> {
  const readNewest = read(newestRecord);
  const readSlice = read(function* (tx: Reader, slice: Slice): Step<Amounts & { newest: number | null }> {
    const { newest } = (yield* tx.get<{ newest: number | null }>(NEWEST_IN, slice.above, slice.upTo))!;
    if (newest !== null && newest < slice.since) return { tokens: 0, usd: 0, newest };
    return { ...(yield* sumIn(tx, slice)), newest };
  });
  return async (use) => {
    const upTo = await readNewest();
    let [tokens, usd] = [0, 0];
    for (let end = upTo; end > 0; end -= SLICE) {
      const slice = await readSlice({ ...use, above: Math.max(0, end - SLICE), upTo: end });
      // A slice may be empty: its records were removed, and older ones may remain.
      if (slice.newest !== null && slice.newest < use.since) break;
      tokens += slice.tokens;
      usd += slice.usd;
      await nextTurn();
    }
    return { tokens, usd, upTo };
  };
}
