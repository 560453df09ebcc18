// What lists and records of webhooks and their deliveries show.
import type { DeliveryRecordWire, DeliveryWire } from '../../../wire/webhooks/delivery.ts';
import type { WebhookWire } from '../../../wire/webhooks/webhook.ts';
import { type Column, column, field, state } from '../../../terminal/columns.ts';

/** In one word: disabled, failing since its last success, or enabled. */
function stateOf({ enabled, failing_since: failingSince }: WebhookWire): 'enabled' | 'failing' | 'disabled' {
  if (!enabled) return 'disabled';
  return failingSince === null ? 'enabled' : 'failing';
}

export const WEBHOOKS: readonly Column<WebhookWire>[] = [
  field('id', 9),
  state('state', stateOf, 8),
  field('name', 7),
  column('username', ({ username }) => username ?? '(system)', 6),
  column('events', ({ events }) => events.join(', '), 4),
  field('last_success_at', 3),
  field('url', 6),
];

export const WEBHOOK: readonly Column<WebhookWire>[] = [
  ...WEBHOOKS,
  field('owner_scope'),
  field('scope'),
  field('project_id'),
  column('session_kinds', ({ session_kinds: kinds }) => kinds?.join(', ') ?? 'all'),
  field('has_secret'),
  field('timeout_ms'),
  field('retry_count'),
  field('retry_backoff_ms'),
  field('failing_since'),
  field('disabled_reason'),
  field('created_at'),
  field('updated_at'),
];

export const DELIVERIES: readonly Column<DeliveryWire>[] = [
  field('id', 9),
  state('state', (delivery) => delivery.state, 8),
  field('webhook_id', 6),
  field('event_type', 7),
  field('session_id', 3),
  column('attempts', ({ attempt_count: count }) => count, 4),
  field('last_status_code', 5),
  field('created_at', 5),
  field('next_attempt_at', 4),
  field('is_test', 1),
  field('event_id', 0),
  { ...field('last_error', 4), wraps: true },
];

export const DELIVERY: readonly Column<DeliveryRecordWire>[] = [...DELIVERIES, field('delivered_at')];

export const ATTEMPTS: readonly Column<DeliveryRecordWire['attempts'][number]>[] = [
  column('attempt', ({ no }) => no, 9),
  field('at', 8),
  field('status_code', 8),
  field('duration_ms', 6),
  field('response_excerpt', 4),
  { ...field('error', 7), wraps: true },
];
