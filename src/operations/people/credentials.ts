// The verbs that identify callers: keys and login tokens share one resolver.
import type { Store } from '../../store/open-store.ts';
import { makeAuthenticate } from './authenticate.ts';
import { type LogInParts, makeLogIn } from './log-in.ts';
import { makeLoginThrottle } from './login-throttle.ts';
import { type LoginTokenParts, makeLoginTokens } from './login-tokens.ts';
import { makeResolveKey } from './resolve-key.ts';
import { makeAskProvider } from './sso.ts';

export type CredentialParts = LoginTokenParts &
  Pick<LogInParts, 'store' | 'settings' | 'catalog' | 'lookUp'> & { readonly store: Pick<Store, 'keys'> };

export function makeCredentials(parts: CredentialParts) {
  const resolveKey = makeResolveKey(parts);
  const { issueToken, resolveToken, ...signingKeys } = makeLoginTokens(parts);
  const [throttle, askProvider] = [makeLoginThrottle(parts.clock), makeAskProvider()];
  return {
    signingKeys,
    authenticate: makeAuthenticate({ resolveKey, resolveToken }),
    logIn: makeLogIn({ ...parts, throttle, resolveKey, askProvider, issueToken }),
  };
}
