// Highlights source code: HTML whose only tags are spans with classes.
import { createRequire } from 'node:module';
import { basename, extname } from 'node:path';
import { escaped, withNamedMarks } from './escape.ts';
import { MAX_HIGHLIGHTED_CHARACTERS } from './rendering.ts';

/** What is used of the library. Its own types would bring those of browsers into every file. */
interface Highlighter {
  getLanguage(name: string): object | undefined;
  highlight(code: string, options: { language: string; ignoreIllegals: boolean }): { readonly value: string };
}

const require = createRequire(import.meta.url);
const highlighter = require('highlight.js/lib/common') as Highlighter;

/** A text in a language; as it stands when the language is unknown or the text is too long. */
export function highlighted(text: string, language: string): string {
  const isKnown = text.length <= MAX_HIGHLIGHTED_CHARACTERS && highlighter.getLanguage(language) !== undefined;
  const html = isKnown ? highlighter.highlight(text, { language, ignoreIllegals: true }).value : escaped(text);
  return withNamedMarks(html);
}

/** A file as a block of code, in the language that its name says. */
export function highlightedFile(text: string, name: string): string {
  return `<pre tabindex="0"><code>${highlighted(text, languageOf(name))}</code></pre>`;
}

/** Endings that the highlighter doesn't know by themselves. */
const ENDINGS = new Map(
  Object.entries({
    bat: 'plaintext',
    cjs: 'javascript',
    cts: 'typescript',
    ipynb: 'json',
    jsonl: 'json',
    mts: 'typescript',
    ndjson: 'json',
    webmanifest: 'json',
  }),
);

function languageOf(name: string): string {
  const lower = basename(name).toLowerCase();
  const ending = extname(lower).slice(1);
  if (ending === '') return lower;
  return ENDINGS.get(ending) ?? ending;
}
