// What depends on wall time moves along when the clock is set.
import { type Database, FREES } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';

/** A pending delivery, by its due time. */
export interface DueCursor {
  readonly nextAttemptAt: number;
  readonly id: number;
}

/** Of one commit. */
const MOVED_AT_ONCE = 200;

/** The verbs. */
export function makeClockJumps({ read, write }: Database) {
  return {
    /** The webhooks with something pending, also those that rest with their owner. */
    listWithPending: read(function* (tx: Reader): Step<number[]> {
      const rows = yield* tx.all<{ id: number }>(
        `SELECT id FROM webhooks w WHERE EXISTS (
           SELECT 1 FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.state = 'pending')`,
      );
      return rows.map(({ id }) => id);
    }),

    /**
     * Moves due times of a webhook by so many milliseconds, those after the cursor, the earliest first. Answers the cursor to
     * go on after; null when none is left.
     */
    moveDue: write(function* (
      tx: Transaction,
      webhookId: number,
      byMs: number,
      after: DueCursor,
    ): Step<DueCursor | null> {
      const some = yield* tx.all<DueCursor>(
        `SELECT next_attempt_at, id FROM webhook_deliveries
         WHERE webhook_id = ? AND state = 'pending' AND (next_attempt_at, id) > (?, ?)
         ORDER BY next_attempt_at, id LIMIT ?`,
        webhookId,
        after.nextAttemptAt,
        after.id,
        MOVED_AT_ONCE,
      );
      for (const { nextAttemptAt, id } of some)
        yield* tx.run('UPDATE webhook_deliveries SET next_attempt_at = ? WHERE id = ?', nextAttemptAt + byMs, id);
      return some.length < MOVED_AT_ONCE ? null : some.at(-1)!;
    }, FREES),

    /** Moves the moments since which webhooks fail. */
    moveFailingSince: write(function* (tx: Transaction, byMs: number): Step<void> {
      yield* tx.run('UPDATE webhooks SET failing_since = failing_since + ? WHERE failing_since IS NOT NULL', byMs);
    }, FREES),
  };
}
