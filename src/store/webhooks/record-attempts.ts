// How attempts ended: kept, with what each makes of its delivery and its webhook.
import type { AttemptResult, DeliveryState } from '../../domain/webhooks/delivery.ts';
import type { Webhook, WebhookEventType } from '../../domain/webhooks/webhook.ts';
import type { Database } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { BODY_AT_END } from './cancel-pending.ts';
import { ownerOf } from './webhook-rows.ts';

/** What an attempt led to. */
export interface Recorded {
  readonly state: DeliveryState;
  readonly failingSince: number | null;
  readonly failures: number;
}

/** An attempt of a webhook in its epoch. `retryAt` null: there is no further one. */
export interface AttemptMade {
  readonly result: AttemptResult;
  readonly epoch: number;
  readonly retryAt: number | null;
}

/** Its session may have been deleted while the test was under way. */
const BODY_OF_TEST = `CASE WHEN EXISTS (SELECT 1 FROM sessions s WHERE s.seq = ? AND s.deleted_at IS NOT NULL) THEN '' ELSE ? END`;

/** What was sent as a test: it has one attempt, and the sender never sees it. */
export interface TestDelivery {
  readonly webhook: Pick<Webhook, 'id' | 'userSeq'>;
  readonly eventId: string;
  readonly eventType: WebhookEventType;
  readonly sessionSeq: number | null;
  readonly body: string;
}

/** The verbs. */
export function makeRecordAttempts({ write }: Database) {
  return {
    /**
     * Keeps an attempt, and moves the delivery: `delivered` without an error, back to `pending` until `retryAt`, or
     * `failed` when that is null or no attempt is left. Undefined when the delivery is gone. An attempt of an earlier epoch
     * counts for the delivery alone.
     */
    recordAttempt: write(function* (
      tx: Transaction,
      deliveryId: number,
      { result, epoch, retryAt }: AttemptMade,
    ): Step<Recorded | undefined> {
      const row = yield* tx.get<AttemptedRow>(
        'SELECT webhook_id, state, attempt_count, attempts_left FROM webhook_deliveries WHERE id = ?',
        deliveryId,
      );
      if (row === undefined) return undefined;
      yield* insertAttempt(tx, deliveryId, { ...result, no: row.attemptCount + 1 });
      const state = stateAfter(row, result, retryAt);
      if (row.state === 'delivered' && result.error !== null)
        yield* tx.run('UPDATE webhook_deliveries SET attempt_count = attempt_count + 1 WHERE id = ?', deliveryId);
      else yield* moveIn(tx, deliveryId, { row, result, state, retryAt });
      return { state, ...(yield* noteResult(tx, { id: row.webhookId, epoch }, result)) };
    }),

    /** Stores a test and its one attempt; returns the id of the delivery. */
    recordTest: write(function* (tx: Transaction, test: TestDelivery, result: AttemptResult): Step<number> {
      const isDelivered = result.error === null;
      const id = yield* tx.insert(
        `INSERT INTO webhook_deliveries (webhook_id, owner, event_id, event_type, session_seq, is_test, state,
           attempt_count, attempts_left, last_status_code, last_error, body, created_at, ended_at, delivered_at)
         VALUES (?, ?, ?, ?, ?, 1, ?, 1, 0, ?, ?, ${BODY_OF_TEST}, ?, ?, ?)`,
        test.webhook.id,
        ownerOf(test.webhook),
        test.eventId,
        test.eventType,
        test.sessionSeq,
        isDelivered ? 'delivered' : 'failed',
        result.statusCode,
        result.error,
        test.sessionSeq,
        test.body,
        tx.now,
        tx.now,
        isDelivered ? tx.now : null,
      );
      yield* insertAttempt(tx, id, { ...result, no: 1 });
      return id;
    }),
  };
}

interface AttemptedRow {
  webhookId: number;
  state: DeliveryState;
  attemptCount: number;
  attemptsLeft: number;
}

/** What arrived has arrived, also when the delivery ended otherwise meanwhile, or was sent again. */
function stateAfter(row: AttemptedRow, { error }: AttemptResult, retryAt: number | null): DeliveryState {
  if (error === null) return 'delivered';
  if (row.state !== 'pending') return row.state;
  return retryAt === null || row.attemptsLeft <= 1 ? 'failed' : 'pending';
}

interface Move {
  readonly row: AttemptedRow;
  readonly result: AttemptResult;
  readonly state: DeliveryState;
  readonly retryAt: number | null;
}

function* moveIn(tx: Transaction, id: number, { row, result, state, retryAt }: Move): Step<void> {
  const body = state === 'pending' ? '' : `, ${BODY_AT_END}`;
  yield* tx.run(
    `UPDATE webhook_deliveries SET state = ?, attempt_count = ?, attempts_left = ?, next_attempt_at = ?,
       last_status_code = ?, last_error = ?, delivered_at = coalesce(?, delivered_at), ended_at = ?${body} WHERE id = ?`,
    state,
    row.attemptCount + 1,
    Math.max(row.attemptsLeft - 1, 0),
    state === 'pending' ? retryAt : null,
    result.statusCode,
    result.error,
    state === 'delivered' ? tx.now : null,
    state === 'pending' ? null : tx.now,
    id,
  );
}

function* insertAttempt(tx: Transaction, deliveryId: number, attempt: AttemptResult & { no: number }): Step<void> {
  // A receiver may repeat what it was sent, so of a deleted session nothing is kept.
  yield* tx.run(
    `INSERT INTO webhook_attempts (delivery_id, no, at, status_code, duration_ms, error, response_excerpt)
     SELECT d.id, ?, ?, ?, ?, ?, CASE WHEN s.deleted_at IS NULL THEN ? END
     FROM webhook_deliveries d LEFT JOIN sessions s ON s.seq = d.session_seq WHERE d.id = ?`,
    attempt.no,
    attempt.at,
    attempt.statusCode,
    attempt.durationMs,
    attempt.error,
    attempt.responseExcerpt,
    deliveryId,
  );
}

const NOTHING_NOTED: Omit<Recorded, 'state'> = { failingSince: null, failures: 0 };

/** Counts the failures of a webhook in a row. */
function* noteResult(
  tx: Transaction,
  { id, epoch }: Pick<Webhook, 'id' | 'epoch'>,
  { error }: AttemptResult,
): Step<Omit<Recorded, 'state'>> {
  const set =
    error === null
      ? 'failing_since = NULL, failures = 0, last_success_at = ?'
      : 'failures = failures + 1, failing_since = coalesce(failing_since, ?)';
  const noted = yield* tx.get<Omit<Recorded, 'state'>>(
    `UPDATE webhooks SET ${set} WHERE id = ? AND epoch = ? RETURNING failing_since, failures`,
    tx.now,
    id,
    epoch,
  );
  return noted ?? NOTHING_NOTED;
}
