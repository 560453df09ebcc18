// A conversation as the client that resends it has it: a chain of hashes over what its user and its assistant said (M1).
import { hash } from 'node:crypto';
import { withoutPassing } from './clients-words.ts';

/** One link; of equal conversations it is equal. */
export type Link = Buffer;

const BYTES = 16;

/** Before anything was said. */
export const NOTHING_SAID: Link = Buffer.alloc(BYTES);

/** The same under a name: what is said under different names is never equal. */
export const nothingSaidUnder = (name: string): Link => digest(`name\0${name}`);

export interface Said {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

/** The link after one more message. Messages without text add nothing: clients leave out what failed. */
export function linkAfter(before: Link, said: Said): Link {
  return linksAfter([before], said)[0]!;
}

/** The same for several chains that say the same. */
export function linksAfter(before: readonly Link[], { role, text }: Said): readonly Link[] {
  const words = wordsOf(text);
  return words === '' ? before : before.map((link) => digest(`${link.toString('base64')}${role}\0${words}`));
}

function digest(text: string): Link {
  return hash('sha256', text, 'buffer').subarray(0, BYTES);
}

/** Without what is passing, and without blanks, which clients trim and join. */
function wordsOf(text: string): string {
  return withoutPassing(text).replaceAll(/\s+/g, '');
}
