// The one resolver that turns a credential into a caller: an API key, a login token, or the control socket (§5).
import { ErrandError } from '../../domain/errors.ts';
import type { Caller, TokenCaller } from '../../domain/user.ts';
import { isToken } from './login-tokens.ts';
import type { ResolveKey } from './resolve-key.ts';

export interface ResolverParts {
  readonly resolveKey: ResolveKey;
  resolveToken(text: string): Promise<TokenCaller>;
}

/**
 * Makes the resolver. Without a credential only the control socket has a caller: the local operator (K1).
 * Throws `unauthenticated` for a missing or invalid credential, `forbidden` when its user is disabled (B5).
 */
export function makeResolveCaller({ resolveKey, resolveToken }: ResolverParts) {
  return async (credential: string | null, viaSocket: boolean): Promise<Caller> => {
    if (credential !== null) return isToken(credential) ? resolveToken(credential) : resolveKey(credential);
    if (viaSocket) return { kind: 'operator' };
    throw new ErrandError('unauthenticated', 'The API key is missing or invalid.');
  };
}
