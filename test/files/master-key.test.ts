import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deriveFrom, masterKeyIdOf, openMasterKey, requireLostMasterKey } from '../../src/files/master-key.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

const SALT = Buffer.alloc(32, 1);
const inDirectory = (directory: string, isCredential = false) => ({
  path: join(directory, 'master.key'),
  isCredential,
});

/** A directory with a key of the given bytes and mode. */
function placeWith(bytes: Buffer, mode: number, isCredential = false) {
  const place = inDirectory(temporaryDirectory({ 'master.key': bytes }), isCredential);
  chmodSync(place.path, mode);
  return place;
}

test('a missing key is made for its owner alone, and is the same at the next start', {
  tags: ['J6-master-key'],
}, () => {
  const place = inDirectory(temporaryDirectory());
  const first = openMasterKey(place)('login-token', SALT);
  expect(statSync(place.path).mode & 0o777).toBe(0o600);
  expect(readFileSync(place.path)).toHaveLength(32);
  expect(existsSync(`${place.path}.new`)).toBe(false);
  expect(openMasterKey(place)('login-token', SALT)).toEqual(first);
});

test('a crash that left half a key behind does not stop the next start', () => {
  const place = inDirectory(temporaryDirectory({ 'master.key.new': Buffer.alloc(7) }));
  openMasterKey(place);
  expect(readFileSync(place.path)).toHaveLength(32);
});

test('derived keys have 32 bytes, differ by salt and by master key, and are not the master key', {
  tags: ['J6-master-key'],
}, () => {
  const place = inDirectory(temporaryDirectory());
  const derive = openMasterKey(place);
  const key = derive('login-token', SALT);
  expect(key).toHaveLength(32);
  expect(derive('login-token', Buffer.alloc(32, 2))).not.toEqual(key);
  expect(openMasterKey(inDirectory(temporaryDirectory()))('login-token', SALT)).not.toEqual(key);
  expect(key).not.toEqual(readFileSync(place.path));
});

test('the derivation stays what it is: tokens must outlive an upgrade', () => {
  const derive = openMasterKey(placeWith(Buffer.alloc(32, 7), 0o600));
  // RFC 5869 by another implementation.
  expect(derive('login-token', SALT).toString('hex')).toBe(
    'c2713e741a8eeabe1671dbb9e8f7b24edd770ca440c1b2b278790b63c92fbc26',
  );
});

test.each(['640', '604', '660', '620', '602', '610', '777'])('a key of mode %s is refused with what to do', (mode) => {
  const place = placeWith(Buffer.alloc(32), Number.parseInt(mode, 8));
  expect(() => openMasterKey(place)).toThrow(`chmod 600 ${place.path}`);
});

test.each(['600', '400'])('a key of mode %s is taken', (mode) => {
  expect(() => openMasterKey(placeWith(Buffer.alloc(32), Number.parseInt(mode, 8)))).not.toThrow();
});

test('a credential of the service manager is accepted with its mode', () => {
  expect(() => openMasterKey(placeWith(Buffer.alloc(32), 0o440, true))).not.toThrow();
});

test.each([0, 31, 33])('a file of %i bytes is not a master key, and is unchanged', (size) => {
  const place = placeWith(Buffer.alloc(size), 0o600);
  expect(() => openMasterKey(place)).toThrow(`must be a file of 32 bytes, but holds ${size}`);
  expect(readFileSync(place.path)).toHaveLength(size);
});

test('a directory in its place is refused', () => {
  const place = inDirectory(temporaryDirectory());
  mkdirSync(place.path);
  expect(() => openMasterKey(place)).toThrow('must be a file of 32 bytes');
});

test('a missing key of an existing database is refused, with the remedy, and none is created', () => {
  const directory = temporaryDirectory({ 'errand.db': 'rows' });
  const place = { ...inDirectory(directory), database: join(directory, 'errand.db') };
  for (const words of [place.path, place.database, 'from a backup', 'init --new-master-key', 'login tokens']) {
    expect(() => openMasterKey(place)).toThrow(words);
  }
  expect(existsSync(place.path)).toBe(false);
  expect(() => requireLostMasterKey(place)).not.toThrow();
});

test('another key is made only to replace a lost one', () => {
  const directory = temporaryDirectory();
  const place = { ...inDirectory(directory), database: join(directory, 'errand.db') };
  expect(() => requireLostMasterKey(place)).toThrow('There is no database');
  openMasterKey(place);
  writeFileSync(place.database, 'rows');
  expect(() => requireLostMasterKey(place)).toThrow('no master key is missing');
});

test('the id of a key is its own, stays what it is, and is none of the keys that are derived from it', () => {
  const derive = deriveFrom(Buffer.alloc(32, 7));
  const id = masterKeyIdOf(derive);
  // RFC 5869 by another implementation.
  expect(id).toBe('b3740a5de458680d0563fe9ed2622041');
  expect(masterKeyIdOf(deriveFrom(Buffer.alloc(32, 8)))).not.toBe(id);
  expect(derive('login-token', Buffer.alloc(0)).toString('hex')).not.toContain(id);
});

test('a link to a secret that is not mounted yet is refused, and not replaced by a key of our own', () => {
  const place = inDirectory(temporaryDirectory());
  symlinkSync('secret', place.path);
  expect(() => openMasterKey(place)).toThrow("The master key can't be read");
  expect(readlinkSync(place.path)).toBe('secret');
  writeFileSync(join(place.path, '..', 'secret'), Buffer.alloc(32), { mode: 0o600 });
  expect(() => openMasterKey(place)).not.toThrow();
});
