// A conversation as the client that resends it has it: a chain of hashes over what its user and its assistant said (M1).
import { createHash, type Hash } from 'node:crypto';
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
export function linkAfter(before: Link, { role, text }: Said): Link {
  const words = wordsOf(text);
  return words === '' ? before : digest(beginning(before, role) + words);
}

const beginning = (before: Link, role: Said['role']) => `${before.toString('base64')}${role}\0`;
const linkOf = (hashed: Hash): Link => hashed.digest().subarray(0, BYTES);
const digest = (text: string): Link => linkOf(createHash('sha256').update(text));

/** What is resent of a conversation up to an answer: all of it, or its beginning. */
export interface Resent {
  /** Under the conversation's name, then without one. */
  readonly links: readonly Link[];
  /** How many of the resent messages come after it. */
  readonly after: number;
}

/** Conversations that say the same, from different beginnings on. */
export interface Chains {
  add(said: Said): void;
  /** The links after all that was added. */
  links(): readonly Link[];
}

/** Messages of the assistant in a row are one: clients of some protocols divide what one turn has said. Nothing of their texts is held. */
export function makeChains(begun: readonly Link[]): Chains {
  let before = begun;
  let answer: readonly Hash[] = [];
  const links = () => (answer.length === 0 ? before : answer.map((hashed) => linkOf(hashed.copy())));
  return {
    links,
    add: ({ role, text }) => {
      const words = wordsOf(text);
      if (role === 'user') {
        before = words === '' ? links() : links().map((link) => digest(beginning(link, role) + words));
        answer = [];
      } else if (words !== '') {
        if (answer.length === 0) answer = before.map((link) => createHash('sha256').update(beginning(link, role)));
        for (const hashed of answer) hashed.update(words);
      }
    },
  };
}

/** Without what is passing, and without blanks, which clients trim and join. */
function wordsOf(text: string): string {
  return withoutPassing(text).replaceAll(/\s+/g, '');
}
