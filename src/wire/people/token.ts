// The token endpoint's grants and answers, and the keys that sign tokens (§2.1, §4.1).
import { object, tagged } from '../composites.ts';
import { constant, integer, oneOf, string, text, time } from '../scalars.ts';
import { named, nullable, type Static } from '../shape.ts';

/** How a login token is requested. The key of an `api_key` grant is in the header. */
export const grant = named(
  'Grant',
  tagged('grant_type', {
    password: { username: text({ max: 256 }), password: text({ max: 1_000 }) },
    sso_token: { provider: text({ max: 256 }), sso_token: text({ max: 8_192 }) },
    api_key: {},
  }),
);
export type GrantWire = Static<typeof grant>;

/** `expires_in` in seconds. */
export const loginToken = named(
  'LoginToken',
  object({ access_token: string, token_type: constant('bearer'), expires_in: integer({ from: 0 }) }),
);
export type LoginTokenWire = Static<typeof loginToken>;

/** A key that login tokens are signed with. One is `signing`; `verifying` ones are good for tokens issued before. */
export const signingKey = named(
  'SigningKey',
  object({
    id: string,
    state: oneOf(['signing', 'verifying', 'revoked']),
    created_at: time,
    retired_at: nullable(time),
    revoked_at: nullable(time),
  }),
);
export type SigningKeyWire = Static<typeof signingKey>;
