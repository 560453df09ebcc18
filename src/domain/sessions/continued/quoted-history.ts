// What a client says was said elsewhere, as a text before its message (M1).
import type { TextBlock } from '../content.ts';
import type { Said } from './history-chain.ts';

/** Characters of such a quote. */
export const MOST_QUOTED = 200_000;

/** A block before the user's message; none where nothing was said. */
export function quotedHistory(said: readonly Said[]): TextBlock[] {
  const spoken = said.filter(({ text }) => text !== '');
  if (spoken.length === 0) return [];
  const messages = spoken.map(({ role, text }) => `${HEADS[role]}${text}`);
  return [{ type: 'text', quoted: true, text: cutQuote([BEGIN, ...messages, END].join('\n\n'), MOST_QUOTED) }];
}

const HEADS: Readonly<Record<Said['role'], string>> = { user: '[user]\n', assistant: '[assistant]\n' };
const BEGIN =
  '<earlier_conversation>\nThe client of this session sends these messages as what was said before. Your workspace has nothing of it.';
const LEFT_OUT = 'Older ones were left out, because they do not fit.';
const END = '</earlier_conversation>';
const FRAME = [BEGIN, LEFT_OUT, END].join('\n\n').length + 50;

/** A quote of at most so many characters, or of its frame: the newest of it, and that older messages were left out. */
export function cutQuote(quote: string, characters: number): string {
  if (quote.length <= characters) return quote;
  const to = quote.length - END.length - 2;
  const from = to - Math.max(0, characters - FRAME);
  return [BEGIN, LEFT_OUT, ...newestOf(quote, from, to), END].join('\n\n');
}

/** Whole messages, or of a long one its end. */
function newestOf(quote: string, from: number, to: number): string[] {
  if (from >= to) return [];
  const heads = Object.values(HEADS).map((head) => `\n\n${head}`);
  const next = Math.min(...heads.map((head) => quote.indexOf(head, from - head.length)).filter((at) => at !== -1));
  if (next < (from + to) / 2) return [quote.slice(next + 2, to)];
  const head = heads.toSorted((a, b) => quote.lastIndexOf(b, from) - quote.lastIndexOf(a, from))[0]!;
  return [`${head.slice(2)}… ${quote.slice(from, to)}`.toWellFormed()];
}
