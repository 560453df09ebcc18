// Webhooks: which events are sent, where, and with how many retries (§2.15, H1).
import type { EventType } from '../sessions/journal-event.ts';
import type { SessionKind } from '../sessions/session.ts';

interface WebhookEvent {
  /** `meta.source`, fixed per event (H9). */
  readonly source: string;
  /** `meta.trigger`; an insight that moves has the second, any other the first (H9). */
  readonly triggers: readonly [string, ...string[]];
  /** The journal event that yields it. */
  readonly journalType: EventType;
  /** Whether the filter on session kinds applies to it (§6.2). */
  readonly hasKindFilter: boolean;
}

/** Every event type that a webhook can subscribe to (§6.2). Each journal type yields at most one of them. */
export const WEBHOOK_EVENTS = {
  'session.completed': on('conversation', 'run.done', ['run_finished'], true),
  'session.failed': on('conversation', 'run.failed', ['run_failed'], true),
  'session.stopped': on('conversation', 'run.stopped', ['run_stopped'], true),
  'scheduled_task.run_status_changed': on('scheduled_task', 'scheduled_task.run_status_changed', [
    'run_status_changed',
  ]),
  'user_input.requested': on('user_input', 'user_input.requested', ['question_asked']),
  'user_input.answered': on('user_input', 'user_input.answered', ['question_answered']),
  'workbench.insight_status_changed': on('workbench', 'insight.status_changed', ['insight_reported', 'insight_moved']),
  'publish_page.published': on('publish_center', 'publish_page.published', ['version_published']),
  'publish_page.failed': on('publish_center', 'publish_page.failed', ['publishing_failed']),
  'workspace_export.completed': on('workspace_export', 'workspace_export.completed', ['export_finished'], true),
} as const satisfies Readonly<Record<string, WebhookEvent>>;

export type WebhookEventType = keyof typeof WEBHOOK_EVENTS;
export const WEBHOOK_EVENT_TYPES = Object.keys(WEBHOOK_EVENTS) as readonly WebhookEventType[];

function on(
  source: string,
  journalType: EventType,
  triggers: WebhookEvent['triggers'],
  hasKindFilter = false,
): WebhookEvent {
  return { source, triggers, journalType, hasKindFilter };
}

/** Whose events a webhook receives: its owner's, or those of all users (§6.2). */
export const OWNER_SCOPES = ['user', 'system'] as const;
export type OwnerScope = (typeof OWNER_SCOPES)[number];

export const WEBHOOK_SCOPES = ['global', 'project'] as const;

/** A webhook without its secrets. */
export interface Webhook {
  /** Also its id on the wire; never given twice. */
  readonly id: number;
  /** Null for a system webhook (`owner_scope` is `system`). */
  readonly userSeq: number | null;
  readonly name: string;
  readonly url: string;
  readonly events: readonly WebhookEventType[];
  /** Null: of every project, and of none (`scope` is `global`). */
  readonly projectId: string | null;
  /** Null is every kind. */
  readonly sessionKinds: readonly SessionKind[] | null;
  readonly hasSecret: boolean;
  /** From connecting to the last byte of the reply. */
  readonly timeoutMs: number;
  /** Attempts after the first. */
  readonly retryCount: number;
  /** The first pause; see `backoff.ts`. */
  readonly retryBackoffMs: number;
  readonly enabled: boolean;
  /** Why the daemon disabled it; null when it did not. */
  readonly disabledReason: string | null;
  /** The first failure since the last success; null while all is well. */
  readonly failingSince: number | null;
  /** Failed attempts since the last success. */
  readonly failures: number;
  readonly lastSuccessAt: number | null;
  /** Grows when it is enabled or its address changes: attempts of an earlier epoch say nothing of it. */
  readonly epoch: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** `owner_scope` of a webhook. */
export function ownerScopeOf({ userSeq }: Pick<Webhook, 'userSeq'>): OwnerScope {
  return userSeq === null ? 'system' : 'user';
}

/** `scope` of a webhook. */
export function scopeOf({ projectId }: Pick<Webhook, 'projectId'>): (typeof WEBHOOK_SCOPES)[number] {
  return projectId === null ? 'global' : 'project';
}

/** The place that the sealed secrets of a webhook belong to. */
export function secretContextOf(webhookId: number): string {
  return `webhook:${webhookId}`;
}

/** Limits of the fields (H1), and how many webhooks one owner may have. */
export const WEBHOOK_LIMITS = {
  timeoutMs: { from: 100, to: 30_000, default: 10_000 },
  retryCount: { from: 0, to: 20, default: 7 },
  retryBackoffMs: { from: 100, to: 3_600_000, default: 5_000 },
  /** In UTF-8. */
  secretBytes: { from: 16, to: 1_024 },
  /** An event is written once for each: they bound what one run costs the store. */
  perOwner: { user: 50, system: 200 } satisfies Readonly<Record<OwnerScope, number>>,
} as const;

/** How long both secrets sign after a rotation (H4). */
export const ROTATION_MS = 86_400_000;
