// The guards of routes: each refuses callers that it does not admit, and gives the others their reach.
import { ErrandError } from '../../domain/errors.ts';
import type { Administrator, Caller, Identity, KeyCaller, Origin, UserCaller } from '../../domain/people/user.ts';

/** The caller that each guard admits. */
export interface CallerOf {
  /** An API key. */
  readonly key: KeyCaller;
  /** An administrator: the operator behind the socket, an administrator's key of scope `admin`, or their login token. */
  readonly admin: Administrator;
  /** An administrator's key of scope `admin`, or the operator, but not a login token (§5 rule 2). */
  readonly office: Administrator;
  /** The same, or the cookie that one of them got for a browser (0054). */
  readonly web: Administrator;
  /** Any login token, or an administrator. */
  readonly user: UserCaller | Administrator;
}

export type Guard = keyof CallerOf;

/** Throw `unauthenticated` or `forbidden`. */
const GUARDS: { readonly [G in Guard]: (identity: Identity, origin: Origin) => CallerOf[G] } = {
  key: (identity) => {
    if (identity.kind !== 'key') throw new ErrandError('unauthenticated', 'An API key is required.');
    return { ...identity, reach: 'key' };
  },
  admin: administrator,
  office: withoutTokens,
  web: withoutTokens,
  user: (identity, origin) =>
    identity.kind === 'token' && identity.user.role !== 'admin'
      ? { ...identity, reach: 'user' }
      : administrator(identity, origin),
};

function withoutTokens(identity: Identity, origin: Origin): Administrator {
  if (identity.kind === 'token') throw new ErrandError('unauthenticated', 'An API key of scope admin is required.');
  return administrator(identity, origin);
}

/** The key of scope `admin` and the login token are valid as long as their user is an administrator (B3, K1). */
function administrator(identity: Identity, origin: Origin): Administrator {
  if (identity.kind === 'token' && identity.user.role !== 'admin')
    throw new ErrandError('forbidden', 'This needs the login token of an administrator.');
  if (identity.kind === 'key' && (identity.key.scope !== 'admin' || identity.user.role !== 'admin'))
    throw new ErrandError('forbidden', 'This needs an API key of scope admin whose owner is an administrator.');
  return { ...identity, reach: 'all', origin };
}

/** Converts an identity to the caller of a guarded route. Throws `unauthenticated` or `forbidden`. */
export function callerAt(guard: Guard, identity: Identity, origin: Origin): Caller {
  return GUARDS[guard](identity, origin);
}
