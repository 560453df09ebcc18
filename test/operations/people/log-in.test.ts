import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadCatalog } from '../../../src/catalog/kinds/models.ts';
import { lookUpNow } from '../../../src/domain/capabilities/look-up.ts';
import { ErrandError } from '../../../src/domain/errors.ts';
import type { Settings } from '../../../src/domain/settings.ts';
import type { KeyScope, Role } from '../../../src/domain/people/user.ts';
import { openMasterKey } from '../../../src/files/master-key.ts';
import { type Grant, makeLogIn } from '../../../src/operations/people/log-in.ts';
import { makeLoginThrottle } from '../../../src/operations/people/login-throttle.ts';
import { makeLoginTokens } from '../../../src/operations/people/login-tokens.ts';
import { makeResolveKey } from '../../../src/operations/people/resolve-key.ts';
import { hashPassword, makeKey } from '../../../src/operations/people/secrets.ts';
import { auditOf } from '../../support/store/audit.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

const NO_SSO: Settings['sso'] = {
  provider: '',
  userinfoUrl: '',
  tokenParameter: 'token',
  timeoutMs: 1_000,
  defaults: { team: '', functionalRole: '', scenario: '' },
};
const SSO: Settings['sso'] = { ...NO_SSO, provider: 'corp', userinfoUrl: 'http://127.0.0.1:1' };

async function fixture(sso: Settings['sso'] = SSO, account: string | Error = '10086') {
  const stores = await storeFixture();
  const directory = temporaryDirectory();
  const deriveKey = openMasterKey({ path: join(directory, 'master.key'), isCredential: false });
  const settings = () => ({ sso, loginTokenTtlSeconds: 60 });
  const tokens = makeLoginTokens({ ...stores, audit: auditOf(stores), deriveKey, settings });
  const catalog = loadCatalog(directory, null);
  if (!catalog.ok) throw new Error('no catalog');
  const asked: string[] = [];
  const logIn = makeLogIn({
    store: stores.store,
    throttle: makeLoginThrottle(stores.clock),
    resolveKey: makeResolveKey(stores),
    askProvider: async (_sso, token) => {
      asked.push(token);
      if (account instanceof Error) throw account;
      return account;
    },
    issueToken: tokens.issueToken,
    settings,
    catalog: () => catalog.catalog,
    lookUp: lookUpNow,
  });
  await stores.store.users.change('mara', { passwordHash: await hashPassword('correct horse') });
  const whoIs = async (grant: Grant) => (await tokens.resolveToken((await logIn(grant)).text)).user;
  return { ...stores, logIn, whoIs, asked, resolveToken: tokens.resolveToken };
}

type Fixture = Awaited<ReturnType<typeof fixture>>;

const addUser = ({ store }: Fixture, username: string, role: Role) =>
  store.users.ensure({
    username,
    fullName: '',
    department: '',
    role,
    teamId: null,
    functionalRole: null,
    scenario: null,
    passwordHash: 'x',
  });

async function addKey({ store, clock }: Fixture, userSeq: number, scope: KeyScope, expiresInMs: number | null = null) {
  const fresh = makeKey();
  const expiresAt = expiresInMs === null ? null : clock.now() + expiresInMs;
  const rest = { name: '', model: null, target: 'free', projectId: null, expiresAt };
  await store.keys.create({ ...fresh, ...rest, userSeq, scope });
  return { id: fresh.id, grant: { type: 'api_key', apiKey: fresh.text } as const };
}

const password = (username: string, word: string, address = '192.0.2.1'): Grant => ({
  type: 'password',
  username,
  password: word,
  address,
});
const ssoToken = (provider: string, address = '192.0.2.1'): Grant => ({
  type: 'sso_token',
  provider,
  ssoToken: 'ticket',
  address,
});

test('the right password gives a token of its user', async () => {
  const { whoIs } = await fixture();
  expect(await whoIs(password('mara', 'correct horse'))).toMatchObject({ username: 'mara' });
});

test('an unknown account, a wrong password and an id for a name are one and the same refusal', {
  tags: ['B7-passwords'],
}, async () => {
  const { logIn, user } = await fixture();
  const grants = [
    password('mara', 'wrong'),
    password('nobody', 'correct horse'),
    password(user.id, 'correct horse'),
    password('mаra', 'correct horse'),
    password('mara', 'correct horse '),
  ];
  for (const grant of grants) {
    const error: unknown = await logIn(grant).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ reason: 'unauthenticated', message: 'The username or password is wrong.' });
    expect((error as ErrandError).details).toEqual({});
  }
});

test('an unknown account takes as long as a wrong password', { tags: ['B7-passwords'] }, async () => {
  const { logIn } = await fixture();
  const timeOf = async (username: string, at: number) => {
    // Of the whole process: passwords are hashed in threads of its own.
    const before = process.cpuUsage();
    await logIn(password(username, 'wrong', `192.0.2.${at}`)).catch(() => undefined);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const times = { known: [] as number[], unknown: [] as number[] };
  for (let i = 0; i < 15; i += 1) {
    times.known.push(await timeOf('mara', i));
    times.unknown.push(await timeOf('nobody', i));
  }
  const median = (all: number[]) => all.toSorted((a, b) => a - b)[7]!;
  const ratio = median(times.known) / median(times.unknown);
  // Without the check of a stand-in, the ratio would be about fifty to one.
  expect(ratio).toBeGreaterThan(0.5);
  expect(ratio).toBeLessThan(2);
});

test('a disabled user hears so only with the right password', async () => {
  const built = await fixture();
  await addUser(built, 'boss', 'admin');
  await built.store.users.change('mara', { disabled: true });
  await expect(built.logIn(password('mara', 'wrong'))).rejects.toMatchObject({ reason: 'unauthenticated' });
  await expect(built.logIn(password('mara', 'correct horse'))).rejects.toMatchObject({ reason: 'forbidden' });
});

test('ten failed passwords block the address, whatever the account, and no other', {
  tags: ['B7-attempts'],
}, async () => {
  const { logIn, whoIs, clock } = await fixture();
  for (let i = 0; i < 10; i += 1) {
    await expect(logIn(password(`guess${i}`, 'x', '2001:db8::1'))).rejects.toMatchObject({ reason: 'unauthenticated' });
  }
  const right = password('mara', 'correct horse', '2001:db8::2');
  await expect(logIn(right)).rejects.toMatchObject({ reason: 'rate_limited' });
  expect(await whoIs(password('mara', 'correct horse', '192.0.2.1'))).toMatchObject({ username: 'mara' });
  clock.advance(60_000);
  expect(await whoIs(right)).toMatchObject({ username: 'mara' });
});

test('an account is found however its name is written', async () => {
  const built = await fixture();
  await addUser(built, 'Straße', 'user');
  await built.store.users.change('Straße', { passwordHash: await hashPassword('correct horse') });
  for (const name of ['mara', 'MARA', 'Mara', 'ｍａｒａ', 'mar\u{1d41a}']) {
    expect(await built.whoIs(password(name, 'correct horse', '192.0.2.1'))).toMatchObject({ username: 'mara' });
  }
  for (const name of ['strasse', 'STRASSE', 'straẞe']) {
    expect(await built.whoIs(password(name, 'correct horse', '192.0.2.2'))).toMatchObject({ username: 'Straße' });
  }
});

test('failures from many addresses make the account wait, not whoever logged in from theirs before', async () => {
  const { logIn, whoIs, clock } = await fixture();
  const [home, away] = ['198.51.100.1', '198.51.100.2'];
  expect(await whoIs(password('mara', 'correct horse', home))).toMatchObject({ username: 'mara' });
  for (let i = 0; i < 20; i += 1) {
    const address = `192.0.2.${i}`;
    for (const names of [
      ['mara', 'MARA'],
      ['nobody', 'Nobody'],
    ]) {
      const guess = logIn(password(names[i % 2]!, 'wrong', address));
      await expect(guess).rejects.toMatchObject({ reason: 'unauthenticated' });
    }
  }
  // Those who guess can't see whether the account exists.
  for (const name of ['mara', 'nobody']) {
    const held = logIn(password(name, 'correct horse', away));
    await expect(held).rejects.toMatchObject({ reason: 'rate_limited', details: { retryAfterSeconds: 1 } });
  }
  expect(await whoIs(password('Mara', 'correct horse', home))).toMatchObject({ username: 'mara' });
  clock.advance(1_000);
  expect(await whoIs(password('mara', 'correct horse', away))).toMatchObject({ username: 'mara' });
});

test('ten refused single-sign-on tokens hold back the address, a provider that fails does not', async () => {
  const refusing = await fixture(SSO, new ErrandError('unauthenticated', 'The SSO token is invalid or expired.'));
  const failing = await fixture(SSO, new ErrandError('bad_gateway', 'The single-sign-on service failed.'));
  for (let i = 0; i < 10; i += 1) {
    await expect(refusing.logIn(ssoToken('corp'))).rejects.toMatchObject({ reason: 'unauthenticated' });
    await expect(failing.logIn(ssoToken('corp'))).rejects.toMatchObject({ reason: 'bad_gateway' });
  }
  await expect(refusing.logIn(ssoToken('corp'))).rejects.toMatchObject({ reason: 'rate_limited' });
  expect(refusing.asked).toHaveLength(10);
  await expect(refusing.logIn(ssoToken('corp', '192.0.2.2'))).rejects.toMatchObject({ reason: 'unauthenticated' });
  await expect(failing.logIn(ssoToken('corp'))).rejects.toMatchObject({ reason: 'bad_gateway' });
});

test('single sign-on finds the account however the provider writes it', async () => {
  const built = await fixture(SSO, 'ＰＩＡ');
  const pia = await addUser(built, 'pia', 'user');
  expect(await built.whoIs(ssoToken('corp'))).toEqual(pia);
  expect(await built.store.users.count()).toBe(2);
});

test('a token is of the password that it was asked for with, also when that is changed meanwhile', async () => {
  const built = await fixture();
  const { store, logIn } = built;
  const { findLogin } = store.users;
  let change: Promise<unknown> | undefined;
  // Between the check of the password and the token.
  store.users.findLogin = async (name) => {
    const found = await findLogin(name);
    change = store.users.change('mara', { passwordHash: await hashPassword('new horse') });
    await change;
    return found;
  };
  const { text } = await logIn(password('mara', 'correct horse'));
  await expect(built.resolveToken(text)).rejects.toMatchObject({ reason: 'unauthenticated' });
});

const KEYS: readonly [role: Role, scope: KeyScope, reason: string | null][] = [
  ['user', 'conversation', 'forbidden'],
  ['user', 'global', null],
  ['user', 'admin', 'forbidden'],
  ['admin', 'conversation', 'forbidden'],
  ['admin', 'global', 'forbidden'],
  ['admin', 'admin', null],
];

test.each(KEYS)('role %s with a key of scope %s', { tags: ['§4.1-rule-3', 'B4'] }, async (role, scope, reason) => {
  const built = await fixture();
  const pia = await addUser(built, 'pia', role);
  const { grant } = await addKey(built, pia.seq, scope);
  if (reason === null) expect(await built.whoIs(grant)).toEqual(pia);
  else await expect(built.logIn(grant)).rejects.toMatchObject({ reason });
});

test('no key, a text that is none, a login token, an expired and a revoked key are 401; a disabled owner is 403', {
  tags: ['§4.1-rule-3'],
}, async () => {
  const built = await fixture();
  const { logIn, store, clock } = built;
  const pia = await addUser(built, 'pia', 'user');
  const good = await addKey(built, pia.seq, 'global');
  const short = await addKey(built, pia.seq, 'global', 1_000);
  const { text } = await logIn(good.grant);
  clock.advance(1_000);
  for (const apiKey of [null, 'nonsense', text, short.grant.apiKey]) {
    await expect(logIn({ type: 'api_key', apiKey })).rejects.toMatchObject({ reason: 'unauthenticated' });
  }
  await store.users.change('pia', { disabled: true });
  await expect(logIn(good.grant)).rejects.toMatchObject({ reason: 'forbidden' });
  await store.keys.revoke(good.id);
  await expect(logIn(good.grant)).rejects.toMatchObject({ reason: 'unauthenticated' });
});

test('a token outlives the key that it was issued for', { tags: ['§4.1-rule-3', 'B5'] }, async () => {
  const { clock, ...built } = await fixture();
  const settings = () => ({ loginTokenTtlSeconds: 60 });
  const deriveKey = () => Buffer.alloc(32, 9);
  const tokens = makeLoginTokens({ store: built.store, audit: auditOf(built), clock, deriveKey, settings });
  const { text } = await tokens.issueToken(built.user);
  await built.store.keys.revoke(built.key.id);
  expect(await tokens.resolveToken(text)).toMatchObject({ kind: 'token' });
});

test('an account that signs on for the first time is made with the defaults, once', {
  tags: ['§4.1-rule-2'],
}, async () => {
  const built = await fixture({ ...SSO, defaults: { team: 'Labs', functionalRole: 'analyst', scenario: 'general' } });
  const team = await built.store.teams.create({ name: 'Labs', budgetUsd: null });
  const users = await Promise.all([1, 2, 3, 4].map(() => built.whoIs(ssoToken('corp'))));
  expect(new Set(users.map(({ id }) => id)).size).toBe(1);
  expect(users[0]).toMatchObject({
    username: '10086',
    role: 'user',
    teamId: team.id,
    functionalRole: 'analyst',
    scenario: 'general',
    disabled: false,
  });
  expect(await built.store.users.count()).toBe(2);
  expect(built.asked).toEqual(['ticket', 'ticket', 'ticket', 'ticket']);
});

test('an existing account stays unchanged, and no password works for a created one', async () => {
  const built = await fixture({ ...SSO, defaults: { team: '', functionalRole: 'analyst', scenario: '' } }, 'pia');
  const pia = await addUser(built, 'pia', 'user');
  expect(await built.whoIs(ssoToken('corp'))).toEqual(pia);
  const fresh = await fixture();
  await fresh.logIn(ssoToken('corp'));
  for (const word of ['', 'x', '10086', '!']) {
    await expect(fresh.logIn(password('10086', word))).rejects.toMatchObject({ reason: 'unauthenticated' });
  }
});

test('a disabled account does not sign on', async () => {
  const built = await fixture(SSO, 'pia');
  await addUser(built, 'pia', 'user');
  await built.store.users.change('pia', { disabled: true });
  await expect(built.logIn(ssoToken('corp'))).rejects.toMatchObject({ reason: 'forbidden' });
});

test('another provider, or none at all, is 422, and no request is sent', { tags: ['B8'] }, async () => {
  const { logIn, asked } = await fixture();
  const other = { reason: 'unprocessable', details: { field: 'provider' } };
  for (const name of ['other', 'CORP', 'corp ']) await expect(logIn(ssoToken(name))).rejects.toMatchObject(other);
  const none = await fixture(NO_SSO);
  for (const name of ['corp', '']) await expect(none.logIn(ssoToken(name))).rejects.toMatchObject(other);
  expect([...asked, ...none.asked]).toEqual([]);
});

test('a provider that fails makes no account', async () => {
  const failing = await fixture(SSO, new ErrandError('bad_gateway', 'The single-sign-on service failed.'));
  await expect(failing.logIn(ssoToken('corp'))).rejects.toMatchObject({ reason: 'bad_gateway' });
  expect(await failing.store.users.count()).toBe(1);
});

test.each([
  [{ team: 'Nowhere', functionalRole: '', scenario: '' }, /sso\.defaults\.team/],
  [{ team: '', functionalRole: '', scenario: 'nowhere' }, /sso\.defaults\.scenario/],
])('defaults that name nothing make no account: %j', async (defaults, message) => {
  const { logIn, store } = await fixture({ ...SSO, defaults });
  await expect(logIn(ssoToken('corp'))).rejects.toThrow(message);
  expect(await store.users.count()).toBe(1);
});
