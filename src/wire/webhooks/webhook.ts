// Configurations of webhooks (§2.15, H1).
import { SESSION_KINDS } from '../../domain/sessions/session.ts';
import {
  OWNER_SCOPES,
  ownerScopeOf,
  scopeOf,
  WEBHOOK_EVENT_TYPES,
  WEBHOOK_LIMITS,
  WEBHOOK_SCOPES,
} from '../../domain/webhooks/webhook.ts';
import { array } from '../shapes/composites.ts';
import { endpoints, numberOf } from '../endpoint.ts';
import { listOf, pageFields } from '../listing.ts';
import { made, record, request } from '../shapes/record.ts';
import { boolean, integer, line, oneOf, string, time, uuid } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable, nullish, optional, orElse, refersTo, refined } from '../shapes/shape.ts';
import { deliveriesOfWebhookQuery, delivery, webhookTest, webhookTestResult } from './delivery.ts';
import { unprocessable } from '../../domain/errors.ts';
import { optionalFlag } from '../shapes/query.ts';

const { timeoutMs, retryCount, retryBackoffMs, secretBytes } = WEBHOOK_LIMITS;
const MAX_URL_CHARACTERS = 2_048;

/** A list without repetitions of one item or more. */
function wordsOf<const T extends string>(words: readonly T[]) {
  return refined(
    array(oneOf(words), { min: 1, max: words.length }),
    (found, path) => {
      if (new Set(found).size < found.length) throw unprocessable(path, 'must not contain duplicates');
      return found;
    },
    { uniqueItems: true },
  );
}

const events = wordsOf(WEBHOOK_EVENT_TYPES);
const sessionKinds = wordsOf(SESSION_KINDS);

/** An absolute http or https address without a user; whether it may be reached is not decided here (H17). */
const webAddress = refined(
  line({ max: MAX_URL_CHARACTERS }),
  (text, path) => {
    const url = URL.parse(text);
    if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
      throw unprocessable(path, 'must be an absolute http or https address');
    if (url.username !== '' || url.password !== '')
      throw unprocessable(path, 'must not contain a user name or password');
    return text;
  },
  { format: 'uri' },
);

const secret = refined(
  line({ max: secretBytes.to }),
  (text, path) => {
    const bytes = Buffer.byteLength(text);
    if (bytes < secretBytes.from || bytes > secretBytes.to)
      throw unprocessable(path, `must be ${secretBytes.from} to ${secretBytes.to} bytes in UTF-8`);
    return text;
  },
  { writeOnly: true },
);

interface Owned {
  readonly userSeq: number | null;
}
interface Scoped {
  readonly projectId: string | null;
}

/** A webhook, without its secret. The last three fields say how it is doing. */
const webhook = named(
  'Webhook',
  record({
    id: integer({ from: 1 }),
    name: string,
    url: string,
    events: array(oneOf(WEBHOOK_EVENT_TYPES)),
    scope: made(oneOf(WEBHOOK_SCOPES), (webhook: Scoped) => scopeOf(webhook)),
    projectId: nullable(uuid),
    sessionKinds: nullable(array(oneOf(SESSION_KINDS))),
    hasSecret: boolean,
    timeoutMs: integer(timeoutMs),
    retryCount: integer(retryCount),
    retryBackoffMs: integer(retryBackoffMs),
    enabled: boolean,
    ownerScope: made(oneOf(OWNER_SCOPES), (webhook: Owned) => ownerScopeOf(webhook)),
    username: nullable(string),
    createdAt: time,
    updatedAt: time,
    disabledReason: nullable(string),
    failingSince: nullable(time),
    lastSuccessAt: nullable(time),
  }),
);
export type WebhookWire = JsonOf<typeof webhook>;

/** What can be changed of one. `secret: null` removes the secret; a new one overlaps with the one before for 24 h (H4). */
const changeable = {
  name: optional(line({ max: 200 })),
  url: optional(webAddress),
  events: optional(events),
  scope: optional(oneOf(WEBHOOK_SCOPES)),
  projectId: nullish(uuid),
  sessionKinds: nullish(sessionKinds),
  secret: nullish(secret),
  timeoutMs: optional(integer(timeoutMs)),
  retryCount: optional(integer(retryCount)),
  retryBackoffMs: optional(integer(retryBackoffMs)),
  enabled: optional(boolean),
};

/** `user` is a name or an id: for administrators, who may make webhooks of others. */
const newWebhook = named(
  'NewWebhook',
  request({
    ...changeable,
    name: line({ max: 200 }),
    url: webAddress,
    events,
    ownerScope: orElse(oneOf(OWNER_SCOPES), null),
    user: orElse(refersTo('users', line({ max: 200 })), null),
  }),
);

const webhookChange = named('WebhookChange', request(changeable));
export type WebhookChangeWire = JsonOf<typeof webhookChange>;

/** What to list of them (H8). */
const webhookQuery = request({
  ownerScope: orElse(oneOf(OWNER_SCOPES), null),
  enabled: orElse(optionalFlag, null),
  ...pageFields,
});

/** The id of what was deleted (H17). */
const webhookDeletion = named('WebhookDeletion', record({ id: integer({ from: 1 }) }));

const one = { params: { id: numberOf('Webhook') }, reply: webhook };

/** A test takes as long as the receiver may, which is at most 30 s (H1). */
const TEST_MS = 40_000;

/** Webhooks: everyone's own, and for administrators all (H2). */
// biome-ignore format: a table reads best with one endpoint a line
export const webhooks = endpoints('user', 'envelope', {
  list: { route: 'GET /api/v1/webhooks', summary: 'List webhooks', operation: 'listWebhooks', query: webhookQuery, reply: listOf(webhook), perPart: 80 },
  create: { route: 'POST /api/v1/webhooks', summary: 'Create a webhook', operation: 'createWebhook', body: newWebhook, reply: webhook, statuses: [201] },
  get: { route: 'GET /api/v1/webhooks/:id', summary: 'Read a webhook', operation: 'getWebhook', ...one },
  change: { route: 'PATCH /api/v1/webhooks/:id', summary: 'Change a webhook', operation: 'changeWebhook', ...one, body: webhookChange },
  remove: { route: 'DELETE /api/v1/webhooks/:id', summary: 'Delete a webhook with its deliveries', operation: 'deleteWebhook', ...one, reply: webhookDeletion },
  test: { route: 'POST /api/v1/webhooks/:id/test', summary: 'Send a test event to a webhook', operation: 'testWebhook', ...one, body: webhookTest, reply: webhookTestResult, patienceMs: TEST_MS },
  listDeliveries: { route: 'GET /api/v1/webhooks/:id/deliveries', summary: 'List the deliveries of a webhook', ...one, query: deliveriesOfWebhookQuery, reply: listOf(delivery) },
});
