// Light Markdown within a paragraph, as a tree: code, bold, italic, struck out, links. Pure, and never slow.

export type InlineTag = 'code' | 'strong' | 'em' | 'del' | 'a' | 'br';

/** A text, or an element. `href` is an address of the web or of mail, and nothing else. */
export type Inline = string | { readonly tag: InlineTag; readonly href?: string; readonly children: readonly Inline[] };

/** Marks are looked for no further than this. */
const REACH = 1000;
/** What is longer has no marks. */
const LONGEST = 20_000;
const DEEPEST = 4;

const MARKS = [
  ['**', 'strong'],
  ['__', 'strong'],
  ['~~', 'del'],
  ['*', 'em'],
  ['_', 'em'],
] as const;

const ADDRESS = /^https?:\/\/[^\s<>"'`]{1,2000}/;
const ENDS_NO_ADDRESS: ReadonlySet<string> = new Set('.,;:!?*_)]}');
const LINK =
  /^\[([^[\]\n]{1,500})\]\(\s{0,4}([^\s()]{1,2000}(?:\([^\s()]{0,200}\)[^\s()]{0,2000})?)(?:\s{1,4}"[^"\n]{0,200}")?\s{0,4}\)/;
const SAFE = /^(?:https?:\/\/|mailto:)/i;
const LETTER = /[\p{L}\p{N}]/u;

/** The tree of a paragraph. */
export function inlineOf(text: string, depth = 0): readonly Inline[] {
  if (text.length > LONGEST || depth > DEEPEST) return [text];
  const made: Inline[] = [];
  let plain = '';
  const take = (node: Inline) => {
    if (plain !== '') made.push(plain);
    plain = '';
    made.push(node);
  };
  for (let at = 0; at < text.length; ) {
    const found = markAt(text, at, depth);
    if (found === undefined) {
      plain += text[at];
      at += 1;
    } else {
      if (typeof found.node === 'string') plain += found.node;
      else take(found.node);
      at = found.end;
    }
  }
  if (plain !== '') made.push(plain);
  return made;
}

interface Found {
  readonly node: Inline;
  readonly end: number;
}

function markAt(text: string, at: number, depth: number): Found | undefined {
  switch (text[at]) {
    case '\\':
      return /[!-/:-@[-`{-~]/.test(text[at + 1] ?? '') ? { node: text[at + 1] ?? '', end: at + 2 } : undefined;
    case '\n':
      return { node: { tag: 'br', children: [] }, end: at + 1 };
    case '`':
      return codeAt(text, at);
    case '[':
      return linkAt(text, at, depth);
    case 'h':
      return addressAt(text, at);
    case '*':
    case '_':
    case '~':
      return emphasisAt(text, at, depth);
    default:
      return undefined;
  }
}

function codeAt(text: string, at: number): Found | undefined {
  const fence = /^`{1,8}/.exec(text.slice(at, at + 8))?.[0] ?? '`';
  const from = at + fence.length;
  const end = text.slice(from, from + REACH).indexOf(fence);
  // Marks that close nothing are text, all of them at once.
  if (end <= 0) return { node: fence, end: from };
  const inner = text.slice(from, from + end);
  return {
    node: { tag: 'code', children: [inner.length > 2 ? inner.trim() || inner : inner] },
    end: from + end + fence.length,
  };
}

function linkAt(text: string, at: number, depth: number): Found | undefined {
  const [whole, label = '', address = ''] = LINK.exec(text.slice(at, at + 3500)) ?? [];
  if (whole === undefined) return undefined;
  const children = inlineOf(label, depth + 1);
  const node: Inline = SAFE.test(address) ? { tag: 'a', href: address, children } : { tag: 'em', children };
  return { node, end: at + whole.length };
}

function addressAt(text: string, at: number): Found | undefined {
  if (LETTER.test(text[at - 1] ?? '')) return undefined;
  const found = ADDRESS.exec(text.slice(at, at + 2000))?.[0];
  if (found === undefined) return undefined;
  let end = found.length;
  while (ENDS_NO_ADDRESS.has(found[end - 1] ?? '')) end -= 1;
  const address = found.slice(0, end);
  if (!/^https?:\/\/./.test(address)) return undefined;
  return { node: { tag: 'a', href: address, children: [address] }, end: at + address.length };
}

function emphasisAt(text: string, at: number, depth: number): Found | undefined {
  const [mark, tag] = MARKS.find(([mark]) => text.startsWith(mark, at)) ?? [];
  if (mark === undefined || tag === undefined) return undefined;
  const from = at + mark.length;
  const opens = /\S/.test(text[from] ?? ' ') && !(mark[0] === '_' && LETTER.test(text[at - 1] ?? ''));
  const end = opens ? closingOf(text, from, mark) : -1;
  if (end === -1) return { node: mark, end: from };
  return { node: { tag, children: inlineOf(text.slice(from, end), depth + 1) }, end: end + mark.length };
}

/** Where a mark closes: behind a character that is no blank, and for `_` not within a word. */
function closingOf(text: string, from: number, mark: string): number {
  const last = Math.min(text.length, from + REACH);
  for (let at = text.indexOf(mark, from + 1); at !== -1 && at < last; at = text.indexOf(mark, at + 1)) {
    const isDoubled = mark.length === 1 && (text[at + 1] === mark || text[at - 1] === mark);
    const isInWord = mark[0] === '_' && LETTER.test(text[at + mark.length] ?? '');
    const closes = !isDoubled && !isInWord && /\S/.test(text[at - 1] ?? ' ') && text[at - 1] !== '\\';
    // Of three, the first is that of what is within.
    if (closes) return text.startsWith(mark, at + 1) && mark.length > 1 ? at + 1 : at;
  }
  return -1;
}
