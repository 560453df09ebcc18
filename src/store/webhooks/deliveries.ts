// Deliveries as the sender has them: what is pending, and where it goes.
import type { Webhook, WebhookEventType } from '../../domain/webhooks/webhook.ts';
import type { Database } from '../engine/database.ts';
import { plain, rowKind } from '../engine/row.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { WEBHOOK, WEBHOOK_COLUMNS } from './webhook-rows.ts';

/** A webhook with pending deliveries. */
export interface Lane {
  readonly webhookId: number;
  /** User seq; 0: system webhooks. */
  readonly owner: number;
  /** Where its deliveries go: name and port. */
  readonly host: string;
  /** Of the earliest. */
  readonly nextAttemptAt: number;
  /** `proven`: the last attempt succeeded; `untried`: none was made since it was enabled. */
  readonly standing: 'proven' | 'untried' | 'failing';
}

/** Where the deliveries of a webhook go. */
export interface DeliveryTarget {
  readonly webhook: Webhook;
  /** Sealed; null without one. */
  readonly secret: Buffer | null;
  /** The one before, while it signs as well. */
  readonly previousSecret: Buffer | null;
}

const TARGET = rowKind<DeliveryTarget>({ webhook: WEBHOOK, secret: plain, previousSecret: plain });

export interface PendingDelivery {
  readonly id: number;
  readonly webhookId: number;
  readonly eventId: string;
  readonly eventType: WebhookEventType;
  readonly body: string;
  readonly attemptCount: number;
  /** How many failures end it. */
  readonly attemptsLeft: number;
  readonly nextAttemptAt: number;
  readonly createdAt: number;
}

interface LaneRow {
  id: number;
  userSeq: number | null;
  url: string;
  failingSince: number | null;
  lastSuccessAt: number | null;
  nextAttemptAt: number;
}

// Webhooks are few: each is asked for its earliest. Those of disabled users rest (H16).
const lanes = (which: string) => `SELECT * FROM (
  SELECT w.id, w.user_seq, w.url, w.failing_since, w.last_success_at, (
    SELECT d.next_attempt_at FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.state = 'pending'
    ORDER BY d.next_attempt_at LIMIT 1) AS next_attempt_at
  FROM webhooks w LEFT JOIN users u ON u.seq = w.user_seq
  WHERE ${which} AND w.enabled = 1 AND coalesce(u.disabled, 0) = 0) WHERE next_attempt_at IS NOT NULL`;
const LANES = `${lanes('w.deleted_at IS NULL')} ORDER BY id`;
const LANE = lanes('w.id = ?');

/** What the sender reads. */
export function makeDeliveries({ read }: Database) {
  return {
    /** The webhooks that have something pending, due or not. */
    listLanes: read(function* (tx: Reader): Step<Lane[]> {
      return (yield* tx.all<LaneRow>(LANES)).map(toLane);
    }),

    /** The same of one webhook; undefined when nothing of it is to be sent. */
    findLane: read(function* (tx: Reader, webhookId: number): Step<Lane | undefined> {
      const row = yield* tx.get<LaneRow>(LANE, webhookId);
      return row && toLane(row);
    }),

    /** Pending deliveries of a webhook, due or not, the earliest first. */
    listPending: read(
      (tx: Reader, webhookId: number, limit: number): Step<PendingDelivery[]> =>
        tx.all<PendingDelivery>(
          `SELECT id, webhook_id, event_id, event_type, body, attempt_count,
             attempts_left, next_attempt_at, created_at
           FROM webhook_deliveries WHERE webhook_id = ? AND state = 'pending' ORDER BY next_attempt_at, id LIMIT ?`,
          webhookId,
          limit,
        ),
    ),

    /** Undefined when the webhook is disabled or deleted, or rests with its owner. */
    findTarget: read(function* (tx: Reader, webhookId: number, now: number): Step<DeliveryTarget | undefined> {
      return yield* tx.rows(TARGET).get(
        `SELECT ${WEBHOOK_COLUMNS}, w.secret,
           CASE WHEN w.previous_secret_until > ? THEN w.previous_secret END AS previous_secret
         FROM webhooks w LEFT JOIN users u ON u.seq = w.user_seq
         WHERE w.id = ? AND w.enabled = 1 AND coalesce(u.disabled, 0) = 0`,
        now,
        webhookId,
      );
    }),
  };
}

function toLane(row: LaneRow): Lane {
  const standing = row.failingSince !== null ? 'failing' : row.lastSuccessAt === null ? 'untried' : 'proven';
  const host = URL.parse(row.url)?.host ?? row.url;
  return { webhookId: row.id, owner: row.userSeq ?? 0, host, nextAttemptAt: row.nextAttemptAt, standing };
}
