// The one place that turns a credential into an identity: an API key, a login token, or the control socket (§5).
import { ErrandError } from '../../domain/errors.ts';
import type { Identity, Origin, TokenIdentity } from '../../domain/people/user.ts';
import { type ActAs, namedBy } from './act-as.ts';
import { isToken } from './login-tokens.ts';
import type { ResolveKey } from './resolve-key.ts';

export interface AuthenticateParts {
  readonly resolveKey: ResolveKey;
  readonly actAs: ActAs;
  resolveToken(text: string): Promise<TokenIdentity>;
}

/** How a credential has come. `known`: whom it was taken for before, by the same request. */
export interface Approach {
  readonly viaSocket: boolean;
  readonly origin: Origin;
  readonly known?: Identity | undefined;
}

/**
 * Makes the verb. Without a credential only the control socket has an identity: the local operator (K1), who may name a user instead.
 * Throws `unauthenticated` for a missing or invalid credential, `forbidden` when its user is disabled (B5).
 */
export function makeAuthenticate({ resolveKey, resolveToken, actAs }: AuthenticateParts) {
  return async (credential: string | null, { viaSocket, origin, known }: Approach): Promise<Identity> => {
    const username = credential !== null && viaSocket ? namedBy(credential) : undefined;
    if (username !== undefined) return actAs(username, origin, known?.kind === 'key' ? known.key : undefined);
    if (credential !== null) return isToken(credential) ? resolveToken(credential) : resolveKey(credential);
    if (viaSocket) return { kind: 'operator' };
    throw new ErrandError('unauthenticated', 'The API key is missing or invalid.');
  };
}
