// Keeps of a document's HTML what can't act, and leads its links to the files that were published with it.
import sanitizeHtml, { type Attributes, type IOptions, type Tag } from 'sanitize-html';
import { ID_PREFIX, type Links, makeLinks } from './link-target.ts';
import type { LinkTargets } from './rendering.ts';

const TAGS =
  'a abbr audio b blockquote br caption cite code col colgroup dd del details dfn div dl dt em figcaption figure h1 h2 h3 h4 ' +
  'h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s samp small source span strong sub summary sup table tbody td ' +
  'tfoot th thead time tr u ul var video wbr';
const MAX_NESTING = 100;

/** No `style` and no `on…`: the page's policy forbids both, and reports what it blocks. */
const ATTRIBUTES: IOptions['allowedAttributes'] = {
  '*': ['id', 'title', 'lang', 'dir'],
  a: ['href', 'rel'],
  audio: ['src', 'controls', 'preload'],
  img: ['src', 'alt', 'width', 'height', 'loading'],
  ol: ['start', 'reversed', 'type'],
  li: ['value'],
  details: ['open'],
  source: ['src', 'type'],
  td: ['colspan', 'rowspan'],
  th: ['colspan', 'rowspan', 'scope'],
  time: ['datetime'],
  video: ['src', 'controls', 'preload', 'width', 'height'],
};

const CLASSES: IOptions['allowedClasses'] = {
  a: ['anchor', 'note'],
  div: ['images'],
  ol: ['notes'],
  span: ['hljs-*', 'language-*', 'missing', 'date'],
  td: ['left', 'center', 'right'],
  th: ['left', 'center', 'right'],
};

/** HTML that is safe in a page with a strict policy. The elements `stand` stay, with their number. */
export function sanitize(html: string, targets: LinkTargets, stand: string): string {
  const safe = sanitizeHtml(html, {
    allowedTags: [...TAGS.split(' '), stand],
    allowedAttributes: { ...ATTRIBUTES, [stand]: ['n'] },
    allowedClasses: CLASSES,
    allowedSchemes: ['http', 'https', 'mailto'],
    allowedSchemesByTag: { img: ['data'] },
    allowProtocolRelative: false,
    disallowedTagsMode: 'discard',
    nestingLimit: MAX_NESTING,
    parseStyleAttributes: false,
    transformTags: transforms(makeLinks(targets)),
  });
  return focusable(safe);
}

/** What scrolls by itself must be reachable by keyboard. In sanitised HTML, `<table` begins nothing but a table. */
function focusable(html: string): string {
  return html
    .replaceAll('<pre', '<pre tabindex="0"')
    .replaceAll('<table', '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table')
    .replaceAll('</table>', '</table></div>');
}

type Transform = (tagName: string, attributes: Attributes) => Tag;

/** What is done with each tag; with all of them last. */
function transforms(links: Links): Record<string, Transform> {
  const player: Transform = (tagName, attributes) => ({
    tagName,
    attribs: { ...withSource(attributes, links), controls: '', preload: 'metadata' },
  });
  return {
    ...HEADINGS,
    a: (_tagName, attributes) => anchor(attributes, links),
    img: (_tagName, attributes) => image(attributes, links),
    source: (tagName, attributes) => ({ tagName, attribs: withSource(attributes, links) }),
    audio: player,
    video: player,
    td: aligned,
    th: aligned,
    '*': withOwnId,
  };
}

/** The page around the document has the first heading. */
const HEADINGS: Readonly<Record<string, Transform>> = Object.fromEntries(
  [1, 2, 3, 4, 5].map((level) => [`h${level}`, (_tagName, attribs) => ({ tagName: `h${level + 1}`, attribs })]),
);

/** Its id can't be one of the page around it. */
const withOwnId: Transform = (tagName, { id, ...attributes }) => ({
  tagName,
  attribs: id === undefined ? attributes : { ...attributes, id: `${ID_PREFIX}${id}` },
});

const aligned: Transform = (tagName, { style = '', ...attributes }) => {
  const side = /^text-align:(left|center|right)$/.exec(style)?.[1];
  return { tagName, attribs: side === undefined ? attributes : { ...attributes, class: side } };
};

function anchor({ href, ...attributes }: Attributes, links: Links): Tag {
  const target = href === undefined ? undefined : links.target(href);
  if (target === undefined) return { tagName: 'a', attribs: attributes };
  const rel = /^[#/]/.test(target) ? {} : { rel: 'noopener noreferrer nofollow ugc' };
  return { tagName: 'a', attribs: { ...attributes, href: target, ...rel } };
}

/** An image that was not published with the document leaves its description. */
function image({ src, alt = '', ...attributes }: Attributes, links: Links): Tag {
  const target = src === undefined ? undefined : links.medium(src);
  if (target === undefined) return { tagName: 'span', attribs: { class: 'missing' }, text: alt };
  return { tagName: 'img', attribs: { ...attributes, alt, src: target, loading: 'lazy' } };
}

function withSource({ src, ...attributes }: Attributes, links: Links): Attributes {
  const target = src === undefined ? undefined : links.medium(src);
  return target === undefined || target.startsWith('data:') ? attributes : { ...attributes, src: target };
}
