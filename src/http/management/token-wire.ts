// The token endpoint's requests and replies, and the records of the keys that sign tokens (§2.1, §4.1).
import type { Grant } from '../../operations/people/log-in.ts';
import type { GrantWire } from '../../wire/people/token.ts';

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
