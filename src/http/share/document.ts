// The document around every page: its head, with what messengers show of a link to it.
import { html, type Html } from '../replies/html.ts';
import { ICON } from '../replies/icon.ts';
import { addressOf, type Script } from './static-files.ts';

/** What messengers and search engines read. */
export interface Preview {
  readonly description: string;
  /** Full address of the page. */
  readonly url: string;
  readonly type: 'website' | 'article';
  /** Full address of a picture, and what it shows. */
  readonly image?: { readonly url: string; readonly alt: string } | undefined;
}

export interface Document {
  readonly title: string;
  /** Class of the body: which layout of the stylesheet it has. */
  readonly layout: 'board' | 'reading' | 'framed' | 'bare' | 'bare framed' | 'message';
  /** Absent for errors. */
  readonly preview?: Preview | undefined;
  /** What makes it more convenient; it works without. */
  readonly scripts?: readonly Script[];
  readonly body: Html;
}

/** A whole document. Only the stylesheet and the scripts that carry the nonce are loaded. */
export function renderDocument({ title, layout, preview, scripts = [], body }: Document, nonce: string): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
${preview && metaOf(title, preview)}<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${addressOf('style.css')}" nonce="${nonce}">
${scripts.map((script) => html`<script src="${addressOf(script)}" nonce="${nonce}" defer></script>\n`)}</head>
<body class="${layout}">
${body}
</body>
</html>
`;
}

/** The link past the header, first on every page that has one. */
export const SKIP_LINK = html`<a class="skip" href="#content">Skip to the content</a>`;

function metaOf(title: string, { description, url, type, image }: Preview): Html {
  return html`<meta name="description" content="${description}">
<meta property="og:type" content="${type}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${url}">
<meta name="twitter:card" content="${image === undefined ? 'summary' : 'summary_large_image'}">
<meta name="twitter:title" content="${title}">
<meta name="twitter:description" content="${description}">
${
  image &&
  html`<meta property="og:image" content="${image.url}">
<meta property="og:image:alt" content="${image.alt}">
<meta name="twitter:image" content="${image.url}">
`
}`;
}
