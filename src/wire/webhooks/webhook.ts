// Configurations of webhooks (§2.15, H1).
import { SESSION_KINDS } from '../../domain/sessions/session.ts';
import { OWNER_SCOPES, WEBHOOK_EVENT_TYPES, WEBHOOK_LIMITS, WEBHOOK_SCOPES } from '../../domain/webhooks/webhook.ts';
import { array, object } from '../composites.ts';
import { pageFields } from '../listing.ts';
import { boolean, integer, line, oneOf, string, time, uuid } from '../scalars.ts';
import { named, nullable, nullish, optional, refined, type Static } from '../shape.ts';
import { unprocessable } from '../../domain/errors.ts';
import { optionalFlag } from '../query.ts';

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

/** A webhook, without its secret. The last three fields say how it is doing. */
export const webhook = named(
  'Webhook',
  object({
    id: integer({ from: 1 }),
    name: string,
    url: string,
    events: array(oneOf(WEBHOOK_EVENT_TYPES)),
    scope: oneOf(WEBHOOK_SCOPES),
    project_id: nullable(uuid),
    session_kinds: nullable(array(oneOf(SESSION_KINDS))),
    has_secret: boolean,
    timeout_ms: integer(timeoutMs),
    retry_count: integer(retryCount),
    retry_backoff_ms: integer(retryBackoffMs),
    enabled: boolean,
    owner_scope: oneOf(OWNER_SCOPES),
    username: nullable(string),
    created_at: time,
    updated_at: time,
    disabled_reason: nullable(string),
    failing_since: nullable(time),
    last_success_at: nullable(time),
  }),
);
export type WebhookWire = Static<typeof webhook>;

/** What can be changed of one. `secret: null` removes the secret; a new one overlaps with the one before for 24 h (H4). */
const changeable = {
  name: optional(line({ max: 200 })),
  url: optional(webAddress),
  events: optional(events),
  scope: optional(oneOf(WEBHOOK_SCOPES)),
  project_id: nullish(uuid),
  session_kinds: nullish(sessionKinds),
  secret: nullish(secret),
  timeout_ms: optional(integer(timeoutMs)),
  retry_count: optional(integer(retryCount)),
  retry_backoff_ms: optional(integer(retryBackoffMs)),
  enabled: optional(boolean),
};

/** `user` is a name or an id: for administrators, who may make webhooks of others. */
export const newWebhook = named(
  'NewWebhook',
  object({
    ...changeable,
    name: line({ max: 200 }),
    url: webAddress,
    events,
    owner_scope: optional(oneOf(OWNER_SCOPES)),
    user: optional(line({ max: 200 })),
  }),
);
export type NewWebhookWire = Static<typeof newWebhook>;

export const webhookChange = named('WebhookChange', object(changeable));
export type WebhookChangeWire = Static<typeof webhookChange>;

/** What to list of them (H8). */
export const webhookQuery = object({
  owner_scope: optional(oneOf(OWNER_SCOPES)),
  enabled: optionalFlag,
  ...pageFields,
});

/** The id of what was deleted (H17). */
export const webhookDeletion = named('WebhookDeletion', object({ id: integer({ from: 1 }) }));
