// The master key in a backup.
import { expect, test } from 'vitest';
import { unwrapKey, wrapKey } from '../../src/backups/wrapped-key.ts';

const MASTER = Buffer.alloc(32, 5);

test('the passphrase opens it, in its own backup only', async () => {
  const wrapped = await wrapKey(MASTER, 'a long passphrase', 'one');
  expect(await unwrapKey(wrapped, 'a long passphrase', 'one')).toEqual(MASTER);
  await expect(unwrapKey(wrapped, 'another passphrase', 'one')).rejects.toThrow('does not open');
  await expect(unwrapKey(wrapped, 'a long passphrase', 'two')).rejects.toThrow('does not open');
  const altered = { ...wrapped, sealed: Buffer.alloc(48, 1).toString('base64url') };
  await expect(unwrapKey(altered, 'a long passphrase', 'one')).rejects.toThrow('does not open');
  expect(JSON.stringify(wrapped)).not.toContain(MASTER.toString('base64url'));
});
