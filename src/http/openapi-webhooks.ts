// The webhooks of the OpenAPI document: what is sent to a receiver, for each event type (§6.2, §6.3).
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from '../domain/webhooks/webhook.ts';
import { string, uuid } from '../wire/shapes/scalars.ts';
import { type AnyShape, type Components, named, type Shape } from '../wire/shapes/shape.ts';
import { EVENT_BODIES } from '../wire/webhooks/event-bodies.ts';

/** When each fires. */
const SUMMARIES: Readonly<Record<WebhookEventType, string>> = {
  'session.completed': 'A run of a session completed',
  'session.failed': 'A run of a session failed',
  'session.stopped': 'A session was stopped',
  'scheduled_task.run_status_changed': 'The status of a run of a scheduled task changed',
  'user_input.requested': 'A run asks its user',
  'user_input.answered': 'The user answered a question',
  'workbench.insight_status_changed': 'An insight was reported, or its status changed',
  'publish_page.published': 'A version of a page was published',
  'publish_page.failed': 'Publishing a page automatically failed',
  'workspace_export.completed': 'The archive of a workspace is ready, or there is nothing to pack',
};

const HEADERS: readonly { readonly name: string; readonly shape: Shape<string>; readonly isOptional?: true }[] = [
  { name: 'X-Service-Event', shape: string },
  { name: 'X-Service-Event-Id', shape: uuid },
  { name: 'X-Service-Timestamp', shape: string },
  // With a secret only.
  { name: 'X-Service-Signature', shape: string, isOptional: true },
];

/** Describes the requests that webhooks receive, by event type. */
export function describeWebhooks(components: Components): object {
  return Object.fromEntries(WEBHOOK_EVENT_TYPES.map((type) => [type, { post: requestOf(type, components) }]));
}

function requestOf(type: WebhookEventType, components: Components): object {
  const schema = named(nameOf(type), EVENT_BODIES[type] as AnyShape).describe(components);
  return {
    operationId: nameOf(type),
    summary: SUMMARIES[type],
    tags: ['webhooks'],
    security: [],
    parameters: HEADERS.map(({ name, shape, isOptional = false }) => ({
      name,
      in: 'header',
      required: !isOptional,
      schema: shape.describe(components),
    })),
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: {
      '2XX': { description: 'Delivered.' },
      '410': { description: 'The webhook is disabled.' },
      default: { description: 'The delivery is attempted again later.' },
    },
  };
}

/** Such as `SessionCompletedEvent`. */
function nameOf(type: WebhookEventType): string {
  const words = type.split(/[._]/).map((word) => word[0]!.toUpperCase() + word.slice(1));
  return `${words.join('')}Event`;
}
