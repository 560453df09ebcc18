// Rows of webhooks, and their subscriptions.
import type { SessionKind } from '../../domain/sessions/session.ts';
import type { Webhook, WebhookEventType } from '../../domain/webhooks/webhook.ts';
import type { Step, Transaction } from '../engine/statement.ts';

export interface WebhookRow {
  id: number;
  user_seq: number | null;
  name: string;
  url: string;
  events: string;
  project_id: string | null;
  session_kinds: string | null;
  has_secret: number;
  timeout_ms: number;
  retry_count: number;
  retry_backoff_ms: number;
  enabled: number;
  disabled_reason: string | null;
  failing_since: number | null;
  failures: number;
  last_success_at: number | null;
  epoch: number;
  created_at: number;
  updated_at: number;
}

/** The columns of a webhook `w`. */
export const WEBHOOK_COLUMNS = `w.id, w.user_seq, w.name, w.url, w.events, w.project_id, w.session_kinds,
  w.secret IS NOT NULL AS has_secret, w.timeout_ms, w.retry_count, w.retry_backoff_ms, w.enabled, w.disabled_reason,
  w.failing_since, w.failures, w.last_success_at, w.epoch, w.created_at, w.updated_at`;

export function toWebhook(row: WebhookRow): Webhook {
  return {
    id: row.id,
    userSeq: row.user_seq,
    name: row.name,
    url: row.url,
    events: JSON.parse(row.events) as WebhookEventType[],
    projectId: row.project_id,
    sessionKinds: row.session_kinds === null ? null : (JSON.parse(row.session_kinds) as SessionKind[]),
    hasSecret: row.has_secret === 1,
    timeoutMs: row.timeout_ms,
    retryCount: row.retry_count,
    retryBackoffMs: row.retry_backoff_ms,
    enabled: row.enabled === 1,
    disabledReason: row.disabled_reason,
    failingSince: row.failing_since,
    failures: row.failures,
    lastSuccessAt: row.last_success_at,
    epoch: row.epoch,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** The owner in `webhook_subscriptions` and `webhook_deliveries`: 0 for a system webhook. */
export function ownerOf({ userSeq }: Pick<Webhook, 'userSeq'>): number {
  return userSeq ?? 0;
}

/** Replaces the subscriptions of a webhook by its current ones. */
export function* subscribeIn(tx: Transaction, webhook: Webhook): Step<void> {
  yield* tx.run('DELETE FROM webhook_subscriptions WHERE webhook_id = ?', webhook.id);
  if (!webhook.enabled) return;
  for (const type of new Set(webhook.events)) {
    yield* tx.run(
      'INSERT INTO webhook_subscriptions (event_type, user_seq, webhook_id) VALUES (?, ?, ?)',
      type,
      ownerOf(webhook),
      webhook.id,
    );
  }
}
