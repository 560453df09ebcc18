// API keys: their records, and what they are made for (B2).
import { KEY_SCOPES } from '../../domain/people/user.ts';
import { capabilityChoice, capabilityConfig, capabilityNames } from '../capabilities/capability.ts';
import { object } from '../composites.ts';
import { integer, line, oneOf, string, time, uuid } from '../scalars.ts';
import { named, nullable, nullish, optional, type Static } from '../shape.ts';

/** The `model` of a key that has its owner's default. */
export const AUTOMATIC = 'auto';

/** An API key. `capability_config`: what a session that it opens now may use. */
export const key = named(
  'Key',
  object({
    id: string,
    name: string,
    user_id: uuid,
    username: string,
    scope: oneOf(KEY_SCOPES),
    last_four: string,
    model: string,
    target: string,
    capability_config: capabilityConfig,
    capability_names: capabilityNames,
    project_id: nullable(uuid),
    expires_at: nullable(time),
    last_used_at: nullable(time),
    revoked_at: nullable(time),
    created_at: time,
    /** The secret: only in the answer to its creation. */
    key: optional(string),
  }),
);
export type KeyWire = Static<typeof key>;

const name = line({ max: 200 });
const label = line({ max: 200, min: 0 });
const MAX_EXPIRY_SECONDS = 100 * 365 * 24 * 3600;

/** What a new key is for. */
export const newKey = named(
  'NewKey',
  object({
    target: nullish(name),
    user: name,
    scope: oneOf(KEY_SCOPES),
    name: nullish(label),
    model: nullish(name),
    capability_config: nullish(capabilityChoice),
    project_id: nullish(uuid),
    expires_in_seconds: nullish(integer({ from: 1, to: MAX_EXPIRY_SECONDS, unit: 'seconds' })),
  }),
);
export type NewKeyWire = Static<typeof newKey>;

/** What may change of a key, for the sessions that it opens from then on. What is absent stays. */
export const keyChange = named(
  'KeyChange',
  object(
    {
      name: optional(label),
      model: optional(name),
      target: optional(name),
      capability_config: optional(capabilityChoice),
    },
    { atLeastOne: true },
  ),
);
export type KeyChangeWire = Static<typeof keyChange>;

/** What to list of them. `user` is a name or an id. */
export const keyQuery = object({ user: optional(string) });
