// Secrets at rest: AES-256-GCM under a key derived from the master key, a new one for each secret (J6).
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { ErrandError } from '../domain/errors.ts';
import type { DeriveKey } from './master-key.ts';

const VERSION = 1;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + SALT_BYTES + NONCE_BYTES + TAG_BYTES;

export interface SecretBox {
  /** Encrypts a text. `context` names the place that it belongs to: it can be opened only there. */
  seal(text: string, context: string): Buffer;
  /** Throws `unavailable` for bytes of another master key, of another place, or modified ones. */
  open(sealed: Uint8Array, context: string): string;
}

/** Makes the box. */
export function makeSecretBox(deriveKey: DeriveKey): SecretBox {
  return {
    seal: (text, context) => {
      const [salt, nonce] = [randomBytes(SALT_BYTES), randomBytes(NONCE_BYTES)];
      const cipher = createCipheriv('aes-256-gcm', deriveKey('secret', salt), nonce);
      cipher.setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), salt, nonce, cipher.getAuthTag(), body]);
    },
    open: (sealed, context) => {
      const bytes = Buffer.from(sealed);
      const cannot = (cause?: unknown) =>
        new ErrandError('unavailable', 'A stored secret cannot be read: it belongs to another master key.', { cause });
      if (bytes.length < HEAD_BYTES || bytes[0] !== VERSION) throw cannot();
      const salt = bytes.subarray(1, 1 + SALT_BYTES);
      const nonce = bytes.subarray(1 + SALT_BYTES, 1 + SALT_BYTES + NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', deriveKey('secret', salt), nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(bytes.subarray(HEAD_BYTES - TAG_BYTES, HEAD_BYTES));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(HEAD_BYTES)), decipher.final()]).toString('utf8');
      } catch (error) {
        throw cannot(error);
      }
    },
  };
}
