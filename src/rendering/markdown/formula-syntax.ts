// Finds formulas in TeX: `$…$` and `\(…\)` in a line, `$$…$$` and `\[…\]` on lines of their own, and blocks of code in `math`.
import type { MarkdownIt, StateBlock, StateInline, Token } from 'markdown-it';

/** What encloses a formula. A longer one comes before one that it begins with. */
const ENCLOSURES = [
  { open: '$$', close: '$$', isDisplay: true },
  { open: '$', close: '$', isDisplay: false },
  { open: '\\[', close: '\\]', isDisplay: true },
  { open: '\\(', close: '\\)', isDisplay: false },
] as const;
type Enclosure = (typeof ENCLOSURES)[number];

/** Longer ones are none: looking for the end of each must not take long. */
const MAX_TEX_CHARACTERS = 2_000;
const MAX_LINES = 50;

export const FORMULA = 'formula';
export const FORMULA_BLOCK = 'formula_block';

/** Adds tokens of both types, whose content is TeX and whose markup is what encloses it. */
export function addFormulaSyntax(markdown: MarkdownIt): void {
  markdown.inline.ruler.before('escape', FORMULA, inLine);
  const alt = ['paragraph', 'reference', 'blockquote', 'list'];
  markdown.block.ruler.before('fence', FORMULA_BLOCK, onOwnLines, { alt });
}

/** Makes blocks of code in `math` formulas. */
export function takeMathFences(tokens: readonly Token[]): void {
  for (const token of tokens) if (token.type === 'fence' && token.info.trim() === 'math') token.type = FORMULA_BLOCK;
}

function inLine(state: StateInline, silent: boolean): boolean {
  const { src, pos, posMax } = state;
  const enclosure = ENCLOSURES.find(({ open }) => src.startsWith(open, pos));
  if (enclosure === undefined) return false;
  // An escaped bracket is what Markdown says it is, unless it stands where a formula of its own would.
  if (enclosure.open === '\\[' && pos > 0 && src[pos - 1] !== '\n') return false;
  const from = pos + enclosure.open.length;
  const window = src.slice(from, Math.min(posMax, from + MAX_TEX_CHARACTERS));
  const length = endIn(window, enclosure.close);
  if (length <= 0) return false;
  const tex = window.slice(0, length);
  if (
    !isFormula(tex, enclosure, { before: src[pos - 1] ?? '', after: src[from + length + enclosure.close.length] ?? '' })
  )
    return false;
  if (!silent) {
    const token = state.push(FORMULA, 'math', 0);
    token.content = tex;
    token.markup = enclosure.open;
  }
  state.pos = from + length + enclosure.close.length;
  return true;
}

/** Where the first end is that no backslash escapes; -1 for none. */
function endIn(text: string, close: string): number {
  for (let at = text.indexOf(close); at !== -1; at = text.indexOf(close, at + 1)) {
    if (close.startsWith('\\') || text[at - 1] !== '\\') return at;
  }
  return -1;
}

interface Around {
  readonly before: string;
  readonly after: string;
}

/** A price is no formula: `$5 and $6`, `US$5`, `$5 million in US$`. */
function isFormula(tex: string, { open }: Enclosure, { before, after }: Around): boolean {
  if (tex.trim() === '') return false;
  if (open !== '$') return true;
  if (/^\s|\s$/.test(tex) || /[\p{L}\p{N}]/u.test(before) || /[\p{L}\p{N}]/u.test(after)) return false;
  return !(/^\d/.test(tex) && WORDS.test(tex));
}

const WORDS = /(?<![\\\p{L}])\p{L}{2,}\s+[\p{L}(]/u;

function onOwnLines(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  const first = lineOf(state, startLine);
  const enclosure = ENCLOSURES.find(({ open, isDisplay }) => isDisplay && first.startsWith(open));
  if (enclosure === undefined || state.sCount[startLine]! - state.blkIndent >= 4) return false;
  const { open, close } = enclosure;
  const found = linesTo(close, { state, startLine, endLine, first: first.slice(open.length) });
  if (found === undefined || found.tex.trim() === '') return false;
  if (silent) return true;
  const token = state.push(FORMULA_BLOCK, 'math', 0);
  token.block = true;
  token.content = found.tex;
  token.markup = open;
  token.map = [startLine, found.next];
  state.line = found.next;
  return true;
}

interface Lines {
  readonly state: StateBlock;
  readonly startLine: number;
  readonly endLine: number;
  /** The first line, behind what opens the formula. */
  readonly first: string;
}

/** The text up to the line that ends with what closes it. */
function linesTo(close: string, { state, startLine, endLine, first }: Lines) {
  const lines: string[] = [];
  let length = 0;
  const last = Math.min(endLine, startLine + MAX_LINES);
  for (let line = startLine; line < last && length <= MAX_TEX_CHARACTERS; line += 1) {
    const isOutside = line > startLine && state.sCount[line]! < state.blkIndent && !state.isEmpty(line);
    if (isOutside || state.eMarks[line]! - state.bMarks[line]! > MAX_TEX_CHARACTERS) return undefined;
    const text = line === startLine ? first : lineOf(state, line);
    const at = text.indexOf(close);
    // Whatever comes behind it belongs to a sentence.
    if (at !== -1 && at !== text.length - close.length) return undefined;
    lines.push(at === -1 ? text : text.slice(0, at));
    if (at !== -1) return { tex: lines.join('\n'), next: line + 1 };
    length += text.length;
  }
  return undefined;
}

function lineOf({ src, bMarks, tShift, eMarks }: StateBlock, line: number): string {
  const from = bMarks[line]! + tShift[line]!;
  return src.slice(from, Math.min(eMarks[line]!, from + MAX_TEX_CHARACTERS)).trimEnd();
}
