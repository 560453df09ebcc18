// The clock that retention has seen, kept over restarts.
import { lookAtClock, type SeenClock } from '../../domain/retention/clock-guard.ts';
import { type Database, FREES } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { newestEventId } from '../webhooks/webhook-events.ts';
import { forgetPlacesIn } from './ended-runs.ts';

const SEEN = 'SELECT seen_at, held_until FROM retention_clock';
/** Before the first look, as after an update: when something happened last. */
const LAST_EVENT = 'SELECT created_at AS seenAt, NULL AS heldUntil FROM events WHERE id = ?';

/** The verbs. */
export function makeRetentionClock({ read, write }: Database) {
  return {
    /** Looks at the clock: after a jump, nothing may be removed for a while. */
    lookAtClock: write(function* (tx: Transaction): Step<SeenClock> {
      const seen = (yield* tx.get<SeenClock>(SEEN)) ?? (yield* tx.get<SeenClock>(LAST_EVENT, yield* newestEventId(tx)));
      return yield* keepIn(tx, lookAtClock(seen, tx.now));
    }, FREES),

    /** An operator says that the clock is right. */
    trustClock: write(function* (tx: Transaction): Step<SeenClock> {
      return yield* keepIn(tx, { seenAt: tx.now, heldUntil: null });
    }, FREES),

    /** Until when nothing is removed; null without a jump. */
    heldUntil: read(function* (tx: Reader): Step<number | null> {
      return (yield* tx.get<SeenClock>(SEEN))?.heldUntil ?? null;
    }),
  };
}

function* keepIn(tx: Transaction, seen: SeenClock): Step<SeenClock> {
  const before = yield* tx.get<SeenClock>(SEEN);
  if (before !== undefined && seen.seenAt < before.seenAt) yield* forgetPlacesIn(tx);
  yield* tx.run(
    `INSERT INTO retention_clock (id, seen_at, held_until) VALUES (1, ?, ?)
     ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, held_until = excluded.held_until`,
    seen.seenAt,
    seen.heldUntil,
  );
  return seen;
}
