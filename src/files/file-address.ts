// Signed addresses of files: whoever has one can fetch that one file for a quarter of an hour, and nothing else (E7).
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { ErrandError } from '../domain/errors.ts';
import type { DeriveKey } from './master-key.ts';

/** What an address gives access to, and until when. */
export interface FileGrant {
  /** The blob's key, or the name of an archive that has still to be packed. */
  readonly key: string;
  /** The address becomes invalid when this session is deleted. */
  readonly sessionId: string;
  /** The file's own name, without folders. */
  readonly name: string;
  /** `inline` asks for a preview, which only safe types get. */
  readonly disposition: 'inline' | 'attachment';
  readonly expiresAt: number;
}

export interface FileAddresses {
  /** The path of an address, which is valid for fifteen minutes. */
  sign(file: Omit<FileGrant, 'expiresAt'>): string;
  /** The grant of an address's path. Throws `forbidden` when it was modified or has expired. */
  verify(path: string): FileGrant;
}

export interface FileAddressParts {
  readonly deriveKey: DeriveKey;
  /** Wall time in epoch milliseconds. */
  readonly now: () => number;
}

const LIFETIME_MS = 15 * 60_000;
/** Identifies the signing key, so that it can be replaced while addresses of the old one are still in use. */
const KEY_ID = 'k1';
const ADDRESS = /^\/files\/([^/.]+)\.([\w-]+)\.([\w-]+)\/([^/]+)$/;

/** Makes and checks addresses. They need no row: all their data is in them, under a signature. */
export function makeFileAddresses({ deriveKey, now }: FileAddressParts): FileAddresses {
  // From bytes, Node.js would make a key for each signature, which takes five times as long as the signature.
  const secret = createSecretKey(deriveKey('file-address', Buffer.from(KEY_ID)));
  // Signs the decoded name: software on the way may encode it differently.
  const signatureOf = (payload: string, name: string) =>
    createHmac('sha256', secret).update(`${KEY_ID}.${payload}\n${name}`).digest('base64url');

  return {
    sign: ({ key, sessionId, name, disposition }) => {
      const fields = [key, sessionId, disposition === 'inline' ? 1 : 0, now() + LIFETIME_MS];
      const payload = Buffer.from(JSON.stringify(fields)).toString('base64url');
      return `/files/${KEY_ID}.${payload}.${signatureOf(payload, name)}/${encodeURIComponent(name)}`;
    },
    verify: (path) => {
      const [, keyId, payload = '', signature = '', encoded = ''] = ADDRESS.exec(path) ?? [];
      const name = decoded(encoded);
      if (keyId !== KEY_ID || name === undefined || !isSame(signature, signatureOf(payload, name))) {
        throw new ErrandError('forbidden', 'The address is not valid.');
      }
      const [key, sessionId, inline, expiresAt] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Fields;
      if (now() >= expiresAt) throw new ErrandError('forbidden', 'The address has expired.');
      return { key, sessionId, name, disposition: inline === 1 ? 'inline' : 'attachment', expiresAt };
    },
  };
}

type Fields = readonly [key: string, sessionId: string, inline: number, expiresAt: number];

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Compares texts, not bytes: base64 has several texts for the same bytes. */
function isSame(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
