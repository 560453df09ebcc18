// The verbs that identify callers: keys and login tokens share one resolver.
import type { Store } from '../../store/open-store.ts';
import { type ActAsParts, makeActAs } from './act-as.ts';
import { makeAuthenticate } from './authenticate.ts';
import { type LogInParts, makeLogIn } from './log-in.ts';
import { makeLoginThrottle } from './login-throttle.ts';
import { type LoginTokenParts, makeLoginTokens } from './login-tokens.ts';
import { makeOfficeLogins, type OfficeLoginParts } from './office-logins.ts';
import { makeResolveKey, makeUseKey } from './resolve-key.ts';
import { makeAskProvider } from './sso.ts';

export type CredentialParts = LoginTokenParts &
  Pick<ActAsParts, 'store' | 'audit'> &
  Pick<OfficeLoginParts, 'store' | 'settings'> &
  Pick<LogInParts, 'store' | 'settings' | 'catalog' | 'lookUp'> & { readonly store: Pick<Store, 'keys'> };

export function makeCredentials(parts: CredentialParts) {
  const useKey = makeUseKey(parts);
  const resolveKey = makeResolveKey({ ...parts, useKey });
  const { issueToken, resolveToken, ...signingKeys } = makeLoginTokens(parts);
  const [throttle, askProvider] = [makeLoginThrottle(parts.clock), makeAskProvider()];
  const { officeLogins, ...officeLinks } = makeOfficeLogins({ ...parts, throttle, useKey });
  return {
    signingKeys,
    officeLinks,
    officeLogins,
    authenticate: makeAuthenticate({ resolveKey, resolveToken, actAs: makeActAs({ ...parts, useKey }) }),
    logIn: makeLogIn({ ...parts, throttle, resolveKey, askProvider, issueToken }),
  };
}
