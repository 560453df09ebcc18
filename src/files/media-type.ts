// Media types of files by their names, and which of them a browser may show inline.
import { extname } from 'node:path';
import { lookup } from 'mime-types';

/** Types that a browser shows by itself and that can't execute scripts. PDF viewers isolate their scripts. */
const SHOWN = new Set([
  'application/pdf',
  'audio/mp4',
  'audio/mpeg',
  'audio/ogg',
  'audio/wav',
  'audio/x-m4a',
  'image/avif',
  'image/bmp',
  'image/gif',
  'image/jpeg',
  'image/png',
  'image/webp',
  'video/mp4',
  'video/webm',
]);
/** Documents that can execute scripts: never shown inline, not even as text. */
const DOCUMENTS = new Set(['text/html', 'application/xhtml+xml', 'image/svg+xml']);
/** Texts whose type does not begin with `text/`. */
const TEXTS = new Set([
  'application/graphql',
  'application/javascript',
  'application/json',
  'application/json5',
  'application/ld+json',
  'application/manifest+json',
  'application/node',
  'application/sql',
  'application/toml',
  'application/x-httpd-php',
  'application/x-ndjson',
  'application/x-perl',
  'application/x-sh',
  'application/x-tcl',
  'application/x-tex',
  'application/xml',
  'application/xml-dtd',
]);
/** Source code and related files that the table of types does not know, or takes for something else (`.ts` for video). */
const SOURCES = new Set(
  (
    '.bash .bat .cfg .cjs .clj .cmake .cpp .cs .cts .cxx .dart .diff .dockerfile .edn .elm .env .erl .ex .exs .fish .fs ' +
    '.gd .gitignore .go .gradle .groovy .hpp .hs .ipynb .jl .jsonl .kt .kts .lock .lua .m .mk .mm .mts .nim .patch ' +
    '.pl .pm .properties .proto .ps1 .py .r .rb .rs .rst .scala .sol .sql .srt .svelte .swift .tf .tfvars .ts .tsx .vb ' +
    '.vue .zig .zsh'
  ).split(' '),
);
const SOURCE_NAMES = new Set(['dockerfile', 'makefile', 'license', 'readme', 'changelog', '.gitignore', '.env']);
const PLAIN_TEXT = 'text/plain';

/** The media type of a file name, without parameters, or null. */
export function mediaTypeOf(name: string): string | null {
  const lower = name.toLowerCase();
  const extension = extname(lower);
  if (SOURCES.has(extension) || SOURCE_NAMES.has(lower)) return PLAIN_TEXT;
  // Without a dot, the table would treat the whole name as an extension.
  const found = extension !== '' && lookup(extension);
  return found === false ? null : found;
}

/** How a file is sent. `contentType` is a whole header value. */
export interface Presentation {
  readonly disposition: 'inline' | 'attachment';
  readonly contentType: string;
}

/** How a file of this name is sent when a preview or a download was requested: only previews of safe types are inline. */
export function presentationOf(name: string, asked: 'inline' | 'attachment'): Presentation {
  const type = mediaTypeOf(name);
  if (asked === 'inline' && type !== null && !DOCUMENTS.has(type)) {
    if (SHOWN.has(type)) return { disposition: 'inline', contentType: type };
    if (isText(type)) return { disposition: 'inline', contentType: `${PLAIN_TEXT}; charset=utf-8` };
  }
  return { disposition: 'attachment', contentType: type ?? 'application/octet-stream' };
}

/** Types that pages load by name: under another type, browsers refuse them. */
const LOADED = new Set([
  'application/javascript',
  'application/json',
  'application/wasm',
  'text/css',
  'text/javascript',
  'text/vtt',
]);

/**
 * How a published file of this name is sent (F3). HTML is sent as what it is, for a policy that isolates it; SVG is an image; other
 * XML is text, since browsers would take it for a document.
 */
export function publishedPresentationOf(name: string, asked: Presentation['disposition']): Presentation {
  const type = mediaTypeOf(name);
  if (asked === 'attachment' || type === null)
    return { disposition: 'attachment', contentType: type ?? 'application/octet-stream' };
  if (type === 'text/html' || (LOADED.has(type) && isText(type)))
    return { disposition: 'inline', contentType: `${type}; charset=utf-8` };
  if (LOADED.has(type) || SHOWN.has(type) || /^(?:audio|font|image|video)\//.test(type))
    return { disposition: 'inline', contentType: type };
  return isText(type)
    ? { disposition: 'inline', contentType: `${PLAIN_TEXT}; charset=utf-8` }
    : { disposition: 'attachment', contentType: type };
}

function isText(type: string): boolean {
  return type.startsWith('text/') || TEXTS.has(type) || type.endsWith('+json') || type.endsWith('+xml');
}
