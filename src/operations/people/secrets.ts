// Passwords and API keys: how they are made, stored and compared (B2, B7).
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Loaded with the first password: requests with API keys need none. */
const loadArgon2 = () => import('@node-rs/argon2');

const KEY = /^errand_([A-Za-z0-9]{8})_([A-Za-z0-9_-]{43})$/;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const PASSWORD_LENGTH = 20;

/** An API key as it is shown once, and what is stored of it. */
export interface FreshKey {
  readonly text: string;
  readonly id: string;
  readonly lastFour: string;
  readonly secretSha256: Buffer;
}

/** Makes an API key: `errand_`, a public id of 8 characters, `_`, 32 random bytes as base64url. */
export function makeKey(): FreshKey {
  const id = randomText(8);
  const secret = randomBytes(32).toString('base64url');
  return { text: `errand_${id}_${secret}`, id, lastFour: secret.slice(-4), secretSha256: hashSecret(secret) };
}

/** The public id and secret of a key's text, or undefined when it does not have the form of a key. */
export function parseKey(text: string): { readonly id: string; readonly secret: string } | undefined {
  const match = KEY.exec(text);
  return match === null ? undefined : { id: match[1]!, secret: match[2]! };
}

/** SHA-256 of a key's secret: 32 random bytes do not need a slow hash. */
const hashSecret = (secret: string): Buffer => Buffer.from(hash('sha256', secret), 'hex');

/** Compares with a SHA-256 in hexadecimal, in constant time. */
export function secretMatches(secret: string, expectedSha256: string): boolean {
  return timingSafeEqual(hashSecret(secret), Buffer.from(expectedSha256, 'hex'));
}

/** Makes a password of letters and digits with about 119 bits. */
export function makePassword(): string {
  return randomText(PASSWORD_LENGTH);
}

/** Hashes a password with argon2id; the text names its parameters. */
export async function hashPassword(password: string): Promise<string> {
  const argon2 = await loadArgon2();
  return argon2.hash(password);
}

/** Returns whether a password matches the hash. Runs off the main thread and takes some 15 ms either way. */
export async function passwordMatches(password: string, hashed: string): Promise<boolean> {
  const { verify } = await loadArgon2();
  return verify(hashed, password);
}

function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // Bytes past the last multiple of the alphabet's length would favour its first letters.
      if (byte < 248 && text.length < length) text += ALPHABET[byte % ALPHABET.length];
    }
  }
  return text;
}
