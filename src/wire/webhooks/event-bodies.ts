// The bodies that webhooks are sent (§6.3, §6.5): one shape for each event type.
import { INSIGHT_PRIORITIES, INSIGHT_STATUSES } from '../../domain/sessions/insight.ts';
import { TASK_RUN_STATUSES } from '../../domain/schedules/run-status.ts';
import { SCHEDULE_MODES } from '../../domain/sessions/run.ts';
import { SESSION_KINDS, SESSION_STATUSES } from '../../domain/sessions/session.ts';
import { ROLES } from '../../domain/people/user.ts';
import { OWNER_SCOPES, WEBHOOK_EVENTS, type WebhookEventType } from '../../domain/webhooks/webhook.ts';
import { json, jsonObject, object } from '../shapes/composites.ts';
import { boolean, constant, integer, number, oneOf, string, time, uuid } from '../shapes/scalars.ts';
import { nullable, type Static } from '../shapes/shape.ts';

const count = integer({ from: 0 });

/** The fields of every body. `meta` has more in some. */
function envelope<T extends WebhookEventType>(type: T) {
  return {
    schema_version: constant('v1'),
    event_type: constant(type),
    event_id: uuid,
    occurred_at: time,
    is_test: boolean,
    user: object({ user_id: uuid, username: string, full_name: string, department: string, role: oneOf(ROLES) }),
    webhook: object({ id: count, owner_scope: oneOf(OWNER_SCOPES) }),
  };
}

/** `trigger` is `test` for a test. */
function meta(type: WebhookEventType) {
  const { source, triggers } = WEBHOOK_EVENTS[type];
  return { trigger: oneOf([...triggers, 'test']), source: constant(source), idempotency_key: uuid };
}

const session = object({
  session_id: uuid,
  title: string,
  kind: oneOf(SESSION_KINDS),
  status: oneOf(SESSION_STATUSES),
  project_id: nullable(uuid),
  created_at: time,
  updated_at: time,
});

const RUN = {
  run_id: uuid,
  turn_id: string,
  status: oneOf(['completed', 'failed', 'stopped']),
  schedule_mode: oneOf(SCHEDULE_MODES),
  scheduled_task_id: nullable(uuid),
  started_at: nullable(time),
  finished_at: nullable(time),
};

const summary = object({
  has_artifacts: boolean,
  has_assistant_response: boolean,
  message_count: count,
  assistant_message_count: count,
  tool_execution_count: count,
  total_cost_usd: number({ from: 0 }),
  input_tokens: count,
  output_tokens: count,
  duration_ms: count,
});

const profile = { capability_profile_version: integer({ from: 1 }) };
const ending = { ...profile, model_stop_reason: oneOf(['end_turn', 'max_tokens', 'stopped', 'error']) };

const completed = object({
  ...envelope('session.completed'),
  session,
  run: object(RUN),
  summary,
  meta: object({ ...meta('session.completed'), ...ending }),
});

/** A conversation that did not complete says why. */
function ended(type: 'session.failed' | 'session.stopped') {
  return object({
    ...envelope(type),
    session,
    run: object({ ...RUN, last_error: string }),
    summary,
    meta: object({ ...meta(type), ...ending, error_message: string }),
  });
}

const taskRun = object({
  ...envelope('scheduled_task.run_status_changed'),
  scheduled_task: object({ scheduled_task_id: uuid, name: string, cron: string, timezone: string }),
  run: object({
    run_id: uuid,
    session_id: uuid,
    status: oneOf(TASK_RUN_STATUSES),
    previous_status: nullable(oneOf(TASK_RUN_STATUSES)),
    last_error: nullable(string),
  }),
  session,
  meta: object(meta('scheduled_task.run_status_changed')),
});

const QUESTION = {
  request_id: uuid,
  session_id: uuid,
  tool_name: string,
  tool_input: jsonObject,
  expires_at: time,
};

const asked = object({
  ...envelope('user_input.requested'),
  user_input: object({
    ...QUESTION,
    status: constant('pending'),
    answers: constant(null),
    answered_at: constant(null),
  }),
  session,
  meta: object(meta('user_input.requested')),
});

const answered = object({
  ...envelope('user_input.answered'),
  user_input: object({ ...QUESTION, status: constant('answered'), answers: json, answered_at: nullable(time) }),
  session,
  meta: object(meta('user_input.answered')),
});

const insightMoved = object({
  ...envelope('workbench.insight_status_changed'),
  insight: object({
    insight_id: uuid,
    title: string,
    summary: string,
    priority: oneOf(INSIGHT_PRIORITIES),
    previous_status: nullable(oneOf(INSIGHT_STATUSES)),
    status: oneOf(INSIGHT_STATUSES),
  }),
  meta: object({ ...meta('workbench.insight_status_changed'), trigger_source: oneOf(['agent', 'user', 'api']) }),
});

const PAGE = { publish_center_id: count, name: string, publish_key: string };
const SESSION_OF_PAGE = { session_id: uuid, title: string, kind: oneOf(SESSION_KINDS), project_id: nullable(uuid) };

const published = object({
  ...envelope('publish_page.published'),
  publish_page: object({
    ...PAGE,
    source_type: oneOf(['scheduled_task', 'existing_session']),
    category: nullable(string),
    public_to_board_enabled: boolean,
  }),
  version: object({
    version_no: integer({ from: 1 }),
    session_id: uuid,
    entry_path: string,
    share_code: string,
    published_url: string,
    trigger_type: oneOf(['manual', 'auto']),
    reason: nullable(string),
  }),
  session: object(SESSION_OF_PAGE),
  meta: object(meta('publish_page.published')),
});

const publishingFailed = object({
  ...envelope('publish_page.failed'),
  publish_page: object(PAGE),
  job: object({
    job_id: nullable(uuid),
    run_id: nullable(uuid),
    scheduled_task_id: nullable(uuid),
    status: constant('failed'),
    attempt_count: count,
    max_attempts: count,
    last_error: string,
  }),
  error: object({ message: string }),
  session: object(SESSION_OF_PAGE),
  meta: object(meta('publish_page.failed')),
});

/** The keys are references, not addresses (H15); null where there is nothing. */
const exported = object({
  ...envelope('workspace_export.completed'),
  workspace_export: object({
    status: constant('ready'),
    files_prefix: nullable(string),
    manifest_key: nullable(string),
    archive_key: nullable(string),
    archive_available: boolean,
  }),
  session,
  run: object({
    ...RUN,
    run_id: nullable(uuid),
    turn_id: nullable(string),
    status: nullable(RUN.status),
    schedule_mode: nullable(RUN.schedule_mode),
  }),
  meta: object({ ...meta('workspace_export.completed'), ...profile }),
});

/** The body of each event type. */
export const EVENT_BODIES = {
  'session.completed': completed,
  'session.failed': ended('session.failed'),
  'session.stopped': ended('session.stopped'),
  'scheduled_task.run_status_changed': taskRun,
  'user_input.requested': asked,
  'user_input.answered': answered,
  'workbench.insight_status_changed': insightMoved,
  'publish_page.published': published,
  'publish_page.failed': publishingFailed,
  'workspace_export.completed': exported,
} as const satisfies Record<WebhookEventType, unknown>;

export type EventBody<T extends WebhookEventType> = Static<(typeof EVENT_BODIES)[T]>;
