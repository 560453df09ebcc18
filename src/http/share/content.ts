// What was published, as a part of a page: one line of the table for each way to show it.
import { type Contents, type Heading, MAX_SOURCE_BYTES } from '../../rendering/rendering.ts';
import { html, Html } from '../replies/html.ts';
import { type Entry, isTable, type View } from './entry.ts';
import { sizeInWords, typeInWords } from './words.ts';

/** What became of the text of an entry; `none` when the entry isn't text, or is too large. */
export type EntryText =
  | { readonly kind: 'html'; readonly html: Uint8Array; readonly contents: Contents }
  /** It can't be rendered, at least now; its source is shown. */
  | { readonly kind: 'source' }
  | { readonly kind: 'none' };

/** An entry, under the name of its page. */
interface Shown extends Entry {
  readonly title: string;
  readonly text: EntryText;
  /** Of the page. */
  readonly path: string;
}

/** The same as in the policy of the bytes themselves: scripts, but none of this origin's. */
const SANDBOX = 'allow-scripts allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox allow-downloads';

/** Whether the content fills the window: documents of their own, in a frame. */
export function isFramed({ view, text }: Pick<Shown, 'view' | 'text'>): boolean {
  return view === 'html' || view === 'pdf' || text.kind === 'source';
}

const TEXTS: ReadonlySet<View> = new Set(['markdown', 'table', 'text']);

/** Whether nothing of it can be shown but its name, with a download. */
export function isCard({ view, text }: Pick<Shown, 'view' | 'text'>): boolean {
  return view === 'download' || (text.kind === 'none' && TEXTS.has(view));
}

export function renderContent(shown: Shown): Html {
  if (shown.text.kind === 'source') return frame(shown, 'sandbox=""');
  return isCard(shown) ? card(shown) : CONTENTS[shown.view](shown);
}

const CONTENTS: Readonly<Record<View, (shown: Shown) => Html>> = {
  html: (shown) => frame(shown, `sandbox="${SANDBOX}" allow="fullscreen"`),
  // Browsers start their PDF viewers in no sandbox.
  pdf: (shown) => frame(shown, ''),
  markdown: (shown) =>
    textOr(
      shown,
      (made) => html`${contentsOf(shown)}<article class="prose${repeatsTitle(shown) && ' titled'}">${made}</article>`,
    ),
  table: (shown) => textOr(shown, (made) => html`<div class="data">${behindTable(shown)}${made}</div>`),
  text: (shown) => textOr(shown, (made) => html`${backToTable(shown)}<div class="source">${made}</div>`),
  image: ({ address, title }) =>
    html`<figure class="picture"><a href="${address}"><img src="${address}" alt="${title}"></a></figure>`,
  audio: ({ address, title }) =>
    html`<figure class="sound"><audio controls preload="metadata" src="${address}" aria-label="${title}"></audio></figure>`,
  video: ({ address, title }) =>
    html`<figure class="film"><video controls preload="metadata" playsinline src="${address}" aria-label="${title}"></video></figure>`,
  download: card,
};

/** A frame of the entry itself, at its own address, so that its relative links resolve. */
function frame({ address, title }: Shown, attributes: string): Html {
  return html`<iframe src="${address}" title="${title}" referrerpolicy="no-referrer" ${Html.safe(attributes)}></iframe>`;
}

function textOr(shown: Shown, render: (made: Html) => Html): Html {
  return shown.text.kind === 'html' ? render(Html.safe(shown.text.html)) : card(shown);
}

/** The text of a table as it stands; what is too long for a page is at the address of the file. */
function behindTable({ size, address, path }: Shown): Html {
  const target = size > MAX_SOURCE_BYTES ? address : `${path}?as=text`;
  return html`<p class="aside"><a href="${target}">The text behind it</a></p>
`;
}

function backToTable({ name, path }: Shown): Html | null {
  return isTable(name) ? html`<p class="aside"><a href="${path}">Show it as a table</a></p>\n` : null;
}

/** The contents of a long document: beside it where there is room, else folded above it. */
function contentsOf({ text }: Shown): Html | null {
  if (text.kind !== 'html' || text.contents.headings.length === 0) return null;
  const { headings, more } = text.contents;
  return html`<nav class="contents" aria-label="Contents"><details open><summary>Contents</summary>
<ol>${headings.map(contentsLine)}</ol>
${more > 0 && html`<p class="facts">and ${more.toLocaleString('en')} more</p>`}</details></nav>
`;
}

function contentsLine({ level, id, text }: Heading): Html {
  return html`<li class="level-${level}"><a href="#${id}">${text}</a></li>
`;
}

/** Whether a document begins with the name of its page, which would then stand there twice. */
function repeatsTitle({ text, title }: Shown): boolean {
  if (text.kind !== 'html') return false;
  const heading = /^<h2[^>]*>(?:<a class="anchor"[^>]*>)?([^]*?)(?:<\/a>)?<\/h2>/.exec(
    Buffer.from(text.html.subarray(0, HEADING_BYTES)).toString(),
  );
  // Within a text, quotes may stand as they are.
  const written = heading?.[1]?.trim().replaceAll('"', '&quot;').replaceAll("'", '&#39;');
  return written === html`${title.trim()}`.toString();
}

const HEADING_BYTES = 2_048;

function card({ name, mediaType, size, downloadAddress }: Shown): Html {
  return html`<div class="file">
<svg viewBox="0 0 24 24" width="40" height="40" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="M13.5 3H7a1.5 1.5 0 0 0-1.5 1.5v15A1.5 1.5 0 0 0 7 21h10a1.5 1.5 0 0 0 1.5-1.5V8Z"/><path d="M13.5 3v5h5M12 11.5v6m-2.5-2.5 2.5 2.5 2.5-2.5"/></svg>
<p class="filename" dir="auto">${name}</p>
<p class="facts">${typeInWords(name, mediaType)} · ${sizeInWords(size)}</p>
<p><a class="button primary" href="${downloadAddress}" download>Download</a></p>
</div>`;
}
