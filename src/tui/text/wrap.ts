// Breaks foreign text into safe lines of at most a width.
import { safeLine, widthOf } from './fit.ts';

const segmenter = new Intl.Segmenter();
/** Deeper indents say no more. */
const MAX_INDENT = 16;

/** Lines of one line of text: broken at spaces, and within words that are longer than a line. Never empty. */
export function wrap(text: string, width: number): readonly string[] {
  const room = Math.max(1, width);
  const indent = ' '.repeat(Math.min(indentOf(text), MAX_INDENT, Math.floor(room / 2)));
  const line = indent + safeLine(text).trim();
  if (widthOf(line) <= room) return [line];
  const lines: string[] = [];
  let current = indent;
  for (const word of line.trim().split(/(?<= )/)) {
    if (widthOf(current + word.trimEnd()) <= room) {
      current += word;
      continue;
    }
    if (current.trim() !== '') lines.push(current.trimEnd());
    const pieces = piecesOf(word, room);
    lines.push(...pieces.slice(0, -1));
    current = pieces.at(-1) ?? '';
  }
  return [...lines, current.trimEnd()];
}

/** All lines of a text of several. */
export function wrapAll(text: string, width: number): readonly string[] {
  return text.split('\n').flatMap((line) => wrap(line, width));
}

const indentOf = (text: string) => (/^[ \t]*/.exec(text)?.[0] ?? '').replaceAll('\t', '  ').length;

function piecesOf(word: string, room: number): string[] {
  const pieces = [''];
  for (const { segment } of segmenter.segment(word)) {
    const last = pieces.at(-1) ?? '';
    if (last !== '' && widthOf((last + segment).trimEnd()) > room) pieces.push(segment);
    else pieces[pieces.length - 1] = last + segment;
  }
  return pieces;
}
