// Renders Markdown (CommonMark with tables, strikethrough, task lists, bare links, footnotes and formulas) to HTML that still has
// to be sanitised.
import { randomBytes } from 'node:crypto';
import MarkdownIt, { type Env, type Token } from 'markdown-it';
import { highlighted } from './highlight.ts';
import { keepDates } from './markdown/dates.ts';
import { addFootnotes } from './markdown/footnotes.ts';
import { addFormulaSyntax, FORMULA, FORMULA_BLOCK, takeMathFences } from './markdown/formula-syntax.ts';
import type { Formula } from './markdown/formulas.ts';
import { nameHeadings } from './markdown/headings.ts';
import { gatherImages } from './markdown/image-runs.ts';
import type { Contents } from './rendering.ts';

/** A document as HTML whose formulas are still to be put in. */
export interface RenderedMarkdown {
  readonly html: string;
  readonly contents: Contents;
  /** The element that stands for each formula, by its number in `n`. No document can know its name. */
  readonly stand: string;
  readonly formulas: readonly Formula[];
}

interface OwnEnv extends Env {
  readonly stand: string;
  readonly formulas: Formula[];
}

const markdown = new MarkdownIt({
  html: true,
  linkify: true,
  highlight: (code, language) => highlighted(code, language),
});
const { rules } = markdown.renderer;
rules['code_block'] = rules['fence']!;
rules[FORMULA] = (tokens, index, _options, env) => standIn(tokens[index]!, env as OwnEnv);
rules[FORMULA_BLOCK] = (tokens, index, _options, env) => `<p>${standIn(tokens[index]!, env as OwnEnv)}</p>\n`;
// `readme.md` is a file, not a host.
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
addFootnotes(markdown);
addFormulaSyntax(markdown);

/** Metadata for other programs at the start of a document. */
const FRONT_MATTER = /^\uFEFF?---\n[^]{0,8192}?\n---(?:\n|$)/;
const TASK = /^\[([ xX])\] /;

export function renderMarkdown(source: string): RenderedMarkdown {
  const env: OwnEnv = { stand: `x-${randomBytes(12).toString('hex')}`, formulas: [] };
  const parsed = markdown.parse(source.replace(FRONT_MATTER, ''), env);
  takeMathFences(parsed);
  markTasks(parsed);
  keepDates(parsed);
  const contents = nameHeadings(parsed);
  const html = markdown.renderer.render(gatherImages(parsed), markdown.options, env);
  return { html, contents, stand: env.stand, formulas: env.formulas };
}

function standIn({ type, content, markup }: Token, { stand, formulas }: OwnEnv): string {
  formulas.push({ tex: content, markup, isDisplay: type === FORMULA_BLOCK || markup === '$$' || markup === '\\[' });
  return `<${stand} n="${formulas.length - 1}"></${stand}>`;
}

/** Sanitised HTML with its formulas. */
export function withFormulas(html: string, stand: string, formulas: readonly string[]): string {
  return html.replace(new RegExp(`<${stand} n="(\\d+)"></${stand}>`, 'g'), (_all, n: string) => formulas[Number(n)]!);
}

/** List items that begin with `[ ]` or `[x]` show whether they are done. */
function markTasks(tokens: readonly Token[]): void {
  for (const [index, { type, children }] of tokens.entries()) {
    const first = children?.[0];
    if (type !== 'inline' || first?.type !== 'text' || tokens[index - 2]?.type !== 'list_item_open') continue;
    const mark = TASK.exec(first.content)?.[1];
    if (mark !== undefined) first.content = `${mark === ' ' ? '☐' : '☑'} ${first.content.slice(4)}`;
  }
}
