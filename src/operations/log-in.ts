// The three ways to a login token: a password, a single-sign-on token, an API key (§4.1).
import type { Catalog } from '../catalog/models.ts';
import { ErrandError, unprocessable } from '../domain/errors.ts';
import type { Settings } from '../domain/settings.ts';
import type { KeyScope, Role, User } from '../domain/user.ts';
import type { Store } from '../store/open-store.ts';
import type { LoginToken } from './login-tokens.ts';
import type { ResolveKey } from './resolve-key.ts';
import { hashPassword, makePassword, passwordMatches } from './secrets.ts';
import type { AskProvider } from './sso.ts';
import { networkOf, type Throttle } from './throttle.ts';

/** What a token is asked for with. `address` is the client's; `apiKey` null when the request carries none. */
export type Grant =
  | { readonly type: 'password'; readonly username: string; readonly password: string; readonly address: string }
  | { readonly type: 'sso_token'; readonly provider: string; readonly ssoToken: string }
  | { readonly type: 'api_key'; readonly apiKey: string | null };

export interface LogInParts {
  readonly store: Pick<Store, 'users' | 'teams'>;
  readonly throttle: Throttle;
  readonly resolveKey: ResolveKey;
  readonly askProvider: AskProvider;
  issueToken(user: User): Promise<LoginToken>;
  settings(): Pick<Settings, 'sso'>;
  catalog(): Catalog;
}

/** The one scope whose keys may be turned into a token that yields as much as they do (B4). */
const SCOPE_OF: Readonly<Record<Role, KeyScope>> = { admin: 'admin', user: 'global' };

/**
 * Makes the verb. It throws `unauthenticated` for a wrong credential, `forbidden` for a disabled user or a key's scope,
 * `rate_limited` (B7), `unprocessable` for another provider, and `bad_gateway` when the provider fails.
 */
export function makeLogIn(parts: LogInParts) {
  const byPassword = makePasswordLogin(parts);
  const userOf = (grant: Grant): Promise<User> => {
    if (grant.type === 'password') return byPassword(grant);
    return grant.type === 'sso_token' ? userBySso(parts, grant) : userByKey(parts, grant);
  };
  return async (grant: Grant): Promise<LoginToken> => {
    const user = await userOf(grant);
    if (user.disabled) throw new ErrandError('forbidden', 'The user is disabled.');
    return parts.issueToken(user);
  };
}

function makePasswordLogin({ store, throttle }: LogInParts) {
  // What an unknown account's password is checked against: it takes as long as a real check and matches nothing.
  const standIn = hashPassword(makePassword());
  standIn.catch(() => undefined);
  return async ({ username, password, address }: Extract<Grant, { type: 'password' }>): Promise<User> => {
    const user = await throttle(networkOf(address), async () => {
      const login = await store.users.findLogin(username);
      const matches = await passwordMatches(password, login?.passwordHash ?? (await standIn));
      return matches ? login?.user : undefined;
    });
    if (user === undefined) throw new ErrandError('unauthenticated', 'The username or password is wrong.');
    return user;
  };
}

async function userBySso(parts: LogInParts, grant: Extract<Grant, { type: 'sso_token' }>): Promise<User> {
  const { sso } = parts.settings();
  if (sso.provider === '') throw unprocessable('provider', 'must be a provider, and none is configured');
  if (grant.provider !== sso.provider) throw unprocessable('provider', 'must be the configured provider');
  const account = await parts.askProvider(sso, grant.ssoToken);
  const login = await parts.store.users.findLogin(account);
  return login?.user ?? createAccount(parts, sso, account);
}

/** Two first logins at once make one user. A default that does not exist is the operator's fault, for the log. */
async function createAccount({ store, catalog }: LogInParts, { defaults }: Settings['sso'], username: string) {
  const { team, functionalRole, scenario } = defaults;
  const { items: teams } = await store.teams.list();
  const found = teams.find(({ name }) => name === team);
  if (team !== '' && found === undefined) throw new Error(`sso.defaults.team: there is no team ${team}`);
  if (scenario !== '' && !catalog().scenarios.has(scenario)) {
    throw new Error(`sso.defaults.scenario: there is no scenario ${scenario} in models.yaml`);
  }
  return store.users.ensure({
    username,
    fullName: '',
    department: '',
    role: 'user',
    teamId: found?.id ?? null,
    functionalRole: functionalRole === '' ? null : functionalRole,
    scenario: scenario === '' ? null : scenario,
    // Shown to nobody: no password opens the account until one is set.
    passwordHash: await hashPassword(makePassword()),
  });
}

async function userByKey({ resolveKey }: LogInParts, { apiKey }: Extract<Grant, { type: 'api_key' }>): Promise<User> {
  if (apiKey === null) throw new ErrandError('unauthenticated', 'The API key is missing or invalid.');
  const { user, key } = await resolveKey(apiKey);
  const needed = SCOPE_OF[user.role];
  if (key.scope === needed) return user;
  throw new ErrandError(
    'forbidden',
    `A login token needs an API key of scope ${needed} for a user of role ${user.role}.`,
  );
}
