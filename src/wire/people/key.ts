// API keys: their records, and what they are made for (B2).
import { unprocessable } from '../../domain/errors.ts';
import { KEY_SCOPES } from '../../domain/people/user.ts';
import { continueByOf } from '../../domain/sessions/continued/continue-by.ts';
import { capabilityChoice, capabilityConfig, capabilityNames } from '../capabilities/capability.ts';
import { endpoints } from '../endpoint.ts';
import { listOf } from '../listing.ts';
import { called, made, record, request } from '../shapes/record.ts';
import { integer, line, oneOf, string, time, uuid } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable, optional, orElse, refersTo, refined } from '../shapes/shape.ts';

/** The `model` of a key that has its owner's default. */
export const AUTOMATIC = 'auto';

/** An API key. `capability_config`: what a session that it opens now may use. */
const key = named(
  'Key',
  record({
    id: string,
    name: string,
    userId: uuid,
    username: string,
    scope: oneOf(KEY_SCOPES),
    lastFour: string,
    model: made(string, ({ model }: { readonly model: string | null }) => model ?? AUTOMATIC),
    target: string,
    capabilities: called('capability_config', capabilityConfig),
    capabilityNames,
    projectId: nullable(uuid),
    continueBy: nullable(string),
    expiresAt: nullable(time),
    lastUsedAt: nullable(time),
    revokedAt: nullable(time),
    createdAt: time,
    /** Only in the answer to its creation. */
    secret: called('key', optional(string)),
  }),
);
export type KeyWire = JsonOf<typeof key>;

const name = line({ max: 200 });
const label = line({ max: 200, min: 0 });
/** Null is automatic. */
const model = refined(name, (name) => (name === AUTOMATIC ? null : name));
/** The `continue_by` of a key whose sessions are continued by their ids alone. */
export const BY_NOTHING = 'none';
/** Null is by nothing. Throws `unprocessable`. */
const continueBy = refined(line({ max: 100 }), (text, path) => {
  if (text === BY_NOTHING) return null;
  if (continueByOf(text) === undefined) throw unprocessable(path, CONTINUE_BY_WORDS);
  return text;
});
const CONTINUE_BY_WORDS =
  'must be header:NAME or metadata:FIELD, of a name that means nothing else, or history, never or none';
const MAX_EXPIRY_SECONDS = 100 * 365 * 24 * 3600;
const expiry = integer({ from: 1, to: MAX_EXPIRY_SECONDS, unit: 'seconds' });

/** What a new key is for. */
const newKey = named(
  'NewKey',
  request({
    target: orElse(nullable(name), 'free'),
    user: refersTo('users', name),
    scope: oneOf(KEY_SCOPES),
    name: orElse(nullable(label), null),
    model: orElse(nullable(model), null),
    capabilityChoice: called('capability_config', orElse(nullable(capabilityChoice), null)),
    projectId: orElse(nullable(uuid), null),
    continueBy: orElse(nullable(continueBy), null),
    expiresInSeconds: orElse(nullable(expiry), null),
  }),
);

/** What may change of a key, for the sessions that it opens from then on. What is absent stays. */
const keyChange = named(
  'KeyChange',
  request(
    {
      name: optional(label),
      model: optional(model),
      target: optional(name),
      continueBy: optional(continueBy),
      capabilityChoice: called('capability_config', optional(capabilityChoice)),
    },
    { atLeastOne: true },
  ),
);
export type KeyChangeWire = JsonOf<typeof keyChange>;

/** What to list of them. `user` is a name or an id. */
const keyQuery = request({ user: orElse(refersTo('users', string), null) });

/** API keys, for administrators. */
// biome-ignore format: a table reads best with one endpoint a line
export const keys = endpoints('admin', 'envelope', {
  list: { route: 'GET /api/v1/keys', summary: 'List API keys', operation: 'listKeys', query: keyQuery, reply: listOf(key) },
  create: { route: 'POST /api/v1/keys', summary: 'Create an API key', operation: 'createKey', body: newKey, reply: key, statuses: [201] },
  get: { route: 'GET /api/v1/keys/:ref', summary: 'Read an API key', operation: 'getKey', reply: key },
  change: { route: 'PATCH /api/v1/keys/:ref', summary: 'Change an API key', operation: 'changeKey', body: keyChange, reply: key },
  revoke: { route: 'DELETE /api/v1/keys/:ref', summary: 'Revoke an API key', operation: 'revokeKey', reply: key },
});
