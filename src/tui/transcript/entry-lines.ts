// What happened in a session as lines: text as light Markdown, tool calls, news.
import type { Entry } from '../feed/entries.ts';
import { EMPTY, type Line, span } from '../text/line.ts';
import { wrap } from '../text/wrap.ts';
import { rememberLines, type Room } from './blocks.ts';
import { callLines, type CallManner } from './call-lines.ts';
import { markdownLines } from './markdown.ts';

export const MARGIN = 2;

/** What stands where a run begins is not among the entries. */
export type ShownEntry = Exclude<Entry, { kind: 'asked' }>;

/** The manner matters to calls only. */
export const entryLines = rememberLines((entry: ShownEntry, { width }: Room, manner: CallManner) => {
  if (entry.kind === 'text') {
    return entry.text === '' ? [EMPTY] : markdownLines(entry.text, width, MARGIN, entry.isCode);
  }
  return entry.kind === 'news' ? newsLines(entry, width) : callLines(entry, width, manner);
});

function newsLines({ glyph, role, text }: Extract<Entry, { kind: 'news' }>, width: number): readonly Line[] {
  return wrap(text, width - 4).map((line, at) => ({
    spans: [span(at === 0 ? `${glyph} ` : '  ', role), span(line, role)],
  }));
}

/** As many of the last lines as there is room for. */
export function lastLines(entries: readonly Entry[], room: Room, rows: number): readonly Line[] {
  const lines: Line[] = [];
  for (let at = entries.length - 1; at >= 0 && lines.length < rows; at -= 1) {
    const entry = entries[at]!;
    if (entry.kind !== 'asked') lines.unshift(...entryLines(entry, room, 'folded'));
  }
  return lines.slice(-rows);
}
