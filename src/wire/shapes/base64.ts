// Strict standard Base64.
import { unprocessable } from '../../domain/errors.ts';
import { string } from './scalars.ts';
import type { Shape } from './shape.ts';

/** The bytes of strict standard Base64 in canonical form: padded, no line breaks, no stray bits. Throws `unprocessable`. */
export function decodeBase64(text: string, path: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  // Node's decoder forgives everything; only a text that survives the way back was strict.
  if (bytes.toString('base64') !== text) throw unprocessable(path, 'must be standard Base64');
  return bytes;
}

/** A text of at most `max` characters that is Base64; it stays as it is. */
export function base64({ max }: { readonly max: number }): Shape<string> {
  return {
    admits: (value) => typeof value === 'string',
    read: (value, path) => {
      if (typeof value !== 'string') throw unprocessable(path, 'must be a string');
      if (value.length > max) throw unprocessable(path, `must be at most ${max} characters`);
      decodeBase64(value, path);
      return string.read(value, path);
    },
    describe: () => ({ type: 'string', contentEncoding: 'base64', maxLength: max }),
  };
}
