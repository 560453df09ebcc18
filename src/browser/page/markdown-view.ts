// Draws light Markdown as elements.
import { h } from './element.ts';
import type { Inline } from './inline.ts';
import { type Block, blocksOf, type Cell } from './markdown.ts';
import { safeText } from './safe-text.ts';

/** The elements of a foreign text. */
export function markdownView(text: string): readonly Node[] {
  return blocksOf(safeText(text)).map(blockView);
}

function blockView(block: Block): Node {
  switch (block.kind) {
    // Below the headings of the page itself.
    case 'heading':
      return h('p', { class: `heading level-${block.level}`, dir: 'auto' }, ...inlineViews(block.text));
    case 'paragraph':
      return h('p', { dir: 'auto' }, ...inlineViews(block.text));
    case 'code':
      return h('pre', { tabindex: '0', dir: 'ltr' }, h('code', {}, block.text));
    case 'quote':
      return h('blockquote', {}, ...block.blocks.map(blockView));
    case 'list':
      return listView(block.start, block.items);
    case 'table':
      return tableView(block.head, block.rows);
    default:
      return h('hr');
  }
}

function listView(start: number | null, items: readonly (readonly Block[])[]): Node {
  const views = items.map((blocks) => {
    const [first, ...rest] = blocks;
    const own = first?.kind === 'paragraph' ? inlineViews(first.text) : first === undefined ? [] : [blockView(first)];
    return h('li', { dir: 'auto' }, ...own, ...rest.map(blockView));
  });
  return start === null ? h('ul', {}, ...views) : h('ol', { start: String(start) }, ...views);
}

function tableView(head: readonly Cell[], rows: readonly (readonly Cell[])[]): Node {
  const cell = (tag: 'th' | 'td') => (of: Cell) => {
    const attributes = { class: of.isNumeric ? 'number' : undefined, scope: tag === 'th' ? 'col' : undefined };
    return h(tag, { dir: 'auto', ...attributes }, ...inlineViews(of.text));
  };
  return h(
    'div',
    { class: 'wide', tabindex: '0', role: 'group', 'aria-label': 'Table' },
    h(
      'table',
      {},
      h('thead', {}, h('tr', {}, ...head.map(cell('th')))),
      h('tbody', {}, ...rows.map((row) => h('tr', {}, ...row.map(cell('td'))))),
    ),
  );
}

function inlineViews(inlines: readonly Inline[]): readonly (Node | string)[] {
  return inlines.map((inline) => {
    if (typeof inline === 'string') return inline;
    const children = inlineViews(inline.children);
    if (inline.tag !== 'a') return h(inline.tag, {}, ...children);
    return h('a', { href: inline.href, rel: 'noopener noreferrer nofollow', target: '_blank' }, ...children);
  });
}
