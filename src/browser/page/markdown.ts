// Light Markdown as a tree of blocks: headings, paragraphs, lists, quotes, code and tables. Pure, and never slow.
import { type Inline, inlineOf } from './inline.ts';

export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: readonly Inline[] }
  | { readonly kind: 'paragraph'; readonly text: readonly Inline[] }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'quote'; readonly blocks: readonly Block[] }
  | { readonly kind: 'list'; readonly start: number | null; readonly items: readonly (readonly Block[])[] }
  | { readonly kind: 'table'; readonly head: readonly Cell[]; readonly rows: readonly (readonly Cell[])[] }
  | { readonly kind: 'rule' };

export interface Cell {
  readonly text: readonly Inline[];
  readonly isNumeric: boolean;
}

const FENCE = /^\s{0,3}(`{3,}|~{3,})/;
const FENCE_END = /^\s{0,3}(`{3,}|~{3,})\s*$/;
// Only marks are matched, and what follows them is trimmed: patterns with several blanks in a row can take seconds.
const HEADING = /^(#{1,6})\s/;
const RULE = /^\s{0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/;
const ITEM = /^(\s{0,12})(?:[-*+]|(\d{1,9})[.)])\s/;
const QUOTE = /^\s{0,3}>\s?/;
const DIVIDER_CELL = /^:?-+:?$/;
const TASK = /^\[([ xX])\]\s+/;
const DEEPEST = 5;

/** The blocks of a text. */
export function blocksOf(text: string): readonly Block[] {
  return blocksOfLines(text.split('\n'), 0);
}

/** Takes a block that begins at a line; returns how many lines it took, and 0 where none begins. */
type Take = (lines: readonly string[], at: number, depth: number, made: Block[]) => number;

function blocksOfLines(lines: readonly string[], depth: number): readonly Block[] {
  const made: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    if (lines[at]?.trim() === '') at += 1;
    else at += TAKES.reduce((taken, take) => taken || take(lines, at, depth, made), 0);
  }
  return made;
}

const takeCode: Take = (lines, at, _depth, made) => {
  const fence = FENCE.exec(lines[at] ?? '')?.[1];
  if (fence === undefined) return 0;
  const own = until(lines, at + 1, (line) => FENCE_END.exec(line)?.[1]?.startsWith(fence) === true);
  made.push({ kind: 'code', text: own.join('\n') });
  return own.length + 2;
};

const takeHeading: Take = (lines, at, _depth, made) => {
  const line = lines[at] ?? '';
  const level = HEADING.exec(line)?.[1]?.length;
  if (level === undefined) return 0;
  made.push({ kind: 'heading', level, text: inlineOf(headingText(line.slice(level))) });
  return 1;
};

/** Without the marks that may close it, behind a blank. */
function headingText(text: string): string {
  let end = text.length;
  while (text[end - 1] === '#') end -= 1;
  const isClosed = text[end - 1]?.trim() === '';
  return (isClosed ? text.slice(0, end) : text).trim();
}

const takeRule: Take = (lines, at, _depth, made) => {
  if (!RULE.test(lines[at] ?? '')) return 0;
  made.push({ kind: 'rule' });
  return 1;
};

const takeQuote: Take = (lines, at, depth, made) => {
  if (depth >= DEEPEST || !QUOTE.test(lines[at] ?? '')) return 0;
  const own = until(lines, at, (line) => !QUOTE.test(line));
  made.push({
    kind: 'quote',
    blocks: blocksOfLines(
      own.map((line) => line.replace(QUOTE, '')),
      depth + 1,
    ),
  });
  return own.length;
};

const takeTable: Take = (lines, at, _depth, made) => {
  if (!(lines[at] ?? '').includes('|') || !isDivider(lines[at + 1] ?? '')) return 0;
  const rows = until(lines, at + 2, (line) => !line.includes('|'));
  made.push({ kind: 'table', head: cellsOf(lines[at] ?? ''), rows: rows.map(cellsOf) });
  return 2 + rows.length;
};

const withoutEdges = (line: string) => line.trim().replace(/^\|/, '').replace(/\|$/, '');

function isDivider(line: string): boolean {
  if (!line.includes('|')) return false;
  return withoutEdges(line)
    .split('|')
    .every((cell) => DIVIDER_CELL.test(cell.trim()));
}

function cellsOf(line: string): readonly Cell[] {
  return withoutEdges(line)
    .split(/(?<!\\)\|/, 100)
    .map((text) => ({
      text: inlineOf(text.trim().replaceAll('\\|', '|')),
      isNumeric: /^[-+$€£¥]?\d[\d.,\s]*[%kMG]?$/.test(text.trim()),
    }));
}

/** An item ends where another one of its list begins, or a line that is indented no further. */
const takeList: Take = (lines, at, depth, made) => {
  const first = ITEM.exec(lines[at] ?? '');
  if (first === null || depth >= DEEPEST) return 0;
  const indent = first[1]?.length ?? 0;
  const isNumbered = first[2] !== undefined;
  const items: string[][] = [];
  let end = at;
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? '';
    const item = ITEM.exec(line);
    const own = item !== null && (item[1]?.length ?? 0) <= indent + 1;
    if (own && (item[2] !== undefined) !== isNumbered) break;
    if (own) items.push([taskText(line.slice(item[0].length).trimStart())]);
    else if (line.trim() === '' || /^\s/.test(line))
      items.at(-1)?.push(line.slice(Math.min(indent + 2, line.search(/\S|$/))));
    else break;
  }
  const start = isNumbered ? Number(first[2]) : null;
  made.push({ kind: 'list', start, items: items.map((item) => blocksOfLines(item, depth + 1)) });
  return end - at;
};

const taskText = (item: string) => item.replace(TASK, (_, mark: string) => (mark === ' ' ? '☐ ' : '☑ '));

const takeParagraph: Take = (lines, at, _depth, made) => {
  const own = until(lines, at + 1, (line) => line.trim() === '' || BEGINS.some((begins) => begins.test(line)));
  const text = [lines[at] ?? '', ...own].map((line) => line.trim()).join('\n');
  made.push({ kind: 'paragraph', text: inlineOf(text) });
  return 1 + own.length;
};

const BEGINS = [FENCE, HEADING, RULE, QUOTE, ITEM];
const TAKES = [takeCode, takeHeading, takeRule, takeQuote, takeTable, takeList, takeParagraph];

function until(lines: readonly string[], from: number, isOver: (line: string) => boolean): readonly string[] {
  let end = from;
  while (end < lines.length && !isOver(lines[end] ?? '')) end += 1;
  return lines.slice(from, end);
}
