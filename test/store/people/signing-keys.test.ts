import { expect, test } from 'vitest';
import { storeFixture } from '../../support/store/store-fixture.ts';
import { onlyOnSqlite } from '../../support/store/open-store.ts';

const salt = (byte: number) => Buffer.alloc(32, byte);

test('many first tokens at once make one signing key', async () => {
  const { store } = await storeFixture();
  expect(await store.signingKeys.findCurrent()).toBeUndefined();
  const made = await Promise.all([1, 2, 3, 4].map((byte) => store.signingKeys.ensureCurrent(salt(byte))));
  expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  expect(await store.signingKeys.list()).toMatchObject({ total: 1, items: [{ salt: salt(1), retiredAt: null }] });
});

test('a rotation retires the key that signed, and rotations at once leave one that signs', async () => {
  const { store, clock } = await storeFixture();
  const first = await store.signingKeys.ensureCurrent(salt(1));
  clock.advance(1_000);
  await Promise.all([store.signingKeys.rotate(salt(2), 0), store.signingKeys.rotate(salt(3), 0)]);
  const { items } = await store.signingKeys.list();
  expect(items.map((key) => [key.salt[0], key.retiredAt, key.revokedAt])).toEqual([
    [3, null, null],
    [2, clock.now(), null],
    [1, clock.now(), null],
  ]);
  expect(await store.signingKeys.findCurrent()).toEqual(items[0]);
  expect(await store.signingKeys.find(first.id)).toEqual(items[2]);
});

test('a rotation forgets the keys that were retired before the given moment, and no other', async () => {
  const { store, clock } = await storeFixture();
  await store.signingKeys.ensureCurrent(salt(1));
  await store.signingKeys.rotate(salt(2), 0);
  clock.advance(1_000);
  await store.signingKeys.rotate(salt(3), clock.now() - 1_000);
  expect((await store.signingKeys.list()).total).toBe(3);
  await store.signingKeys.rotate(salt(4), clock.now());
  expect((await store.signingKeys.list()).items.map((key) => key.salt[0])).toEqual([4, 3, 2]);
});

test('revoking all revokes every key once, and leaves a fresh one that signs', async () => {
  const { store, clock } = await storeFixture();
  const revokedAt = clock.now();
  await store.signingKeys.ensureCurrent(salt(1));
  await store.signingKeys.revokeAll(salt(2));
  clock.advance(1_000);
  await store.signingKeys.revokeAll(salt(3));
  expect((await store.signingKeys.list()).items.map((key) => [key.salt[0], key.retiredAt, key.revokedAt])).toEqual([
    [3, null, null],
    [2, clock.now(), clock.now()],
    [1, revokedAt, revokedAt],
  ]);
});

test('two keys that sign can’t be in the table', onlyOnSqlite('its catalog'), async () => {
  const { store, rows } = await storeFixture();
  await store.signingKeys.ensureCurrent(salt(1));
  const [index] = rows<{ sql: string }>("SELECT sql FROM sqlite_master WHERE name = 'signing_keys_current'");
  expect(index?.sql).toContain('UNIQUE');
});

test('two first logins of an account at once make one user', async () => {
  const { store } = await storeFixture();
  const account = {
    username: '10086',
    fullName: '',
    department: '',
    role: 'user',
    teamId: null,
    functionalRole: null,
    scenario: null,
    passwordHash: 'x',
  } as const;
  const [one, two] = await Promise.all([store.users.ensure(account), store.users.ensure(account)]);
  expect(one).toEqual(two);
  expect((await store.users.list('', 100)).filter(({ username }) => username === '10086')).toHaveLength(1);
});

test('a username that looks like an id names no other user', async () => {
  const { store, user } = await storeFixture();
  const twin = await store.users.ensure({ ...user, username: user.id, passwordHash: 'y' });
  expect((await store.users.findTokenHolder(user.id))?.user.seq).toBe(user.seq);
  expect((await store.users.findLogin(user.id))?.user.seq).toBe(twin.seq);
});
