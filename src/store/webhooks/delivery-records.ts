// Deliveries as people look at them: listed, and shown with their attempts.
import type { Listing, Page } from '../../domain/listing.ts';
import type { Attempt, Delivery, DeliveryState } from '../../domain/webhooks/delivery.ts';
import type { WebhookEventType } from '../../domain/webhooks/webhook.ts';
import type { Database } from '../engine/database.ts';
import { flag, plain, rowKind } from '../engine/row.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { conditions } from '../engine/lists.ts';

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

const DELIVERY = rowKind<Delivery>({
  id: plain,
  webhookId: plain,
  eventId: plain,
  eventType: plain,
  sessionId: plain,
  isTest: flag,
  state: plain,
  attemptCount: plain,
  nextAttemptAt: plain,
  lastStatusCode: plain,
  lastError: plain,
  createdAt: plain,
  deliveredAt: plain,
});

const RECORD = rowKind<Omit<DeliveryRecord, 'attempts'>>({
  ...DELIVERY.fields,
  userSeq: plain,
  sessionOwnerId: plain,
  body: plain,
});

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
      const items = yield* tx
        .rows(DELIVERY)
        .all(
          `${SELECT} ${where} ORDER BY d.created_at DESC, d.id DESC LIMIT ? OFFSET ?`,
          ...values,
          filter.limit,
          filter.offset,
        );
      return { items, total };
    }),

    /** A delivery by its id, or undefined. */
    find: read(function* (tx: Reader, id: number): Step<DeliveryRecord | undefined> {
      const delivery = yield* tx.rows(RECORD).get(
        `SELECT d.*, w.user_seq, s.id AS session_id, u.id AS session_owner_id FROM webhook_deliveries d
           JOIN webhooks w ON w.id = d.webhook_id LEFT JOIN sessions s ON s.seq = d.session_seq
           LEFT JOIN users u ON u.seq = s.user_seq WHERE d.id = ? AND ${IS_THERE}`,
        id,
      );
      if (delivery === undefined) return undefined;
      const attempts = yield* tx.all<Attempt>(
        `SELECT no, at, status_code, duration_ms, error,
           response_excerpt FROM webhook_attempts WHERE delivery_id = ? ORDER BY no`,
        id,
      );
      return { ...delivery, attempts };
    }),
  };
}
