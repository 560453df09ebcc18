// Breaks foreign text into safe lines of at most a width.
import { safeLine, widthOf } from './fit.ts';
import { type Span, span, widthOfSpans } from './line.ts';

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

/** Lines of spans that are one safe line: broken as above, the further ones behind so many blanks. Never empty. */
export function wrapSpans(spans: readonly Span[], width: number, hang = 0): readonly (readonly Span[])[] {
  const room = Math.max(1, width);
  const blank: Span[] = [span(' '.repeat(Math.min(hang, Math.floor(room / 2))))];
  const lines: Span[][] = [[]];
  let used = 0;
  const begin = () => {
    lines.push([...blank]);
    used = widthOfSpans(blank);
  };
  for (const word of wordsOf(spans)) {
    const text = word.map((part) => part.text).join('');
    if (used + widthOf(text.trimEnd()) > room && text.trim() !== '') {
      if (lines.at(-1)!.length > (lines.length > 1 ? 1 : 0)) begin();
      if (used + widthOf(text.trimEnd()) > room) {
        for (const [at, piece] of piecesOf(text, room - used).entries()) {
          if (at > 0) begin();
          lines.at(-1)!.push(span(piece, word[0]!.role));
          used += widthOf(piece);
        }
        continue;
      }
    }
    lines.at(-1)!.push(...word);
    used += widthOf(text);
  }
  return lines.map(trimmed);
}

/** Parts without a blank between them belong together, whatever their roles. */
function wordsOf(spans: readonly Span[]): readonly (readonly Span[])[] {
  const words: Span[][] = [[]];
  for (const { text, role } of spans)
    for (const piece of text.split(/(?<= )(?=[^ ])/)) {
      if (piece === '') continue;
      words.at(-1)!.push(span(piece, role));
      if (piece.endsWith(' ')) words.push([]);
    }
  return words.filter((word) => word.length > 0);
}

/** Without the blanks at its end. */
function trimmed(line: readonly Span[]): readonly Span[] {
  const last = line.at(-1);
  if (last === undefined || !last.text.endsWith(' ')) return line;
  const text = last.text.trimEnd();
  return text === '' ? trimmed(line.slice(0, -1)) : [...line.slice(0, -1), span(text, last.role)];
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
