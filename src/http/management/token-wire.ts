// The token endpoint's requests and answers, and the records of the keys that sign tokens (§2.1, §4.1).
import { isoTime, isoTimeOrNull } from '../../domain/clock.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { LoginToken } from '../../operations/people/login-tokens.ts';
import type { Grant } from '../../operations/people/log-in.ts';
import type { SigningKey } from '../../store/people/signing-keys.ts';
import { oneOf, textOfAtMost } from '../frame/fields.ts';

const readGrantType = oneOf(['password', 'sso_token', 'api_key'] satisfies Grant['type'][]);
const readUsername = textOfAtMost(256);
const readPassword = textOfAtMost(1_000);
const readProvider = textOfAtMost(256);
const readSsoToken = textOfAtMost(8_192);

/** What the request's frame says, beside its body. The key is read only where it is the grant. */
export interface GrantFrame {
  readonly address: string;
  readApiKey(): string | null;
}

/** The grant of a request. Throws `unprocessable` for a field that does not fit. */
export function parseGrant(body: JsonObject, frame: GrantFrame): Grant {
  const type = readGrantType(body['grant_type'], 'grant_type');
  if (type === 'api_key') return { type, apiKey: frame.readApiKey() };
  if (type === 'sso_token') {
    const provider = readProvider(body['provider'], 'provider');
    return { type, provider, ssoToken: readSsoToken(body['sso_token'], 'sso_token'), address: frame.address };
  }
  const username = readUsername(body['username'], 'username');
  return { type, username, password: readPassword(body['password'], 'password'), address: frame.address };
}

export function renderLoginToken({ text, expiresInSeconds }: LoginToken): object {
  return { access_token: text, token_type: 'bearer', expires_in: expiresInSeconds };
}

/** A signing key without its salt. `state` is `signing`, `verifying` or `revoked`. */
export function renderSigningKey({ id, createdAt, retiredAt, revokedAt }: SigningKey): object {
  return {
    id,
    state: revokedAt !== null ? 'revoked' : retiredAt === null ? 'signing' : 'verifying',
    created_at: isoTime(createdAt),
    retired_at: isoTimeOrNull(retiredAt),
    revoked_at: isoTimeOrNull(revokedAt),
  };
}
