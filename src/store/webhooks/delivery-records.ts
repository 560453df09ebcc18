// Deliveries as people look at them: listed, and shown with their attempts.
import type { Listing, Page } from '../../domain/listing.ts';
import type { Attempt, Delivery, DeliveryState } from '../../domain/webhooks/delivery.ts';
import type { WebhookEventType } from '../../domain/webhooks/webhook.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { conditions } from '../sessions/conditions.ts';

/** Null leaves a filter out. */
export interface DeliveryFilter extends Page {
  /** A user's `seq`, or 0 for the deliveries of system webhooks. */
  readonly owner: number | null;
  readonly webhookId: number | null;
  readonly eventId: string | null;
  readonly eventType: WebhookEventType | null;
  readonly state: DeliveryState | null;
  /** Epoch ms, from the first on and before the second. */
  readonly since: number | null;
  readonly until: number | null;
}

/** A delivery with all that is kept of it. */
export interface DeliveryRecord extends Delivery {
  /** The webhook's `userSeq`. */
  readonly userSeq: number | null;
  /** The id of the user whose session it reports; null for a test without a session. */
  readonly sessionOwnerId: string | null;
  /** Empty once it was erased with its session. */
  readonly body: string;
  readonly attempts: readonly Attempt[];
}

/** Deliveries that a filter finds are counted up to here. */
export const MAX_COUNTED_DELIVERIES = 10_000;

interface DeliveryRow {
  id: number;
  webhook_id: number;
  owner: number;
  event_id: string;
  event_type: WebhookEventType;
  session_id: string | null;
  is_test: number;
  state: DeliveryState;
  attempt_count: number;
  next_attempt_at: number | null;
  last_status_code: number | null;
  last_error: string | null;
  body: string;
  created_at: number;
  delivered_at: number | null;
}

const SELECT = `SELECT d.*, s.id AS session_id FROM webhook_deliveries d LEFT JOIN sessions s ON s.seq = d.session_seq
  JOIN webhooks w ON w.id = d.webhook_id`;
/** A deleted webhook takes its deliveries with it. */
const IS_THERE = 'w.deleted_at IS NULL';

/** The verbs. */
export function makeDeliveryRecords({ read }: Database) {
  return {
    /** A page, the newest first, and how many there are, up to `MAX_COUNTED_DELIVERIES`. */
    list: read(function* (tx: Reader, filter: DeliveryFilter): Step<Listing<Delivery>> {
      const { where, values } = conditions([IS_THERE], {
        'd.owner = ?': filter.owner,
        'd.webhook_id = ?': filter.webhookId,
        'd.event_id = ?': filter.eventId,
        'd.event_type = ?': filter.eventType,
        'd.state = ?': filter.state,
        'd.created_at >= ?': filter.since,
        'd.created_at < ?': filter.until,
      });
      const { total } = (yield* tx.get<{ total: number }>(
        `SELECT count(*) AS total FROM (SELECT 1 FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
           ${where} LIMIT ?)`,
        ...values,
        MAX_COUNTED_DELIVERIES,
      ))!;
      const rows = yield* tx.all<DeliveryRow>(
        `${SELECT} ${where} ORDER BY d.created_at DESC, d.id DESC LIMIT ? OFFSET ?`,
        ...values,
        filter.limit,
        filter.offset,
      );
      return { items: rows.map(toDelivery), total };
    }),

    /** A delivery by its id, or undefined. */
    find: read(function* (tx: Reader, id: number): Step<DeliveryRecord | undefined> {
      const row = yield* tx.get<DeliveryRow & { session_owner_id: string | null }>(
        `SELECT d.*, s.id AS session_id, u.id AS session_owner_id FROM webhook_deliveries d
           JOIN webhooks w ON w.id = d.webhook_id LEFT JOIN sessions s ON s.seq = d.session_seq
           LEFT JOIN users u ON u.seq = s.user_seq WHERE d.id = ? AND ${IS_THERE}`,
        id,
      );
      if (row === undefined) return undefined;
      const attempts = yield* tx.all<Attempt>(
        `SELECT no, at, status_code AS statusCode, duration_ms AS durationMs, error,
           response_excerpt AS responseExcerpt FROM webhook_attempts WHERE delivery_id = ? ORDER BY no`,
        id,
      );
      return {
        ...toDelivery(row),
        userSeq: row.owner === 0 ? null : row.owner,
        sessionOwnerId: row.session_owner_id,
        body: row.body,
        attempts,
      };
    }),
  };
}

function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    webhookId: row.webhook_id,
    eventId: row.event_id,
    eventType: row.event_type,
    sessionId: row.session_id,
    isTest: row.is_test === 1,
    state: row.state,
    attemptCount: row.attempt_count,
    nextAttemptAt: row.next_attempt_at,
    lastStatusCode: row.last_status_code,
    lastError: row.last_error,
    createdAt: row.created_at,
    deliveredAt: row.delivered_at,
  };
}
