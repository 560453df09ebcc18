// The part of a long text that a model is shown: its start and its end.

/** Most characters of one document that a model is shown. */
export const MAX_SHOWN_CHARACTERS = 30_000;

/** The text itself when it fits; else its start, twice as much as its end, and a line between that tells what is missing. */
export function excerptOf(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = text.slice(0, Math.floor((limit * 2) / 3));
  const tail = text.slice(text.length - Math.floor(limit / 3));
  const left = text.length - head.length - tail.length;
  return `${head}\n[… ${left} characters left out here …]\n${tail}`.toWellFormed();
}
