// Renders Markdown (CommonMark with tables, strikethrough, task lists and bare links) to HTML that still has to be sanitised.
import MarkdownIt, { type Token } from 'markdown-it';
import { highlighted } from './highlight.ts';

const markdown = new MarkdownIt({
  html: true,
  linkify: true,
  highlight: (code, language) => highlighted(code, language),
});
const { rules } = markdown.renderer;
rules['code_block'] = rules['fence']!;
// `readme.md` is a file, not a host.
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

/** Metadata for other programs at the start of a document. */
const FRONT_MATTER = /^\uFEFF?---\n[^]{0,8192}?\n---(?:\n|$)/;
const TASK = /^\[([ xX])\] /;

export function renderMarkdown(source: string): string {
  const tokens = markdown.parse(source.replace(FRONT_MATTER, ''), {});
  nameHeadings(tokens);
  markTasks(tokens);
  return markdown.renderer.render(tokens, markdown.options, {});
}

/** Gives headings ids by their texts, so that a table of contents works. */
function nameHeadings(tokens: readonly Token[]): void {
  const counts = new Map<string, number>();
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue;
    const name = slugOf(tokens[index + 1]);
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    token.attrSet('id', count === 0 ? name : `${name}-${count}`);
  }
}

function slugOf(inline: Token | undefined): string {
  const text = (inline?.children ?? []).map(({ type, content }) => (type === 'html_inline' ? '' : content)).join('');
  const letters = text.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '');
  return letters.trim().replace(/\s/g, '-').slice(0, 100) || 'section';
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
