// Entries of the live view as blocks of a page: lines of text that belong together are one block of Markdown. Pure.
import type { Entry } from '../../tui/feed/entries.ts';

export type LiveBlock =
  | { readonly key: string; readonly kind: 'text'; readonly text: string }
  | { readonly key: string; readonly kind: 'entry'; readonly entry: Exclude<Entry, { readonly kind: 'text' }> };

const FENCE = /^\s{0,3}(`{3,}|~{3,})/;
/** Lines that belong to what is above them although a blank line is between. */
const CONTINUES = /^(?:\s{2,}\S|\s{0,3}(?:[-*+]|\d{1,9}[.)])\s)/;
/** A longer block goes on in another one: what still grows is drawn again each time. */
const MOST_LINES = 200;

/** The blocks, in order. A block keeps its key while it grows. */
export function liveBlocksOf(entries: readonly Entry[]): readonly LiveBlock[] {
  const blocks: LiveBlock[] = [];
  let lines: string[] = [];
  let key = 0;
  let fence: string | null = null;
  const end = () => {
    const text = lines.join('\n').replace(/\n+$/, '');
    if (text !== '') blocks.push({ key: `t${key}`, kind: 'text', text });
    lines = [];
  };
  for (const entry of entries) {
    if (entry.kind !== 'text') {
      end();
      fence = null;
      blocks.push({ key: `e${entry.key}`, kind: 'entry', entry });
      continue;
    }
    const { text } = entry;
    const isNext = fence === null && lines.at(-1)?.trim() === '' && text.trim() !== '' && !isList(lines, text);
    if (isNext || (lines.length >= MOST_LINES && fence === null)) end();
    if (lines.length === 0) {
      if (text.trim() === '') continue;
      key = entry.key;
    }
    lines.push(text);
    const mark = FENCE.exec(text)?.[1];
    if (fence === null) fence = mark ?? null;
    else if (mark?.startsWith(fence) === true) fence = null;
  }
  end();
  return blocks;
}

/** Whether a line after a blank one goes on with the list above. */
function isList(lines: readonly string[], text: string): boolean {
  return CONTINUES.test(text) && CONTINUES.test(lines[0] ?? '');
}
