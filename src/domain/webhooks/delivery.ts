// A delivery: one event for one webhook, its states, and the attempts made at it (H11).
import type { WebhookEventType } from './webhook.ts';

export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'canceled'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/**
 * Every allowed move; the store guards each in SQL. What has ended goes back to `pending` when it is delivered again. An
 * attempt that was under way when its delivery ended otherwise may still arrive.
 */
export const DELIVERY_MOVES: Readonly<Record<DeliveryState, readonly DeliveryState[]>> = {
  pending: ['delivered', 'failed', 'canceled'],
  delivered: ['pending'],
  failed: ['pending', 'delivered'],
  canceled: ['pending', 'delivered'],
};

export interface Delivery {
  readonly id: number;
  readonly webhookId: number;
  /** The same for all webhooks of one event. */
  readonly eventId: string;
  readonly eventType: WebhookEventType;
  /** Null for a test without a session. */
  readonly sessionId: string | null;
  readonly isTest: boolean;
  readonly state: DeliveryState;
  readonly attemptCount: number;
  /** Null unless it is pending. */
  readonly nextAttemptAt: number | null;
  /** Of the last attempt; null when it got no reply. */
  readonly lastStatusCode: number | null;
  readonly lastError: string | null;
  readonly createdAt: number;
  readonly deliveredAt: number | null;
}

/** How one request ended. */
export interface AttemptResult {
  /** When it began. */
  readonly at: number;
  /** Null when there was no reply. */
  readonly statusCode: number | null;
  readonly durationMs: number;
  /** In words; null when the receiver answered 2xx. */
  readonly error: string | null;
  /** The first 1 KB of the reply, as text; null when there was none. */
  readonly responseExcerpt: string | null;
}

/** An attempt of a delivery, counted from 1. */
export interface Attempt extends AttemptResult {
  readonly no: number;
}
