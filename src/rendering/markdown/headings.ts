// Gives headings ids by their texts, links them to themselves, and lists the first of them as the contents of the document.
import MarkdownIt, { type Token } from 'markdown-it';
import { ID_PREFIX } from '../link-target.ts';
import { type Contents, type Heading, NO_CONTENTS } from '../rendering.ts';

/** Fewer are in view at once. */
const LEAST_HEADINGS = 4;
/** What people look through; a longer list is cut. */
const MOST_HEADINGS = 200;
const MAX_TEXT_CHARACTERS = 120;
const MAX_ID_CHARACTERS = 100;
/** Levels of headings in the contents, from the highest of the document on. */
const LEVELS = 3;

/** Changes the tokens of headings. */
export function nameHeadings(tokens: readonly Token[]): Contents {
  const nameOf = makeNames();
  const headings: Heading[] = [];
  for (const [index, token] of tokens.entries()) {
    const inline = tokens[index + 1];
    if (token.type !== 'heading_open' || inline === undefined) continue;
    const text = textOf(inline);
    const name = nameOf(text);
    token.attrSet('id', name);
    linkTo(name, inline);
    // Those in quotations and lists are no parts of the document.
    if (token.level === 0 && text.trim() !== '')
      headings.push({ level: Number(token.tag.slice(1)), id: ID_PREFIX + name, text: shortened(text) });
  }
  return contentsOf(headings);
}

function contentsOf(all: readonly Heading[]): Contents {
  const [first, ...others] = all;
  // A document that begins with its title has none like it.
  const isTitled = first !== undefined && others.every(({ level }) => level > first.level);
  const parts = isTitled ? others : all;
  const highest = parts.reduce((level, heading) => Math.min(level, heading.level), 6);
  const headings = parts
    .map((heading) => ({ ...heading, level: heading.level - highest + 1 }))
    .filter(({ level }) => level <= LEVELS);
  if (all.length < LEAST_HEADINGS || headings.length < 2) return NO_CONTENTS;
  return { headings: headings.slice(0, MOST_HEADINGS), more: Math.max(0, headings.length - MOST_HEADINGS) };
}

function textOf({ children }: Token): string {
  return (children ?? [])
    .map(({ type, content }) => {
      if (type === 'html_inline') return '';
      return type === 'softbreak' || type === 'hardbreak' ? ' ' : content;
    })
    .join('');
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > MAX_TEXT_CHARACTERS ? `${line.slice(0, MAX_TEXT_CHARACTERS - 1).toWellFormed()}…` : line;
}

/** Names by texts, each of them once. */
function makeNames(): (text: string) => string {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  return (text) => {
    const letters = text.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '');
    const base = letters.trim().replace(/\s/g, '-').slice(0, MAX_ID_CHARACTERS).toWellFormed() || 'section';
    let count = counts.get(base) ?? 0;
    let name = count === 0 ? base : `${base}-${count}`;
    while (taken.has(name)) {
      count += 1;
      name = `${base}-${count}`;
    }
    counts.set(base, count + 1);
    taken.add(name);
    return name;
  };
}

/** A link can't contain another one, nor what is clicked for itself. */
const PLAIN: ReadonlySet<string> = new Set([
  'text',
  'code_inline',
  'softbreak',
  'hardbreak',
  'formula',
  ...['strong', 'em', 's', 'date'].flatMap((mark) => [`${mark}_open`, `${mark}_close`]),
]);

function linkTo(name: string, inline: Token): void {
  const children = inline.children ?? [];
  if (children.length === 0 || !children.every(({ type }) => PLAIN.has(type))) return;
  const open = new MarkdownIt.Token('link_open', 'a', 1);
  open.attrs = [
    ['class', 'anchor'],
    ['href', `#${name}`],
  ];
  inline.children = [open, ...children, new MarkdownIt.Token('link_close', 'a', -1)];
}
