// A conversation as the client that resends it has it: a chain of hashes over what its user and its assistant said (M1).
import { hash } from 'node:crypto';
import { withoutPassing } from './clients-words.ts';

/** One link; of equal conversations it is equal. */
export type Link = Buffer;

const BYTES = 16;

/** Before anything was said. */
export const NOTHING_SAID: Link = Buffer.alloc(BYTES);

export interface Said {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

/** The link after one more message. Messages without text add nothing: clients leave out what failed. */
export function linkAfter(before: Link, { role, text }: Said): Link {
  const words = wordsOf(text);
  if (words === '') return before;
  return hash('sha256', `${before.toString('base64')}${role}\0${words}`, 'buffer').subarray(0, BYTES);
}

/** Without what is passing, and without blanks, which clients trim and join. */
function wordsOf(text: string): string {
  return withoutPassing(text).replaceAll(/\s+/g, '');
}
