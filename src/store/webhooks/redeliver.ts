// Delivering again: one more attempt of the same body.
import type { DeliveryState } from '../../domain/webhooks/delivery.ts';
import { makeAuditedWrite, type Note } from '../audit/record-entry.ts';
import type { Database } from '../engine/database.ts';

/** What is delivered again: deliveries of a webhook that ended in a state, planned from a moment on. */
export interface RedeliveryFilter {
  readonly webhookId: number;
  readonly state: Exclude<DeliveryState, 'pending'>;
  readonly since: number;
}

/** The last delivery of a batch; the first comes after none. */
export interface RedeliveryCursor {
  readonly createdAt: number;
  readonly id: number;
}

/** What a batch did. */
interface Redelivered {
  readonly count: number;
  /** The last of the batch, to continue after; null when none may be left. */
  readonly last: RedeliveryCursor | null;
}

const REDELIVERED_AT_ONCE = 200;
const REDELIVER = `UPDATE webhook_deliveries SET state = 'pending', next_attempt_at = ?, ended_at = NULL,
    attempts_left = CASE state WHEN 'pending' THEN attempts_left ELSE 1 END
  WHERE id = ? AND body <> ''`;

/** The verbs. */
export function makeRedeliver(database: Database) {
  const auditedWrite = makeAuditedWrite(database);
  return {
    /**
     * One more attempt at once, of the same body; a pending one's next attempt is made at once. Returns false when it is
     * gone, or its body is.
     */
    redeliver: (id: number, note?: Note<boolean>): Promise<boolean> =>
      auditedWrite(note, function* (tx) {
        return (yield* tx.count(REDELIVER, tx.now, id)) > 0;
      }),

    /** The same for some of many, the oldest first. Called until `last` is null. */
    redeliverSome: (
      { webhookId, state, since }: RedeliveryFilter,
      after: RedeliveryCursor | null,
      note?: Note<Redelivered>,
    ): Promise<Redelivered> =>
      auditedWrite(note, function* (tx) {
        const rows = yield* tx.all<RedeliveryCursor>(
          `SELECT created_at, id FROM webhook_deliveries
           WHERE webhook_id = ? AND state = ? AND created_at >= ? AND (created_at, id) > (?, ?)
           ORDER BY created_at, id LIMIT ?`,
          webhookId,
          state,
          since,
          after?.createdAt ?? -1,
          after?.id ?? 0,
          REDELIVERED_AT_ONCE,
        );
        let count = 0;
        for (const { id } of rows) count += yield* tx.count(REDELIVER, tx.now, id);
        const last = rows.length < REDELIVERED_AT_ONCE ? null : rows.at(-1)!;
        return { count, last };
      }),
  };
}
