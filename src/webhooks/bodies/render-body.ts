// The body of a webhook event: the envelope of all, and what its type has in addition (§6.3, §6.5).
import { isoTime } from '../../domain/clock.ts';
import type {
  BodyTarget,
  EventFacts,
  EventSubject,
  EventSubjectOf,
  RenderBody,
  SessionFacts,
} from '../../domain/webhooks/event-facts.ts';
import { WEBHOOK_EVENTS, type WebhookEventType } from '../../domain/webhooks/webhook.ts';
import type { EventBody } from '../../wire/webhooks/event-bodies.ts';
import { brokenSession, completedSession } from './ended-session.ts';
import { movedInsight } from './insight.ts';
import { failedPage, publishedPage } from './publish-page.ts';
import { answeredQuestion, askedQuestion } from './question.ts';
import { movedTaskRun } from './scheduled-task.ts';
import { exportedWorkspace } from './workspace-export.ts';

/** The fields that are the same in every body. */
type Shared = 'schema_version' | 'event_type' | 'event_id' | 'occurred_at' | 'is_test' | 'user' | 'webhook' | 'meta';
/** What a type has in addition; its `meta` goes into that of the envelope. */
type Own<T extends WebhookEventType> = Omit<EventBody<T>, Shared> & { readonly meta?: MetaOf<EventBody<T>['meta']> };
type MetaOf<M> = Omit<M, 'trigger' | 'source' | 'idempotency_key'>;

const OWN: { readonly [T in WebhookEventType]: (subject: EventSubjectOf<T>, session: SessionFacts) => Own<T> } = {
  'session.completed': completedSession,
  'session.failed': brokenSession,
  'session.stopped': brokenSession,
  'scheduled_task.run_status_changed': movedTaskRun,
  'user_input.requested': askedQuestion,
  'user_input.answered': answeredQuestion,
  'workbench.insight_status_changed': movedInsight,
  'publish_page.published': publishedPage,
  'publish_page.failed': failedPage,
  'workspace_export.completed': exportedWorkspace,
};

/** Makes the JSON text of a body, as `EVENT_BODIES` describes it. */
export const renderBody: RenderBody = (facts, target) => {
  const { subject, session, eventId } = facts;
  const make = OWN[subject.type] as (subject: EventSubject, session: SessionFacts) => Own<WebhookEventType>;
  const { meta, ...own } = make(subject, session);
  const { source } = WEBHOOK_EVENTS[subject.type];
  const shared = { trigger: triggerOf(facts), source, idempotency_key: eventId };
  return JSON.stringify({ ...envelopeOf(facts, target), ...own, meta: { ...shared, ...meta } });
};

function envelopeOf({ eventId, occurredAt, isTest, user, subject }: EventFacts, { id, ownerScope }: BodyTarget) {
  return {
    schema_version: 'v1',
    event_type: subject.type,
    event_id: eventId,
    occurred_at: isoTime(occurredAt),
    is_test: isTest,
    user: {
      user_id: user.id,
      username: user.username,
      full_name: user.fullName,
      department: user.department,
      role: user.role,
    },
    webhook: { id, owner_scope: ownerScope },
  };
}

function triggerOf({ isTest, subject }: EventFacts): string {
  if (isTest) return 'test';
  const { triggers }: { readonly triggers: readonly [string, ...string[]] } = WEBHOOK_EVENTS[subject.type];
  const hasMoved = subject.type === 'workbench.insight_status_changed' && subject.insight.previous !== null;
  return (hasMoved ? triggers[1] : undefined) ?? triggers[0];
}
