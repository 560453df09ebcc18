// The three ways to a login token: a password, a single-sign-on token, an API key (§4.1).
import type { Catalog } from '../../catalog/kinds/models.ts';
import type { LookUp } from '../../domain/capabilities/look-up.ts';
import { ErrandError, unprocessable } from '../../domain/errors.ts';
import type { Settings } from '../../domain/settings.ts';
import type { KeyScope, Role, User } from '../../domain/people/user.ts';
import type { Store } from '../../store/open-store.ts';
import type { LoginThrottle } from './login-throttle.ts';
import type { LoginToken } from './login-tokens.ts';
import type { ResolveKey } from './resolve-key.ts';
import { hashPassword, makePassword, passwordMatches } from './secrets.ts';
import type { AskProvider } from './sso.ts';

/** What a token is requested with. `address` is the client's; `apiKey` is null when the request carries none. */
export type Grant =
  | { readonly type: 'password'; readonly username: string; readonly password: string; readonly address: string }
  | { readonly type: 'sso_token'; readonly provider: string; readonly ssoToken: string; readonly address: string }
  | { readonly type: 'api_key'; readonly apiKey: string | null };

export interface LogInParts {
  readonly store: Pick<Store, 'users' | 'teams'>;
  readonly throttle: LoginThrottle;
  readonly resolveKey: ResolveKey;
  readonly askProvider: AskProvider;
  /** Without a generation, the token belongs to the user's current password. */
  issueToken(user: User, tokenGeneration?: number): Promise<LoginToken>;
  settings(): Pick<Settings, 'sso'>;
  catalog(): Catalog;
  readonly lookUp: LookUp;
}

/** The only scope whose keys can be exchanged for a token, which grants as much as they do (B4). */
const SCOPE_OF: Readonly<Record<Role, KeyScope>> = { admin: 'admin', user: 'global' };

/**
 * Makes the verb. It throws `unauthenticated` for a wrong credential, `forbidden` for a disabled user or a key's scope,
 * `rate_limited` (B7), `unprocessable` for another provider, and `bad_gateway` when the provider fails.
 */
export function makeLogIn(parts: LogInParts) {
  const byPassword = makePasswordLogin(parts);
  const identify = (grant: Grant): Promise<Identified> => {
    if (grant.type === 'password') return byPassword(grant);
    return grant.type === 'sso_token' ? identifyBySso(parts, grant) : identifyByKey(parts, grant);
  };
  return async (grant: Grant): Promise<LoginToken> => {
    const { user, tokenGeneration } = await identify(grant);
    if (user.disabled) throw new ErrandError('forbidden', 'The user is disabled.');
    return parts.issueToken(user, tokenGeneration);
  };
}

/** The user of a grant; for a password, also its generation, since it may be changed before the token is issued. */
interface Identified {
  readonly user: User;
  readonly tokenGeneration?: number;
}

function makePasswordLogin({ store, throttle }: LogInParts) {
  // The hash that an unknown account's password is checked against: the check takes as long as a real one and never matches.
  let standIn: string | undefined;
  return async ({ username, password, address }: Extract<Grant, { type: 'password' }>): Promise<Identified> => {
    const found = await throttle({ address, account: username }, async () => {
      // Made with the first attempt, whoever it names: later, only unknown accounts would wait for it.
      standIn ??= await hashPassword(makePassword());
      const login = await store.users.findLogin(username);
      const matches = await passwordMatches(password, login?.passwordHash ?? standIn);
      return matches ? login : undefined;
    });
    if (found === undefined) throw new ErrandError('unauthenticated', 'The username or password is wrong.');
    return found;
  };
}

type SsoGrant = Extract<Grant, { type: 'sso_token' }>;

async function identifyBySso(parts: LogInParts, grant: SsoGrant): Promise<Identified> {
  const { sso } = parts.settings();
  if (sso.provider === '') throw unprocessable('provider', 'must be a provider, and none is configured');
  if (grant.provider !== sso.provider) throw unprocessable('provider', 'must be the configured provider');
  const account = await accountOfToken(parts, sso, grant);
  const login = await parts.store.users.findLogin(account);
  return { user: login?.user ?? (await createAccount(parts, sso, account)) };
}

/** A token that the provider rejects counts as a failed login of its address; a failure of the provider does not. */
async function accountOfToken({ throttle, askProvider }: LogInParts, sso: Settings['sso'], grant: SsoGrant) {
  let refusal: unknown;
  const account = await throttle({ address: grant.address, account: null }, () =>
    askProvider(sso, grant.ssoToken).catch((error: unknown) => {
      if (!(error instanceof ErrandError) || error.reason !== 'unauthenticated') throw error;
      refusal = error;
      return undefined;
    }),
  );
  if (account === undefined) throw refusal;
  return account;
}

/**
 * Two concurrent first logins create one user. A default that does not exist is the operator's mistake, so it goes to the
 * log.
 */
async function createAccount({ store, catalog, lookUp }: LogInParts, { defaults }: Settings['sso'], username: string) {
  const { team, functionalRole, scenario } = defaults;
  const { items: teams } = await store.teams.list();
  const found = teams.find(({ name }) => name === team);
  if (team !== '' && found === undefined) throw new Error(`sso.defaults.team: there is no team ${team}`);
  if (scenario !== '' && !(await lookUp(() => catalog().scenarios.has(scenario)))) {
    throw new Error(`sso.defaults.scenario: there is no scenario ${scenario} in models.yaml`);
  }
  const ensured = store.users.ensure({
    username,
    fullName: '',
    department: '',
    role: 'user',
    teamId: found?.id ?? null,
    functionalRole: functionalRole === '' ? null : functionalRole,
    scenario: scenario === '' ? null : scenario,
    // Never shown: no password works for the account until one is set.
    passwordHash: await hashPassword(makePassword()),
  });
  return ensured.catch((error: unknown) => {
    if (!(error instanceof ErrandError) || error.reason !== 'conflict') throw error;
    // Only administrators may learn which names those are.
    throw new ErrandError('forbidden', 'The account name looks like those of several others.', { cause: error });
  });
}

async function identifyByKey(
  { resolveKey }: LogInParts,
  { apiKey }: Extract<Grant, { type: 'api_key' }>,
): Promise<Identified> {
  if (apiKey === null) throw new ErrandError('unauthenticated', 'The API key is missing or invalid.');
  const { user, key } = await resolveKey(apiKey);
  const needed = SCOPE_OF[user.role];
  if (key.scope === needed) return { user };
  throw new ErrandError(
    'forbidden',
    `A login token needs an API key of scope ${needed} for a user of role ${user.role}.`,
  );
}
