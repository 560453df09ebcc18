// Log-ins of browsers to Office Mode: who gets a link, what its code is good for, and what ends a cookie.
import { expect, test } from 'vitest';
import { CODE_MS, COOKIE_MS } from '../../../src/domain/people/office-login.ts';
import type { Administrator } from '../../../src/domain/people/user.ts';
import { makeLoginThrottle } from '../../../src/operations/people/login-throttle.ts';
import { makeOfficeLogins } from '../../../src/operations/people/office-logins.ts';
import { makeUseKey } from '../../../src/operations/people/resolve-key.ts';
import { OPERATOR } from '../../support/http/callers.ts';
import { auditOf } from '../../support/store/audit.ts';
import { onlyOnSqlite, placesOf } from '../../support/store/open-store.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';

const HERE = '203.0.113.9';

async function fixture() {
  const stores = await storeFixture();
  const { store, clock, user, key } = stores;
  let web = true;
  const { officeLogins, ...links } = makeOfficeLogins({
    store,
    clock,
    audit: auditOf({ store }),
    throttle: makeLoginThrottle(clock),
    useKey: makeUseKey({ store, clock }),
    deriveKey: () => Buffer.alloc(32),
    settings: () => ({ office: { web } }),
  });
  const root: Administrator = { kind: 'key', user, key, reach: 'all', origin: OPERATOR.origin };
  const cookieOf = async (caller: Administrator = root) => {
    const { code } = await links.createOfficeLink(caller);
    return (await officeLogins.logIn(code, HERE)).text;
  };
  return { ...stores, ...officeLogins, ...links, root, cookieOf, turnOff: () => (web = false) };
}

test('a link of a key logs its owner in, as that key, for eight hours', async () => {
  const { createOfficeLink, logIn, identify, root, key, user } = await fixture();
  const { code } = await createOfficeLink(root);
  const cookie = await logIn(code, HERE);
  expect(cookie.maxAgeSeconds).toBe(8 * 3_600);
  expect(await identify(cookie.text)).toMatchObject({ kind: 'key', key: { id: key.id }, user: { id: user.id } });
});

test('a link of the operator is the operator', async () => {
  const { identify, cookieOf } = await fixture();
  expect(await identify(await cookieOf(OPERATOR))).toEqual({ kind: 'operator' });
});

test('a login token gets none: its cookie would be the operator’s', async () => {
  const { createOfficeLink, user } = await fixture();
  const caller: Administrator = { kind: 'token', user, reach: 'all', origin: OPERATOR.origin };
  await expect(createOfficeLink(caller)).rejects.toMatchObject({ reason: 'unauthenticated' });
});

test('the log has that a link was made, and by whom, and no secret is anywhere', async () => {
  const { createOfficeLink, logIn, root, rows, file } = await fixture();
  const { code } = await createOfficeLink(root);
  const { text } = await logIn(code, HERE);
  const [entry] = rows<Record<string, unknown>>('SELECT action, target_type, username FROM audit_entries');
  expect(entry).toMatchObject({ action: 'office_login.create', target_type: 'office_login', username: 'mara' });
  for (const secret of [code, text]) expect(placesOf(file, secret)).toEqual([]);
});

test('a code is good once', async () => {
  const { createOfficeLink, logIn, root } = await fixture();
  const { code } = await createOfficeLink(root);
  await logIn(code, HERE);
  await expect(logIn(code, HERE)).rejects.toMatchObject({
    reason: 'unauthenticated',
    message: expect.stringContaining('used already') as string,
  });
});

test('a code is good for five minutes', onlyOnSqlite('its clock'), async () => {
  const { createOfficeLink, logIn, root, clock } = await fixture();
  const [one, two] = [await createOfficeLink(root), await createOfficeLink(root)];
  clock.advance(CODE_MS - 1);
  await logIn(one.code, HERE);
  clock.advance(1);
  await expect(logIn(two.code, HERE)).rejects.toMatchObject({
    reason: 'unauthenticated',
    message: expect.stringContaining('older than 5 minutes') as string,
  });
});

test('what is no code is unknown, also a cookie and a key', async () => {
  const { logIn, cookieOf } = await fixture();
  for (const text of ['', 'x', await cookieOf(), 'errand_key00001_x'])
    await expect(logIn(text, HERE)).rejects.toMatchObject({ message: expect.stringContaining('unknown') as string });
});

test('codes that fail are limited by their address, and good ones of others pass', async () => {
  const { logIn, createOfficeLink, root } = await fixture();
  const tries = Array.from({ length: 10 }, () => logIn('wrong', HERE).catch((error: unknown) => error));
  expect(await Promise.all(tries)).toMatchObject(Array.from({ length: 10 }, () => ({ reason: 'unauthenticated' })));
  const { code } = await createOfficeLink(root);
  await expect(logIn(code, HERE)).rejects.toMatchObject({ reason: 'rate_limited' });
  await logIn(code, '203.0.113.10');
});

test('a cookie ends after eight hours', onlyOnSqlite('its clock'), async () => {
  const { identify, cookieOf, clock } = await fixture();
  const cookie = await cookieOf();
  clock.advance(COOKIE_MS - 1);
  await identify(cookie);
  clock.advance(1);
  await expect(identify(cookie)).rejects.toMatchObject({ reason: 'unauthenticated' });
});

test('a cookie ends by logging out, and with its key', async () => {
  const { identify, logOut, cookieOf, store, key } = await fixture();
  const [one, two] = [await cookieOf(), await cookieOf()];
  await logOut(one);
  await expect(identify(one)).rejects.toMatchObject({ reason: 'unauthenticated' });
  await identify(two);
  await store.keys.revoke(key.id);
  await expect(identify(two)).rejects.toMatchObject({ reason: 'unauthenticated' });
});

test('a cookie ends with the expiry of its key', async () => {
  const { identify, cookieOf, root, clock, store, user } = await fixture();
  if (root.kind !== 'key') throw new Error('It has a key.');
  const expiresAt = clock.now() + 1_000;
  const {
    userId: _id,
    username: _name,
    ...key
  } = await store.keys.create({
    ...root.key,
    id: 'key00009',
    expiresAt,
    secretSha256: Buffer.alloc(32),
  });
  const cookie = await cookieOf({ ...root, key, user });
  await identify(cookie);
  clock.advance(1_000);
  await expect(identify(cookie)).rejects.toMatchObject({ reason: 'unauthenticated' });
});

test('a disabled owner has no access, and a role that is lost is seen', async () => {
  const { identify, cookieOf, store } = await fixture();
  const cookie = await cookieOf();
  await store.users.create({
    username: 'nils',
    fullName: '',
    department: '',
    role: 'admin',
    teamId: null,
    functionalRole: null,
    scenario: null,
    passwordHash: 'x',
  });
  await store.users.change('mara', { role: 'user' });
  expect(await identify(cookie)).toMatchObject({ user: { role: 'user' } });
  await store.users.change('mara', { disabled: true });
  await expect(identify(cookie)).rejects.toMatchObject({ reason: 'forbidden' });
});

test('a code of a key that was revoked logs nobody in', async () => {
  const { createOfficeLink, logIn, root, store, key } = await fixture();
  const { code } = await createOfficeLink(root);
  await store.keys.revoke(key.id);
  await expect(logIn(code, HERE)).rejects.toMatchObject({ reason: 'unauthenticated' });
});

test('all can be ended together, links too, and the log has it', async () => {
  const { createOfficeLink, endOfficeLogins, identify, logIn, root, cookieOf, rows } = await fixture();
  const cookies = [await cookieOf(), await cookieOf(OPERATOR)];
  const { code } = await createOfficeLink(root);
  expect(await endOfficeLogins(OPERATOR)).toEqual({ count: 3 });
  for (const cookie of cookies) await expect(identify(cookie)).rejects.toMatchObject({ reason: 'unauthenticated' });
  await expect(logIn(code, HERE)).rejects.toMatchObject({ reason: 'unauthenticated' });
  expect(await endOfficeLogins(OPERATOR)).toEqual({ count: 0 });
  expect(rows("SELECT target_id, via FROM audit_entries WHERE action = 'office_login.end_all'")).toEqual(
    Array.from({ length: 2 }, () => ({ target_id: 'house', via: 'socket' })),
  );
});

test('where browsers are not served there are no links, and cookies are good for nothing', async () => {
  const { createOfficeLink, identify, cookieOf, root, turnOff } = await fixture();
  const cookie = await cookieOf();
  turnOff();
  await expect(identify(cookie)).rejects.toMatchObject({ reason: 'unauthenticated' });
  await expect(createOfficeLink(root)).rejects.toMatchObject({
    reason: 'conflict',
    message: expect.stringContaining('office.web') as string,
  });
});
