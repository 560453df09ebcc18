// Renders deliveries with their attempts (H11).
import { isoTime, isoTimeOrNull } from '../../domain/clock.ts';
import type { Delivery } from '../../domain/webhooks/delivery.ts';
import type { DeliveryRecord } from '../../store/webhooks/delivery-records.ts';
import type { TestResult } from '../../operations/webhooks/test-webhook.ts';
import type { DeliveryRecordWire, DeliveryWire, WebhookTestResultWire } from '../../wire/webhooks/delivery.ts';

export function renderDelivery(delivery: Delivery): DeliveryWire {
  return {
    id: delivery.id,
    webhook_id: delivery.webhookId,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    session_id: delivery.sessionId,
    is_test: delivery.isTest,
    state: delivery.state,
    attempt_count: delivery.attemptCount,
    next_attempt_at: isoTimeOrNull(delivery.nextAttemptAt),
    last_status_code: delivery.lastStatusCode,
    last_error: delivery.lastError,
    created_at: isoTime(delivery.createdAt),
    delivered_at: isoTimeOrNull(delivery.deliveredAt),
  };
}

export function renderDeliveryRecord(record: DeliveryRecord): DeliveryRecordWire {
  return {
    ...renderDelivery(record),
    attempts: record.attempts.map((attempt) => ({
      no: attempt.no,
      at: isoTime(attempt.at),
      status_code: attempt.statusCode,
      duration_ms: attempt.durationMs,
      error: attempt.error,
      response_excerpt: attempt.responseExcerpt,
    })),
    body: record.body === '' ? null : record.body,
  };
}

/** §6.6, H10. */
export function renderTestResult({ filteredReason, tested, sent }: TestResult): WebhookTestResultWire {
  return {
    delivered: sent !== null && sent.error === null,
    matched: filteredReason === null,
    filtered_reason: filteredReason,
    tested_session_id: tested.id,
    tested_session_kind: tested.kind,
    tested_project_id: tested.projectId,
    event_id: sent?.eventId ?? null,
    status_code: sent?.statusCode ?? null,
    duration_ms: sent?.durationMs ?? null,
    error: sent?.error ?? null,
    response_excerpt: sent?.responseExcerpt ?? null,
  };
}
