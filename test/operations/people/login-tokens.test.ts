import { createHmac, generateKeyPairSync, sign as signBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type DeriveKey, openMasterKey } from '../../../src/files/master-key.ts';
import { isToken, makeLoginTokens } from '../../../src/operations/people/login-tokens.ts';
import { makeKey } from '../../../src/operations/people/secrets.ts';
import { auditOf } from '../../support/store/audit.ts';
import { OPERATOR } from '../../support/http/callers.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

const DAY_MS = 86_400_000;
const INVALID = { reason: 'unauthenticated', message: 'The login token is invalid or expired.' };

const aMasterKey = () => openMasterKey({ path: join(temporaryDirectory(), 'master.key'), isCredential: false });

async function fixture(deriveKey: DeriveKey = aMasterKey()) {
  const stores = await storeFixture();
  let ttl = 3_600;
  const tokens = makeLoginTokens({
    ...stores,
    audit: auditOf(stores),
    deriveKey,
    settings: () => ({ loginTokenTtlSeconds: ttl }),
  });
  return { ...stores, tokens, deriveKey, setTtl: (seconds: number) => (ttl = seconds) };
}

type Fixture = Awaited<ReturnType<typeof fixture>>;
type Part = Record<string, unknown>;

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
const decode = (text: string, at: number) =>
  JSON.parse(Buffer.from(text.split('.')[at] ?? '', 'base64url').toString()) as Part;

/** A token with the daemon's own current secret, but with what a test says in it. */
async function forge(
  { store, deriveKey, user, clock }: Fixture,
  header: Part = {},
  claims: Part = {},
): Promise<string> {
  const key = await store.signingKeys.ensureCurrent(Buffer.alloc(32));
  const iat = Math.floor(clock.now() / 1_000);
  const defaults = { iss: 'errand', aud: 'errand/login', sub: user.id, iat, exp: iat + 60, jti: 'x' };
  const head = encode({ alg: 'HS256', typ: 'JWT', kid: key.id, ...header });
  const signed = `${head}.${encode({ ...defaults, ...claims })}`;
  const mac = createHmac('sha256', deriveKey('login-token', key.salt)).update(signed).digest('base64url');
  return `${signed}.${mac}`;
}

test('a token names its user, its key and its times, and nothing secret', { tags: ['B6'] }, async () => {
  const { tokens, user, clock, store } = await fixture();
  const { text, expiresInSeconds } = await tokens.issueToken(user);
  const [key] = (await store.signingKeys.list()).items;
  const iat = clock.now() / 1_000;
  expect(expiresInSeconds).toBe(3_600);
  expect(decode(text, 0)).toEqual({ alg: 'HS256', typ: 'JWT', kid: key?.id });
  expect(decode(text, 1)).toEqual({
    iss: 'errand',
    aud: 'errand/login',
    sub: user.id,
    iat,
    exp: iat + 3_600,
    jti: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
  });
  expect(await tokens.resolveToken(text)).toEqual({ kind: 'token', user });
  expect((await tokens.issueToken(user)).text).not.toBe(text);
});

test('a new password ends the tokens of the old one, and no other user’s', async () => {
  const { tokens, store, user } = await fixture();
  const other = await store.users.create({ ...user, username: 'nils', passwordHash: 'x' });
  const [{ text: old }, { text: others }] = await Promise.all([tokens.issueToken(user), tokens.issueToken(other)]);
  await store.users.change('mara', { department: 'Mill' });
  expect(await tokens.resolveToken(old)).toMatchObject({ kind: 'token' });
  await store.users.change('mara', { passwordHash: 'y' });
  await expect(tokens.resolveToken(old)).rejects.toMatchObject(INVALID);
  expect(await tokens.resolveToken(others)).toMatchObject({ kind: 'token' });
  // At the same moment of the clock, so that it isn't the time that distinguishes them.
  const { text: fresh } = await tokens.issueToken(user);
  expect(await tokens.resolveToken(fresh)).toMatchObject({ kind: 'token' });
  await store.users.change('mara', { passwordHash: 'z' });
  await expect(tokens.resolveToken(fresh)).rejects.toMatchObject(INVALID);
});

test('no API key has the form of a token', async () => {
  const { tokens, user } = await fixture();
  expect(isToken((await tokens.issueToken(user)).text)).toBe(true);
  for (let i = 0; i < 100; i += 1) expect(isToken(makeKey().text)).toBe(false);
});

test('a forged token that is right in everything is taken, so that the refusals below mean something', async () => {
  const built = await fixture();
  expect(await built.tokens.resolveToken(await forge(built))).toMatchObject({ kind: 'token' });
});

test('a token is good to its last moment and no longer', { tags: ['§5-rule-4'] }, async () => {
  const { tokens, user, clock } = await fixture();
  const { text } = await tokens.issueToken(user);
  clock.advance(3_599_999);
  expect(await tokens.resolveToken(text)).toMatchObject({ kind: 'token' });
  clock.advance(1);
  await expect(tokens.resolveToken(text)).rejects.toMatchObject(INVALID);
});

test('a new validity counts for tokens issued from then on', async () => {
  const { tokens, user, clock, setTtl } = await fixture();
  const before = await tokens.issueToken(user);
  setTtl(1);
  const after = await tokens.issueToken(user);
  expect(after.expiresInSeconds).toBe(1);
  clock.advance(1_000);
  await expect(tokens.resolveToken(after.text)).rejects.toMatchObject(INVALID);
  expect(await tokens.resolveToken(before.text)).toMatchObject({ kind: 'token' });
});

test('every altered character of a token makes it invalid', async () => {
  const { tokens, user } = await fixture();
  const { text } = await tokens.issueToken(user);
  // The last character carries bits that count for nothing; a decoder may take its neighbours for the same.
  for (let at = 0; at < text.length - 1; at += 1) {
    const altered = `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
    await expect(tokens.resolveToken(altered), `character ${at}`).rejects.toMatchObject(INVALID);
  }
});

test.each<[string, Part, Part]>([
  ['alg none', { alg: 'none' }, {}],
  ['alg NONE', { alg: 'NONE' }, {}],
  ['another algorithm', { alg: 'HS512' }, {}],
  ['a public-key algorithm', { alg: 'RS256' }, {}],
  ['no algorithm', { alg: undefined }, {}],
  ['no type', { typ: undefined }, {}],
  ['another type', { typ: 'at+jwt' }, {}],
  ['an unknown key', { kid: '0198c0de-0000-7000-8000-000000000001' }, {}],
  ['no key', { kid: undefined }, {}],
  ['a key that is no text', { kid: { $ne: '' } }, {}],
  ['an extension that must be understood', { crit: ['exp'] }, {}],
  ['another issuer', {}, { iss: 'elsewhere' }],
  ['no issuer', {}, { iss: undefined }],
  ['another audience', {}, { aud: 'elsewhere' }],
  ['no audience', {}, { aud: undefined }],
  ['no subject', {}, { sub: undefined }],
  ['an unknown subject', {}, { sub: '0198c0de-0000-7000-8000-000000000001' }],
  ['a username for its subject', {}, { sub: 'mara' }],
  ['a subject that is no text', {}, { sub: 7 }],
  ['no end', {}, { exp: undefined }],
  ['an end in text', {}, { exp: '9999999999' }],
  ['an end that is past', {}, { exp: 1 }],
  ['an end more than a day after its beginning', {}, { exp: 4_000_000_000 }],
  ['no beginning', {}, { iat: undefined }],
  ['no id', {}, { jti: undefined }],
  ['a beginning still to come', {}, { nbf: 4_000_000_000 }],
])('a token with %s is refused, though its signature is right', async (_what, header, claims) => {
  const built = await fixture();
  const forged = await forge(built, header, claims);
  await expect(built.tokens.resolveToken(forged)).rejects.toMatchObject(INVALID);
});

test('a token without a signature is refused', { tags: ['B6'] }, async () => {
  const built = await fixture();
  const [head, claims] = (await forge(built)).split('.');
  const bare = encode({ ...decode(`${head}`, 0), alg: 'none' });
  await expect(built.tokens.resolveToken(`${head}.${claims}.`)).rejects.toMatchObject(INVALID);
  await expect(built.tokens.resolveToken(`${bare}.${claims}.`)).rejects.toMatchObject(INVALID);
});

test('a token that another key signed is refused, whatever it claims', { tags: ['B6'] }, async () => {
  const built = await fixture();
  const [head, claims] = (await forge(built)).split('.');
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const edHead = encode({ ...decode(`${head}`, 0), alg: 'EdDSA', jwk: publicKey.export({ format: 'jwk' }) });
  const signature = signBytes(null, Buffer.from(`${edHead}.${claims}`), privateKey).toString('base64url');
  await expect(built.tokens.resolveToken(`${edHead}.${claims}.${signature}`)).rejects.toMatchObject(INVALID);
  const mac = createHmac('sha256', Buffer.alloc(32)).update(`${head}.${claims}`).digest('base64url');
  await expect(built.tokens.resolveToken(`${head}.${claims}.${mac}`)).rejects.toMatchObject(INVALID);
});

test('a token of a daemon with another master key is refused', async () => {
  const { tokens, store, user, clock } = await fixture();
  const settings = () => ({ loginTokenTtlSeconds: 60 });
  const other = makeLoginTokens({ store, audit: auditOf({ store }), clock, deriveKey: aMasterKey(), settings });
  await expect(tokens.resolveToken((await other.issueToken(user)).text)).rejects.toMatchObject(INVALID);
});

test.each(['', 'a.b', 'a.b.c', '..', 'a.b.c.d', `${'x'.repeat(10_000)}.y.z`])('%j is no token', async (text) => {
  const { tokens } = await fixture();
  await expect(tokens.resolveToken(text)).rejects.toMatchObject(INVALID);
});

test('a disabled user is refused with 403, and welcome again once enabled', async () => {
  const { tokens, store } = await fixture();
  const pia = await store.users.ensure({
    username: 'pia',
    fullName: '',
    department: '',
    role: 'user',
    teamId: null,
    functionalRole: null,
    scenario: null,
    passwordHash: 'x',
  });
  const { text } = await tokens.issueToken(pia);
  await store.users.change('pia', { disabled: true });
  await expect(tokens.resolveToken(text)).rejects.toMatchObject({ reason: 'forbidden' });
  await store.users.change('pia', { disabled: false, role: 'admin' });
  expect(await tokens.resolveToken(text)).toMatchObject({ user: { username: 'pia', role: 'admin' } });
});

test('after a rotation old tokens live out their time and new ones have the new key', async () => {
  const { tokens, user, clock } = await fixture();
  const old = await tokens.issueToken(user);
  const { id } = await tokens.rotateSigningKey(OPERATOR);
  const fresh = await tokens.issueToken(user);
  expect(decode(fresh.text, 0)['kid']).toBe(id);
  for (const { text } of [old, fresh]) expect(await tokens.resolveToken(text)).toMatchObject({ kind: 'token' });
  clock.advance(3_600_000);
  for (const { text } of [old, fresh]) await expect(tokens.resolveToken(text)).rejects.toMatchObject(INVALID);
});

test('a key that was retired and then stolen can sign nothing new', async () => {
  const built = await fixture();
  const { tokens, store, clock } = built;
  await tokens.issueToken(built.user);
  const [key] = (await store.signingKeys.list()).items;
  await tokens.rotateSigningKey(OPERATOR);
  clock.advance(1_000);
  const iat = clock.now() / 1_000;
  const head = encode({ alg: 'HS256', typ: 'JWT', kid: key!.id });
  const signed = `${head}.${encode({ iss: 'errand', aud: 'errand/login', sub: built.user.id, iat, exp: iat + 60, jti: 'x' })}`;
  const mac = createHmac('sha256', built.deriveKey('login-token', key!.salt)).update(signed).digest('base64url');
  await expect(tokens.resolveToken(`${signed}.${mac}`)).rejects.toMatchObject(INVALID);
});

test('rotations forget a key only when no token of it can be good', async () => {
  const { tokens, user, clock, setTtl } = await fixture();
  setTtl(86_400);
  const { text } = await tokens.issueToken(user);
  await tokens.rotateSigningKey(OPERATOR);
  clock.advance(DAY_MS - 1);
  await tokens.rotateSigningKey(OPERATOR);
  expect(await tokens.resolveToken(text)).toMatchObject({ kind: 'token' });
  clock.advance(2);
  await tokens.rotateSigningKey(OPERATOR);
  expect((await tokens.listSigningKeys(OPERATOR)).total).toBe(3);
});

test('revoking all refuses every token issued before, also of the same second, and none after', async () => {
  const { tokens, user } = await fixture();
  const first = await tokens.issueToken(user);
  await tokens.rotateSigningKey(OPERATOR);
  const second = await tokens.issueToken(user);
  await tokens.revokeAllTokens(OPERATOR);
  const third = await tokens.issueToken(user);
  for (const { text } of [first, second]) await expect(tokens.resolveToken(text)).rejects.toMatchObject(INVALID);
  expect(await tokens.resolveToken(third.text)).toMatchObject({ kind: 'token' });
  await tokens.rotateSigningKey(OPERATOR);
  await expect(tokens.resolveToken(first.text)).rejects.toMatchObject(INVALID);
});

test('a failing store is not reported as an invalid token', async () => {
  const { tokens, user, store, clock, deriveKey } = await fixture();
  const { text } = await tokens.issueToken(user);
  const signingKeys = { ...store.signingKeys, find: () => Promise.reject(new Error('the disk')) };
  const settings = () => ({ loginTokenTtlSeconds: 60 });
  const broken = makeLoginTokens({
    store: { ...store, signingKeys },
    audit: auditOf({ store }),
    clock,
    deriveKey,
    settings,
  });
  await expect(broken.resolveToken(text)).rejects.toThrow('the disk');
});
