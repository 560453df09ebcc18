import { expect, test } from 'vitest';
import type { Identity } from '../../../src/domain/people/user.ts';
import { makeLoginTokens } from '../../../src/operations/people/login-tokens.ts';
import { makeAuthenticate } from '../../../src/operations/people/authenticate.ts';
import { makeActAs } from '../../../src/operations/people/act-as.ts';
import { makeResolveKey, makeUseKey } from '../../../src/operations/people/resolve-key.ts';
import { makeKey } from '../../../src/operations/people/secrets.ts';
import { auditOf } from '../../support/store/audit.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';

async function fixture(expiresInMs: number | null = null) {
  const stores = await storeFixture();
  const fresh = makeKey();
  const key = await stores.store.keys.create({
    ...fresh,
    userSeq: stores.user.seq,
    name: '',
    scope: 'global',
    model: null,
    target: 'free',
    projectId: null,
    expiresAt: expiresInMs === null ? null : stores.clock.now() + expiresInMs,
  });
  const deriveKey = () => Buffer.alloc(32, 7);
  const tokens = makeLoginTokens({
    ...stores,
    audit: auditOf(stores),
    deriveKey,
    settings: () => ({ loginTokenTtlSeconds: 60 }),
  });
  const useKey = makeUseKey(stores);
  const authenticate = makeAuthenticate({
    resolveKey: makeResolveKey({ ...stores, useKey }),
    resolveToken: tokens.resolveToken,
    actAs: makeActAs({ ...stores, audit: auditOf(stores), useKey }),
  });
  const resolve = (credential: string | null, viaSocket: boolean, known?: Identity) =>
    authenticate(credential, { viaSocket, known, origin: { address: 'socket', requestId: 'r' } });
  return { ...stores, tokens, resolve, secret: fresh.text, key };
}

test('a key resolves to itself and its owner as they are now', async () => {
  const { resolve, secret, key } = await fixture();
  expect(await resolve(secret, false)).toMatchObject({ kind: 'key', user: { username: 'mara' }, key: { id: key.id } });
});

test('a login token resolves to its user, at either listener', async () => {
  const { resolve, tokens, user } = await fixture();
  const { text } = await tokens.issueToken(user);
  for (const viaSocket of [false, true]) expect(await resolve(text, viaSocket)).toEqual({ kind: 'token', user });
  await expect(resolve(`${text}x`, true)).rejects.toMatchObject({ reason: 'unauthenticated' });
});

test('without a credential only the control socket has a caller', async () => {
  const { resolve } = await fixture();
  expect(await resolve(null, true)).toEqual({ kind: 'operator' });
  await expect(resolve(null, false)).rejects.toMatchObject({ reason: 'unauthenticated' });
});

test('a wrong key on the control socket is refused like anywhere else', async () => {
  const { resolve } = await fixture();
  await expect(resolve('nonsense', true)).rejects.toMatchObject({ reason: 'unauthenticated' });
});

test('an expired key, a revoked key and an altered secret are 401; a disabled owner is 403', async () => {
  const expiring = await fixture(1_000);
  expiring.clock.advance(1_000);
  await expect(expiring.resolve(expiring.secret, false)).rejects.toMatchObject({ reason: 'unauthenticated' });

  const { resolve, secret, key, store } = await fixture();
  const altered = secret.slice(0, -1) + (secret.endsWith('A') ? 'B' : 'A');
  await expect(resolve(altered, false)).rejects.toMatchObject({ reason: 'unauthenticated' });
  await store.keys.revoke(key.id);
  await expect(resolve(secret, false)).rejects.toMatchObject({ reason: 'unauthenticated' });

  const disabled = await fixture();
  await disabled.store.users.create({
    username: 'second',
    fullName: '',
    department: '',
    role: 'admin',
    teamId: null,
    functionalRole: null,
    scenario: null,
    passwordHash: 'x',
  });
  await disabled.store.users.change('mara', { disabled: true });
  await expect(disabled.resolve(disabled.secret, false)).rejects.toMatchObject({ reason: 'forbidden' });
});

test('the last use of a key is recorded, at most once a minute', async () => {
  const { resolve, secret, key, store, clock } = await fixture();
  await resolve(secret, false);
  const firstAt = clock.now();
  await expect.poll(async () => (await store.keys.get(key.id)).lastUsedAt).toBe(firstAt);
  clock.advance(59_000);
  await resolve(secret, false);
  expect((await store.keys.get(key.id)).lastUsedAt).toBe(firstAt);
  clock.advance(2_000);
  await resolve(secret, false);
  await expect.poll(async () => (await store.keys.get(key.id)).lastUsedAt).toBe(clock.now());
});

test('the last enabled administrator can be neither disabled nor demoted', async () => {
  const { store } = await storeFixture();
  await expect(store.users.change('mara', { disabled: true })).rejects.toMatchObject({ reason: 'conflict' });
  await expect(store.users.change('mara', { role: 'user' })).rejects.toMatchObject({ reason: 'conflict' });
  expect(await store.users.get('mara')).toMatchObject({ role: 'admin', disabled: false });
});

test('the operator behind the socket acts as a user, with the newest key of his that is valid, which is recorded', {
  tags: ['B5-as-user'],
}, async () => {
  const { resolve, key, store, clock, user } = await fixture();
  const newer = async (expiresAt: number | null) => {
    const fresh = makeKey();
    const rest = { userSeq: user.seq, name: '', model: null, target: 'free', projectId: null } as const;
    return store.keys.create({ ...fresh, ...rest, scope: 'conversation', expiresAt });
  };
  expect(await resolve('as:mara', true)).toMatchObject({
    kind: 'key',
    key: { id: key.id },
    user: { username: 'mara' },
  });
  const [second, third] = [await newer(null), await newer(clock.now() + 60_000)];
  expect(await resolve('as:mara', true)).toMatchObject({ key: { id: third.id } });
  clock.advance(60_000);
  expect(await resolve('as:mara', true)).toMatchObject({ key: { id: second.id } });
  const every = { actor: null, action: 'key.use', targetId: null, sessionId: null, fromAt: null, toAt: null } as const;
  const { items } = await store.audit.list(every, { beforeId: null, afterId: 0, limit: 10 });
  expect(items.map(({ targetId }) => targetId).toSorted()).toEqual([key.id, second.id, third.id].toSorted());
  expect(items[0]!.actor).toMatchObject({ username: 'operator', via: 'socket' });
  // What goes on with a key ends with it, whatever others there are.
  const known = await resolve('as:mara', true);
  await store.keys.revoke(second.id);
  await expect(resolve('as:mara', true, known)).rejects.toMatchObject({ reason: 'unauthenticated' });
  expect(await resolve('as:mara', true)).toMatchObject({ key: { id: key.id } });
  for (const { id } of await store.keys.list(user.seq, 0, 100)) await store.keys.revoke(id);
  await expect(resolve('as:mara', true)).rejects.toMatchObject({ reason: 'forbidden' });
  await expect(resolve('as:nobody', true)).rejects.toMatchObject({ reason: 'not_found' });
  await expect(resolve('as:%', true)).rejects.toMatchObject({ reason: 'unauthenticated' });
});

test('nobody but the operator acts as a user', async () => {
  const { resolve } = await fixture();
  await expect(resolve('as:mara', false)).rejects.toMatchObject({ reason: 'unauthenticated' });
});
