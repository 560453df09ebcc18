// Rows of webhooks, and their subscriptions.
import type { Webhook } from '../../domain/webhooks/webhook.ts';
import { flag, json, plain, rowKind } from '../engine/row.ts';
import type { Step, Transaction } from '../engine/statement.ts';

export const WEBHOOK = rowKind<Webhook>({
  id: plain,
  userSeq: plain,
  name: plain,
  url: plain,
  events: json<Webhook['events']>,
  projectId: plain,
  sessionKinds: json<Webhook['sessionKinds']>,
  hasSecret: flag,
  timeoutMs: plain,
  retryCount: plain,
  retryBackoffMs: plain,
  enabled: flag,
  disabledReason: plain,
  failingSince: plain,
  failures: plain,
  lastSuccessAt: plain,
  epoch: plain,
  createdAt: plain,
  updatedAt: plain,
});

/** The columns of a webhook `w`. */
export const WEBHOOK_COLUMNS = `w.id, w.user_seq, w.name, w.url, w.events, w.project_id, w.session_kinds,
  w.secret IS NOT NULL AS has_secret, w.timeout_ms, w.retry_count, w.retry_backoff_ms, w.enabled, w.disabled_reason,
  w.failing_since, w.failures, w.last_success_at, w.epoch, w.created_at, w.updated_at`;

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
