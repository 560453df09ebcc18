import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openMasterKey } from '../../src/files/master-key.ts';
import { makeSecretBox } from '../../src/files/secret-box.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

const box = () => makeSecretBox(openMasterKey({ path: join(temporaryDirectory(), 'master.key'), isCredential: false }));

test('a secret is read back at its place, and looks different each time it is stored', () => {
  const { seal, open } = box();
  const first = seal('tökén', 'connection-1');
  expect(open(first, 'connection-1')).toBe('tökén');
  expect(seal('tökén', 'connection-1').equals(first)).toBe(false);
  expect(first.includes(Buffer.from('tökén'))).toBe(false);
});

test('a secret of another place, of another master key, or altered anywhere is not read', {
  tags: ['J6-secrets'],
}, () => {
  const { seal, open } = box();
  const sealed = seal('token', 'connection-1');
  expect(() => open(sealed, 'connection-2')).toThrow(/another master key/);
  expect(() => box().open(sealed, 'connection-1')).toThrow(/another master key/);
  for (let at = 0; at < sealed.length; at += 1) {
    const altered = Buffer.from(sealed);
    altered[at] = altered[at]! ^ 1;
    expect(() => open(altered, 'connection-1'), `byte ${at}`).toThrow(/another master key/);
  }
  for (const length of [0, 1, 20, 44]) expect(() => open(randomBytes(length), 'connection-1')).toThrow();
});
