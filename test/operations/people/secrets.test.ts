import { verify } from '@node-rs/argon2';
import { expect, test } from 'vitest';
import {
  hashPassword,
  makeKey,
  makePassword,
  parseKey,
  secretMatches,
} from '../../../src/operations/people/secrets.ts';

test('a key has the form of B2 and matches only its own secret', { tags: ['B2'] }, () => {
  const key = makeKey();
  expect(key.text).toMatch(/^errand_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}$/);
  const { id, secret } = parseKey(key.text)!;
  expect(id).toBe(key.id);
  expect(secret.endsWith(key.lastFour)).toBe(true);
  expect(secretMatches(secret, key.secretSha256.toString('hex'))).toBe(true);
  expect(secretMatches(parseKey(makeKey().text)!.secret, key.secretSha256.toString('hex'))).toBe(false);
});

test.each(['', 'errand_', 'errand_12345678_short', `errand_12345678_${'x'.repeat(44)}`, `sk-${'x'.repeat(40)}`])(
  '%j is no key',
  { tags: ['B2'] },
  (text) => {
    expect(parseKey(text)).toBeUndefined();
  },
);

test('a password is kept as argon2id', { tags: ['B7-passwords'] }, async () => {
  const password = makePassword();
  expect(password).toMatch(/^[A-Za-z0-9]{20}$/);
  const hashed = await hashPassword(password);
  expect(hashed).toMatch(/^\$argon2id\$/);
  expect(await verify(hashed, password)).toBe(true);
  expect(await verify(hashed, `${password}x`)).toBe(false);
});
