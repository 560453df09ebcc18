// A conversation as the client that resends it has it: a chain of hashes over what its user and its assistant said (M1).
import { createHash } from 'node:crypto';

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
  const hash = createHash('sha256').update(before).update(role).update('\0').update(words);
  return hash.digest().subarray(0, BYTES);
}

/** What clients add to a text, or leave out of it, from one request to the next: reminders of the moment, and thinking. */
const PASSING = ['system-reminder', 'think', 'thinking'];

/** Without what is passing, and without blanks, which clients trim and join. */
function wordsOf(text: string): string {
  return PASSING.reduce(without, text).replaceAll(/\s+/g, '');
}

/** In one pass, however many tags there are. What isn't closed stays. */
function without(text: string, tag: string): string {
  const [open, close] = [`<${tag}>`, `</${tag}>`];
  let kept = '';
  let at = 0;
  for (;;) {
    const from = text.indexOf(open, at);
    const to = from === -1 ? -1 : text.indexOf(close, from);
    if (to === -1) return at === 0 ? text : kept + text.slice(at);
    kept += text.slice(at, from);
    at = to + close.length;
  }
}
