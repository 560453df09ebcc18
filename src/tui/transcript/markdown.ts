// A line of light Markdown as lines of the screen: headings, lists, quotes, bold and code are dressed, the rest stays as it is written.
import { isFence } from '../feed/entries.ts';
import { safeLine } from '../text/fit.ts';
import { EMPTY, type Line, type Role, type Span, span } from '../text/line.ts';
import { wrap, wrapSpans } from '../text/wrap.ts';

const HEADING = /^#{1,6} +(?=\S)/;
const BULLET = /^[-*+] +(?=\S)/;
const NUMBER = /^\d{1,3}[.)] +(?=\S)/;
const QUOTE = /^> ?/;
const RULE = /^(?:-{3,}|\*{3,}|_{3,})$/;
/** What opens stands before a word, and what closes behind one. */
const MARKED = /\*\*(?=[^\s*])([^*]*[^\s*])\*\*|`([^`]+)`/g;
const MOST_RULE = 40;

/** The lines of one line of text. Never empty. `isCode`: it stands between two fences. */
export function markdownLines(text: string, width: number, margin: number, isCode: boolean): readonly Line[] {
  const room = width - margin;
  const lines = isCode || isFence(text) ? codeLines(text, room) : proseLines(text, room);
  return lines.map((spans) => ({ spans: [span(' '.repeat(margin)), ...spans] }));
}

/** The blanks that code begins with stay. */
function codeLines(text: string, width: number): readonly (readonly Span[])[] {
  const role = isFence(text) ? 'dim' : 'code';
  return wrap(text, width).map((line) => [span(line, role)]);
}

function proseLines(text: string, width: number): readonly (readonly Span[])[] {
  const line = safeLine(text).trim();
  const indent = Math.min((/^[ \t]*/.exec(text)?.[0] ?? '').replaceAll('\t', '  ').length, 16, Math.floor(width / 2));
  if (RULE.test(line)) return [[span('─'.repeat(Math.min(width, MOST_RULE)), 'faint')]];
  const heading = HEADING.exec(line)?.[0];
  if (heading !== undefined) return wrapSpans(inline(line.slice(heading.length), 'strong'), width);
  const mark = BULLET.exec(line)?.[0] ?? NUMBER.exec(line)?.[0] ?? QUOTE.exec(line)?.[0] ?? '';
  const shown = BULLET.test(line) ? '• ' : QUOTE.test(line) ? '│ ' : mark;
  const before = span(' '.repeat(indent) + shown, QUOTE.test(line) ? 'faint' : 'plain');
  const rest = inline(line.slice(mark.length), QUOTE.test(line) ? 'dim' : 'plain');
  return wrapSpans([before, ...rest], width, indent + shown.length);
}

/** Marks that don't close stay: the rest of the text may be yet to come. */
function inline(text: string, role: Role): readonly Span[] {
  const spans: Span[] = [];
  let at = 0;
  for (const match of text.matchAll(MARKED)) {
    const [whole, bold, code] = match;
    if (match.index > at) spans.push(span(text.slice(at, match.index), role));
    spans.push(bold === undefined ? span(code!, 'code') : span(bold, 'strong'));
    at = match.index + whole.length;
  }
  if (at < text.length) spans.push(span(text.slice(at), role));
  return spans;
}

/** The lines of a whole text. */
export function markdownText(text: string, width: number, margin: number): readonly Line[] {
  let isCode = false;
  return text.split('\n').flatMap((line) => {
    const lines = line.trim() === '' ? [EMPTY] : markdownLines(line, width, margin, isCode);
    if (isFence(line)) isCode = !isCode;
    return lines;
  });
}
