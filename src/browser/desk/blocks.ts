// Entries of the live view as blocks of a page: lines of text that belong together are one block of Markdown. Pure.
import type { Entry } from '../../tui/feed/entries.ts';

export type LiveBlock =
  | { readonly key: string; readonly kind: 'text'; readonly text: string }
  | { readonly key: string; readonly kind: 'entry'; readonly entry: Exclude<Entry, { readonly kind: 'text' }> };

const FENCE = /^\s{0,3}(`{3,}|~{3,})/;
const FENCE_END = /^\s{0,3}(`{3,}|~{3,})\s*$/;
/** Lines that belong to what is above them although a blank line is between. */
const CONTINUES = /^(?:\s{2,}\S|\s{0,3}(?:[-*+]|\d{1,9}[.)])\s)/;
/** A longer block goes on in another one: what still grows is drawn again each time, and is cut where it is too long. */
const MOST_LINES = 200;
const MOST_CHARACTERS = 40_000;

/** The blocks, in order. A block keeps its key while it grows. */
export function liveBlocksOf(entries: readonly Entry[]): readonly LiveBlock[] {
  const blocks: LiveBlock[] = [];
  let own = emptyOwn();
  /** The line that began the code that has not ended. */
  let fence: string | null = null;
  const end = () => {
    const text = textOf(own.lines);
    if (text !== '') blocks.push({ key: `t${own.key}`, kind: 'text', text });
    own = emptyOwn();
  };
  for (const entry of entries) {
    if (entry.kind !== 'text') {
      end();
      fence = null;
      blocks.push({ key: `e${entry.key}`, kind: 'entry', entry });
      continue;
    }
    const { text } = entry;
    const isClosing: boolean = fence !== null && closes(text, fence);
    const isNext = fence === null && own.lines.at(-1)?.trim() === '' && text.trim() !== '' && !isList(own.lines, text);
    const isFull = own.lines.length >= MOST_LINES || own.size + text.length > MOST_CHARACTERS;
    if (isNext || (isFull && !isClosing)) end();
    if (own.lines.length === 0) {
      if (fence === null && text.trim() === '') continue;
      own.key = entry.key;
      if (fence !== null) own.lines.push(fence);
    }
    if (entry.continues === true && own.lines.length > 0) own.lines.push(own.lines.pop() + text);
    else own.lines.push(text);
    own.size += text.length;
    if (isClosing) fence = null;
    else if (fence === null && FENCE.test(text)) fence = text;
  }
  end();
  return blocks;
}

/** The block that grows. */
const emptyOwn = (): { key: number; size: number; readonly lines: string[] } => ({ key: 0, size: 0, lines: [] });

/** Without the blank lines at the end. */
const textOf = (lines: readonly string[]) => lines.slice(0, lines.findLastIndex((line) => line !== '') + 1).join('\n');

/** Whether a line ends the code that another one began. */
function closes(text: string, fence: string): boolean {
  const [mark = ''] = FENCE.exec(fence)?.slice(1) ?? [];
  return FENCE_END.exec(text)?.[1]?.startsWith(mark) === true;
}

/** Whether a line after a blank one goes on with the list above. */
function isList(lines: readonly string[], text: string): boolean {
  return CONTINUES.test(text) && CONTINUES.test(lines[0] ?? '');
}
