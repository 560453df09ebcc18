// The part of a long text that a model is shown: its start and its end. A text is cut once, and what is missing is counted from the whole.

/** Most characters of one document that a model is shown. */
export const MAX_SHOWN_CHARACTERS = 30_000;
const HEAD_SHARE = 2 / 3;

/** As much of a text as is ever shown of it: the whole, or its start and its end put together. */
export interface Ends {
  readonly text: string;
  /** How long the whole text is. */
  readonly characters: number;
}

/** What is carried of a text until it is known how much of it fits. */
export function endsOf(text: string): Ends {
  const characters = text.length;
  if (characters <= MAX_SHOWN_CHARACTERS) return { text, characters };
  const { head, tail } = cut(text, MAX_SHOWN_CHARACTERS);
  return { text: head + tail, characters };
}

/**
 * The text itself when it fits; else its start, twice as much as its end, and a line between that tells what is missing.
 * `limit` is at most MAX_SHOWN_CHARACTERS; `more` says where the rest is, given the line in which it begins.
 */
export function excerptOf(ends: Ends, limit: number, more: (line: number) => string = () => ''): string {
  if (ends.characters <= limit) return ends.text;
  const { head, tail } = cut(ends.text, limit);
  const left = ends.characters - head.length - tail.length;
  const note = `[… ${left} characters left out here${more(head.split('\n').length)} …]`;
  return `${head}\n${note}\n${tail}`.toWellFormed();
}

function cut(text: string, limit: number): { readonly head: string; readonly tail: string } {
  const headLength = Math.floor(limit * HEAD_SHARE);
  return { head: text.slice(0, headLength), tail: text.slice(text.length - (limit - headLength)) };
}
