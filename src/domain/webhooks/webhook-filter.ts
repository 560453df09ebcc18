// Whether a webhook wants an event (§6.6, H5): one rule for real events and for tests.
import type { SessionKind } from '../sessions/session.ts';
import { WEBHOOK_EVENTS, type Webhook, type WebhookEventType } from './webhook.ts';

/** What the filters look at. */
export interface Occasion {
  readonly type: WebhookEventType;
  readonly sessionKind: SessionKind;
  readonly projectId: string | null;
}

export const FILTERED_REASONS = [
  'disabled',
  'event_type_filtered',
  'session_kind_filtered',
  'session_project_missing',
  'project_mismatch',
] as const;
export type FilteredReason = (typeof FILTERED_REASONS)[number];

/** The first filter that holds an event back, in the order of H5; null when it passes. */
export function filteredReason(
  webhook: Pick<Webhook, 'enabled' | 'events' | 'sessionKinds' | 'projectId'>,
  { type, sessionKind, projectId }: Occasion,
): FilteredReason | null {
  if (!webhook.enabled) return 'disabled';
  if (!webhook.events.includes(type)) return 'event_type_filtered';
  const { sessionKinds } = webhook;
  if (WEBHOOK_EVENTS[type].hasKindFilter && sessionKinds !== null && !sessionKinds.includes(sessionKind))
    return 'session_kind_filtered';
  if (webhook.projectId === null) return null;
  if (projectId === null) return 'session_project_missing';
  return projectId === webhook.projectId ? null : 'project_mismatch';
}
