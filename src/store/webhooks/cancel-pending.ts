// Canceling what is pending of a webhook, a bounded number of rows a commit.
import { type Database, FREES } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';

/** Of one commit. */
const CANCELED_AT_ONCE = 200;

/** The body of a delivery that ends: a deleted session's is erased then, as nobody may need it any more. */
export const BODY_AT_END = `body = CASE WHEN EXISTS (
  SELECT 1 FROM sessions s WHERE s.seq = session_seq AND s.deleted_at IS NOT NULL) THEN '' ELSE body END`;

/** Makes the verb that continues canceling for a disabled webhook. It returns whether any may be left. */
export function makeCancelLeftOver({ write }: Database) {
  return write(function* (tx: Transaction, webhookId: number): Step<boolean> {
    const isEnabled = (yield* tx.get('SELECT 1 FROM webhooks WHERE id = ? AND enabled = 1', webhookId)) !== undefined;
    return !isEnabled && (yield* cancelPendingIn(tx, webhookId));
  }, FREES);
}

/** Cancels some; returns whether any may be left. */
export function* cancelPendingIn(tx: Transaction, webhookId: number): Step<boolean> {
  const canceled = yield* tx.count(
    `UPDATE webhook_deliveries SET state = 'canceled', next_attempt_at = NULL, ended_at = ?, ${BODY_AT_END} WHERE id IN (
       SELECT id FROM webhook_deliveries WHERE webhook_id = ? AND state = 'pending' LIMIT ?)`,
    tx.now,
    webhookId,
    CANCELED_AT_ONCE,
  );
  return canceled === CANCELED_AT_ONCE;
}
