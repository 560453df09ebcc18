// Converts webhooks between the wire and the domain (H1).
import { isoTime, isoTimeOrNull } from '../../domain/clock.ts';
import { ownerScopeOf, scopeOf } from '../../domain/webhooks/webhook.ts';
import type { NewWebhookInput, WebhookInput } from '../../operations/webhooks/webhooks.ts';
import type { WebhookRecord } from '../../store/webhooks/webhooks.ts';
import type { NewWebhookWire, WebhookChangeWire, WebhookWire } from '../../wire/webhooks/webhook.ts';

/** The fields that both requests have. */
export function webhookInputOf(body: WebhookChangeWire): WebhookInput {
  const { project_id: projectId, session_kinds: sessionKinds, timeout_ms: timeoutMs } = body;
  const { retry_count: retryCount, retry_backoff_ms: retryBackoffMs } = body;
  const { name, url, events, scope, secret, enabled } = body;
  const fields = { name, url, events, scope, projectId, sessionKinds, secret, timeoutMs, retryCount, retryBackoffMs };
  return withoutAbsent({ ...fields, enabled });
}

export function newWebhookOf(body: NewWebhookWire): NewWebhookInput {
  const { name, url, events, owner_scope: ownerScope = null, user = null } = body;
  return { ...webhookInputOf(body), name, url, events, ownerScope, user };
}

type Present<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

function withoutAbsent<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
}

/** A webhook, without its secret. */
export function renderWebhook(webhook: WebhookRecord): WebhookWire {
  return {
    id: webhook.id,
    name: webhook.name,
    url: webhook.url,
    events: webhook.events,
    scope: scopeOf(webhook),
    project_id: webhook.projectId,
    session_kinds: webhook.sessionKinds,
    has_secret: webhook.hasSecret,
    timeout_ms: webhook.timeoutMs,
    retry_count: webhook.retryCount,
    retry_backoff_ms: webhook.retryBackoffMs,
    enabled: webhook.enabled,
    owner_scope: ownerScopeOf(webhook),
    username: webhook.username,
    created_at: isoTime(webhook.createdAt),
    updated_at: isoTime(webhook.updatedAt),
    disabled_reason: webhook.disabledReason,
    failing_since: isoTimeOrNull(webhook.failingSince),
    last_success_at: isoTimeOrNull(webhook.lastSuccessAt),
  };
}
