// The token endpoint's requests and replies, and the records of the keys that sign tokens (§2.1, §4.1).
import { isoTime, isoTimeOrNull } from '../../domain/clock.ts';
import type { LoginToken } from '../../operations/people/login-tokens.ts';
import type { Grant } from '../../operations/people/log-in.ts';
import type { SigningKey } from '../../store/people/signing-keys.ts';
import type { GrantWire, LoginTokenWire, SigningKeyWire } from '../../wire/people/token.ts';

/** The request's data outside its body. The API key is read only where it is the grant. */
export interface GrantFrame {
  readonly address: string;
  readApiKey(): string | null;
}

/** The grant of a request. */
export function grantOf(grant: GrantWire, { address, readApiKey }: GrantFrame): Grant {
  if (grant.grant_type === 'api_key') return { type: 'api_key', apiKey: readApiKey() };
  if (grant.grant_type === 'password')
    return { type: 'password', username: grant.username, password: grant.password, address };
  return { type: 'sso_token', provider: grant.provider, ssoToken: grant.sso_token, address };
}

export function renderLoginToken({ text, expiresInSeconds }: LoginToken): LoginTokenWire {
  return { access_token: text, token_type: 'bearer', expires_in: expiresInSeconds };
}

/** A signing key without its salt. `state` is `signing`, `verifying` or `revoked`. */
export function renderSigningKey({ id, createdAt, retiredAt, revokedAt }: SigningKey): SigningKeyWire {
  return {
    id,
    state: revokedAt !== null ? 'revoked' : retiredAt === null ? 'signing' : 'verifying',
    created_at: isoTime(createdAt),
    retired_at: isoTimeOrNull(retiredAt),
    revoked_at: isoTimeOrNull(revokedAt),
  };
}
