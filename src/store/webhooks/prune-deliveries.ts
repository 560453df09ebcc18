// Taking deliveries out of the record, and old secrets, a bounded number of rows a commit.
import { type Database, FREES } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { BODY_AT_END, cancelPendingIn } from './cancel-pending.ts';

/** Deliveries of one commit. */
const DELIVERIES_AT_ONCE = 100;

/** The verbs. Each returns whether any may be left, and is called until none is; a kill in between costs nothing. */
export function makePruneDeliveries({ write }: Database) {
  return {
    /** Removes deliveries that ended before a moment, the oldest first. */
    pruneBefore: write(function* (tx: Transaction, before: number): Step<boolean> {
      const oldest = yield* tx.all<{ id: number }>(
        'SELECT id FROM webhook_deliveries WHERE ended_at < ? ORDER BY ended_at LIMIT ?',
        before,
        DELIVERIES_AT_ONCE,
      );
      yield* removeIn(tx, oldest);
      return oldest.length === DELIVERIES_AT_ONCE;
    }, FREES),

    /** Cancels pending deliveries that have been due since before a moment, the oldest first, with a reason in words. */
    cancelOverdue: write(function* (tx: Transaction, before: number, reason: string): Step<boolean> {
      const canceled = yield* tx.count(
        `UPDATE webhook_deliveries SET state = 'canceled', next_attempt_at = NULL, ended_at = ?, last_error = ?, ${BODY_AT_END}
         WHERE id IN (SELECT id FROM webhook_deliveries WHERE state = 'pending' AND next_attempt_at < ?
           ORDER BY next_attempt_at LIMIT ?)`,
        tx.now,
        reason,
        before,
        DELIVERIES_AT_ONCE,
      );
      return canceled === DELIVERIES_AT_ONCE;
    }, FREES),

    /** Removes what is left of deleted webhooks. */
    pruneDeleted: write(function* (tx: Transaction): Step<boolean> {
      const webhook = yield* tx.get<{ id: number }>('SELECT id FROM webhooks WHERE deleted_at IS NOT NULL LIMIT 1');
      if (webhook === undefined) return false;
      const some = yield* tx.all<{ id: number }>(
        'SELECT id FROM webhook_deliveries WHERE webhook_id = ? LIMIT ?',
        webhook.id,
        DELIVERIES_AT_ONCE,
      );
      yield* removeIn(tx, some);
      if (some.length < DELIVERIES_AT_ONCE) yield* tx.run('DELETE FROM webhooks WHERE id = ?', webhook.id);
      return true;
    }, FREES),

    /** Removes the secrets before a rotation whose time is over (H4). */
    pruneSecrets: write(function* (tx: Transaction): Step<boolean> {
      const past = 'previous_secret_until <= ?';
      yield* tx.run(`UPDATE webhooks SET previous_secret = NULL, previous_secret_until = NULL WHERE ${past}`, tx.now);
      return false;
    }, FREES),

    /** Cancels what is left pending of disabled webhooks (H17). */
    cancelOfDisabled: write(function* (tx: Transaction): Step<boolean> {
      const webhook = yield* tx.get<{ id: number }>(
        `SELECT w.id FROM webhooks w WHERE w.enabled = 0 AND EXISTS (
           SELECT 1 FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.state = 'pending') LIMIT 1`,
      );
      if (webhook === undefined) return false;
      yield* cancelPendingIn(tx, webhook.id);
      return true;
    }, FREES),
  };
}

function* removeIn(tx: Transaction, deliveries: readonly { readonly id: number }[]): Step<void> {
  for (const { id } of deliveries) {
    yield* tx.run('DELETE FROM webhook_attempts WHERE delivery_id = ?', id);
    yield* tx.run('DELETE FROM webhook_deliveries WHERE id = ?', id);
  }
}
