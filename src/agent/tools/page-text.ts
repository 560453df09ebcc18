// A web page as text that a model reads: headings, lists, table rows, links with absolute addresses.
import { compile, convert, type FormatCallback, type HtmlToTextOptions } from 'html-to-text';
import { withinCpuTime } from '../../workers/cpu-time.ts';

/** Maximum characters of a page that are processed, after scripts, styles and drawings are removed. */
const MAX_CHARACTERS = 400_000;
/** CPU time. Converting a malicious page can take minutes; the thread has other work. */
const MAX_CPU_MS = 250;
const MAX_DEPTH = 150;
/** Marks where the converter omits content that nests too deep. */
const LEFT_OUT = '\uE001';
/** Where to look for a page's title and base address. */
const HEAD_CHARACTERS = 16_384;

/** The text of a page. */
export interface PageText {
  readonly title: string;
  readonly text: string;
  /** False when the page was too complex: its text is then complete, but without structure. */
  readonly structured: boolean;
  /** True when the end of the page was omitted. */
  readonly cut: boolean;
}

/** Reads a page that came from `url`. Never throws, and takes at most a quarter of a second of CPU time for its structure. */
export function readPage(html: string, url: string): PageText {
  const lean = withoutNoise(html);
  const cut = lean.length > MAX_CHARACTERS;
  const page = cut ? lean.slice(0, MAX_CHARACTERS) : lean;
  const title = plain(/<title[^>]{0,200}>([^<]{0,300})/i.exec(page.slice(0, HEAD_CHARACTERS))?.[1] ?? '');
  try {
    const text = withinCpuTime(MAX_CPU_MS, () => {
      const links: Links = { base: baseOf(page, url), left: MAX_CHARACTERS };
      return convert(page, OPTIONS, links);
    });
    if (!text.includes(LEFT_OUT)) return { title, text: tidy(text), structured: true, cut };
  } catch {
    // Too complex for its time limit or the stack.
  }
  return { title, text: plain(page), structured: false, cut };
}

const heading: FormatCallback = (elem, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 2 });
  builder.addInline(`${'#'.repeat(Number(elem.name?.slice(1)))} `);
  walk(elem.children, builder);
  builder.closeBlock({ trailingLineBreaks: 2 });
};

const cell: FormatCallback = (elem, walk, builder) => {
  builder.addInline(' | ');
  walk(elem.children, builder);
};

const picture: FormatCallback = (elem, _walk, builder) => {
  const words = elem.attribs?.['alt']?.trim();
  if (words) builder.addInline(`[image: ${words}]`);
};

interface Links {
  readonly base: string;
  /** Characters that addresses can still have: a long base makes many short links a text of many megabytes. */
  left: number;
}

/** A link's absolute address; nothing for links that lead to no page, and beyond what all addresses can have. */
function wholeAddress(href: string, links: Links): string {
  const url = URL.parse(href, links.base);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return '';
  links.left -= url.href.length;
  return links.left < 0 ? '' : url.href;
}

const OPTIONS: HtmlToTextOptions = {
  wordwrap: false,
  limits: { maxDepth: MAX_DEPTH, maxInputLength: MAX_CHARACTERS, ellipsis: LEFT_OUT },
  formatters: { heading, cell, picture },
  selectors: [
    { selector: 'a', options: { pathRewrite: wholeAddress, linkBrackets: ['(', ')'], hideLinkHrefIfSameAsText: true } },
    { selector: 'img', format: 'picture' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, format: 'heading' })),
    { selector: 'table', format: 'block', options: { leadingLineBreaks: 2, trailingLineBreaks: 2 } },
    { selector: 'tr', format: 'block' },
    { selector: 'td', format: 'cell' },
    { selector: 'th', format: 'cell' },
    { selector: 'td:first-child', format: 'inline' },
    { selector: 'th:first-child', format: 'inline' },
    // A row stays on its line.
    ...['td > p', 'td > div', 'th > p', 'th > div'].map((selector) => ({ selector, format: 'inline' })),
    { selector: 'ul', options: { itemPrefix: '- ' } },
    ...['title', 'noscript', 'template', 'iframe', 'object'].map((selector) => ({ selector, format: 'skip' })),
  ],
};

/** The base of relative links. */
function baseOf(page: string, url: string): string {
  const href = /<base\s[^<>]{0,200}?href\s*=\s*["']?([^"'\s>]{1,2000})/i.exec(page.slice(0, HEAD_CHARACTERS))?.[1];
  return (href === undefined ? null : URL.parse(href, url)?.href) ?? url;
}

const NOISE = /<(script|style|svg)\b|<!--/gi;

/** Removes, in one pass, what no reader sees: much of a page is script. */
function withoutNoise(html: string): string {
  const kept: string[] = [];
  let from = 0;
  NOISE.lastIndex = 0;
  for (let found = NOISE.exec(html); found !== null; found = NOISE.exec(html)) {
    kept.push(html.slice(from, found.index));
    const ending = found[1] === undefined ? /-->/g : new RegExp(`</${found[1]}[^>]{0,100}>`, 'gi');
    ending.lastIndex = found.index;
    from = ending.exec(html) === null ? html.length : ending.lastIndex;
    NOISE.lastIndex = from;
  }
  return kept.join(' ') + html.slice(from);
}

const ENDS_A_LINE = new Set(
  'p div li tr td th br hr table ul ol h1 h2 h3 h4 h5 h6 section article pre title'.split(' '),
);
/** Stands for the end of a line while white space is collapsed. */
const LINE_END = '\uE000';

/** The text of a page line by line, without structure. Takes time in proportion to its length, for any content. */
function plain(html: string): string {
  const marked = html.replaceAll(/<\/?([a-z0-9]{0,20})[^<>]{0,2000}>/gi, (_, name: string) =>
    ENDS_A_LINE.has(name.toLowerCase()) ? LINE_END : '',
  );
  const lines = decode(marked).split(LINE_END);
  return tidy(lines.map((line) => line.trim()).join('\n'));
}

const decode = compile({ wordwrap: false, limits: { maxInputLength: MAX_CHARACTERS } });

function tidy(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  return lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}
