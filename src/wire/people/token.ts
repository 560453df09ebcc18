// The token endpoint's grants and answers, and the keys that sign tokens (§2.1, §4.1).
import { tagged } from '../shapes/composites.ts';
import { endpoints } from '../endpoint.ts';
import { listOf } from '../listing.ts';
import { called, made, record } from '../shapes/record.ts';
import { constant, integer, oneOf, string, text, time } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable, type Static } from '../shapes/shape.ts';

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
  record({
    text: called('access_token', string),
    tokenType: made(constant('bearer'), () => 'bearer' as const),
    expiresInSeconds: called('expires_in', integer({ from: 0 })),
  }),
);

interface Ends {
  readonly retiredAt: number | null;
  readonly revokedAt: number | null;
}

/** A key that login tokens are signed with. One is `signing`; `verifying` ones are good for tokens issued before. */
const signingKey = named(
  'SigningKey',
  record({
    id: string,
    state: made(oneOf(['signing', 'verifying', 'revoked']), ({ retiredAt, revokedAt }: Ends) => {
      if (revokedAt !== null) return 'revoked';
      return retiredAt === null ? 'signing' : 'verifying';
    }),
    createdAt: time,
    retiredAt: nullable(time),
    revokedAt: nullable(time),
  }),
);
export type SigningKeyWire = JsonOf<typeof signingKey>;

/** The keys that sign login tokens, for administrators. */
// biome-ignore format: a table reads best with one endpoint a line
export const tokens = endpoints('admin', 'envelope', {
  listKeys: { route: 'GET /api/v1/tokens/keys', summary: 'List the keys that sign login tokens', operation: 'listSigningKeys', reply: listOf(signingKey) },
  rotate: { route: 'POST /api/v1/tokens/rotate', summary: 'Begin to sign with a new key', operation: 'rotateSigningKey', reply: signingKey, statuses: [201] },
  revokeAll: { route: 'POST /api/v1/tokens/revoke-all', summary: 'Refuse every login token issued so far', operation: 'revokeAllTokens', reply: signingKey, statuses: [201] },
});
