// The part of a long text that a model is shown: its start and its end. The omitted count refers to the whole text.
import type { Ends } from '../port/protocol.ts';

/** Maximum characters of one document that a model is shown. */
export const MAX_SHOWN_CHARACTERS = 30_000;
const HEAD_SHARE = 2 / 3;

/** What is kept of a text until the available room is known. */
export function endsOf(text: string): Ends {
  const characters = text.length;
  if (characters <= MAX_SHOWN_CHARACTERS) return { text, characters };
  const { head, tail } = cut(text, MAX_SHOWN_CHARACTERS);
  return { text: head + tail, characters };
}

/**
 * The text itself when it fits; otherwise its start, twice as long as its end, with a line between that says how much is
 * omitted. `limit` is at most MAX_SHOWN_CHARACTERS; `more` returns where the rest is, given the line in which it begins.
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
