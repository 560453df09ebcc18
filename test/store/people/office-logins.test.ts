// Rows of log-ins of browsers to Office Mode.
import { expect, test } from 'vitest';
import { CODE_MS, COOKIE_MS, KNOWN_MS, MOST_IN_ALL, MOST_OF_KEY } from '../../../src/domain/people/office-login.ts';
import { newId } from '../../../src/domain/ids.ts';
import { onlyOnSqlite } from '../../support/store/open-store.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';

const bytes = (text: string) => Buffer.from(text.padEnd(32, '.'));

async function fixture() {
  const { store, key, clock, ...rest } = await storeFixture();
  let made = 0;
  const logins = store.officeLogins;
  const create = (code: string, keySeq: number | null = key.seq) =>
    logins.create({ id: newId(clock.now() + (made += 1)), keySeq, codeSha256: bytes(code) });
  return {
    ...rest,
    store,
    key,
    clock,
    logins,
    create,
    use: (code: string, to: string) => logins.use(bytes(code), bytes(to)),
  };
}

test('a code becomes a cookie of its key, with its owner', async () => {
  const { logins, create, use, key, user } = await fixture();
  await create('code');
  expect(await use('code', 'cookie')).toBe(null);
  expect(await logins.find(bytes('cookie'))).toMatchObject({ by: { key: { id: key.id, scope: key.scope }, user } });
  expect(await logins.find(bytes('code'))).toBeUndefined();
});

test('that of the operator has no key', async () => {
  const { logins, create, use } = await fixture();
  await create('code', null);
  await use('code', 'cookie');
  expect(await logins.find(bytes('cookie'))).toEqual({ by: null });
});

test('a code is good once: of many at once, one browser gets the cookie', async () => {
  const { logins, create, use } = await fixture();
  await create('code');
  const outcomes = await Promise.all(['a', 'b', 'c', 'd'].map((cookie) => use('code', cookie)));
  expect(Map.groupBy(outcomes, String)).toEqual(
    new Map<string, unknown>([
      ['null', [null]],
      ['used', ['used', 'used', 'used']],
    ]),
  );
  const held = await Promise.all(['a', 'b', 'c', 'd'].map((cookie) => logins.find(bytes(cookie))));
  expect(held.filter((one) => one !== undefined)).toHaveLength(1);
});

test('a code that nobody made is unknown', async () => {
  const { create, use } = await fixture();
  await create('code');
  expect(await use('other', 'cookie')).toBe('unknown');
});

test('a code is good to its last moment, and a cookie to its own', onlyOnSqlite('its clock'), async () => {
  const { logins, create, use, clock } = await fixture();
  const { endsAt } = await create('one');
  expect(endsAt).toBe(clock.now() + CODE_MS);
  await create('two');
  clock.advance(CODE_MS - 1);
  expect(await use('one', 'cookie')).toBe(null);
  clock.advance(1);
  expect(await use('two', 'late')).toBe('late');
  expect(await logins.find(bytes('late'))).toBeUndefined();
  clock.advance(COOKIE_MS - 2);
  expect(await logins.find(bytes('cookie'))).toBeDefined();
  clock.advance(1);
  expect(await logins.find(bytes('cookie'))).toBeUndefined();
});

test('a cookie that was ended stays ended, and no other one ends with it', async () => {
  const { logins, create, use } = await fixture();
  for (const name of ['one', 'two']) {
    await create(name);
    await use(name, `of ${name}`);
  }
  await logins.end(bytes('of one'));
  await logins.end(bytes('of one'));
  await logins.end(bytes('nothing'));
  expect(await logins.find(bytes('of one'))).toBeUndefined();
  expect(await logins.find(bytes('of two'))).toBeDefined();
  expect(await use('one', 'again')).toBe('used');
});

test('nothing but hashes is kept, and what has ended goes with the next one', onlyOnSqlite('its clock'), async () => {
  const { create, clock, rows } = await fixture();
  const kept = () => rows<{ id: string }>('SELECT id FROM office_logins').length;
  await create('one');
  clock.advance(CODE_MS + KNOWN_MS - 1);
  await create('two');
  expect(kept()).toBe(2);
  clock.advance(1);
  await create('three');
  expect(kept()).toBe(2);
});

test('a key has so many, and others have theirs beside it', onlyOnSqlite('its clock'), async () => {
  const { create, clock, makeKey } = await fixture();
  for (let count = 0; count < MOST_OF_KEY; count += 1) await create(`code ${count}`);
  await expect(create('too many')).rejects.toMatchObject({ reason: 'rate_limited' });
  await create('of the operator', null);
  await create('of another key', (await makeKey()).seq);
  clock.advance(CODE_MS);
  await create('later');
});

test('there are so many in all', onlyOnSqlite('its words'), async () => {
  const { create, change } = await fixture();
  await create('one');
  change(`WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ${MOST_IN_ALL - 1})
    INSERT INTO office_logins (id, key_seq, code_sha256, created_at, ends_at)
    SELECT 'id ' || i, NULL, CAST('code ' || i AS BLOB), created_at, ends_at FROM n, office_logins`);
  await create('the last');
  await expect(create('too many')).rejects.toMatchObject({
    message: expect.stringContaining('There are 1000') as string,
  });
});
