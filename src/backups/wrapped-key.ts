// The master key in a backup: encrypted with a passphrase, since everything else that is secret follows from it.
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { MB } from '../domain/byte-units.ts';
import { ErrandError } from '../domain/errors.ts';
import type { WrappedKey } from '../wire/backups/manifest.ts';

/** Takes 128 MB and about half a second: guessing a passphrase costs that each time. */
const COST = { n: 131_072, r: 8, p: 1 };
const MAX_MEMORY = 256 * MB;
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const TAG_BYTES = 16;

/** The fewest characters of a passphrase. */
export const MIN_PASSPHRASE = 12;

/** Encrypts the master key. The id of the backup is part of it: it opens in no other. */
export async function wrapKey(master: Uint8Array, passphrase: string, id: string): Promise<WrappedKey> {
  const [salt, nonce] = [randomBytes(16), randomBytes(12)];
  const cipher = createCipheriv(CIPHER, await stretch(passphrase, salt, COST), nonce).setAAD(Buffer.from(id));
  const sealed = Buffer.concat([cipher.update(master), cipher.final(), cipher.getAuthTag()]);
  return { ...COST, salt: text(salt), nonce: text(nonce), sealed: text(sealed) };
}

/** Decrypts it. Throws `forbidden` when the passphrase is another one. */
export async function unwrapKey(wrapped: WrappedKey, passphrase: string, id: string): Promise<Buffer> {
  const { salt, nonce, sealed } = wrapped;
  const bytes = Buffer.from(sealed, 'base64url');
  try {
    const key = await stretch(passphrase, Buffer.from(salt, 'base64url'), wrapped);
    const decipher = createDecipheriv(CIPHER, key, Buffer.from(nonce, 'base64url'));
    decipher.setAAD(Buffer.from(id)).setAuthTag(bytes.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch (cause) {
    throw new ErrandError('forbidden', 'The passphrase does not open the master key of this backup.', { cause });
  }
}

function stretch(passphrase: string, salt: Buffer, { n, r, p }: Pick<WrappedKey, 'n' | 'r' | 'p'>): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const options = { N: n, r, p, maxmem: MAX_MEMORY };
  scrypt(passphrase.normalize('NFC'), salt, KEY_BYTES, options, (error, key) => (error ? reject(error) : resolve(key)));
  return promise;
}

const text = (bytes: Buffer) => bytes.toString('base64url');
