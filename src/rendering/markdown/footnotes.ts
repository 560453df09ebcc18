// Footnotes: `[^1]` in the text, `[^1]: …` anywhere else, and `^[…]` for both at once.
import { createRequire } from 'node:module';
import type { MarkdownIt, Token } from 'markdown-it';

const require = createRequire(import.meta.url);
/** It has no types of its own. */
const footnote = require('markdown-it-footnote') as (markdown: MarkdownIt) => void;

interface Note {
  /** From 0. */
  readonly id: number;
  /** Which reference to it, from 0. */
  readonly subId?: number;
}

export function addFootnotes(markdown: MarkdownIt): void {
  footnote(markdown);
  const { rules } = markdown.renderer;
  rules['footnote_ref'] = (tokens, index) => {
    const { no, place } = noteOf(tokens[index]!);
    return `<sup><a class="note" id="${place}" href="#note:${no}" title="Note ${no}">${no}</a></sup>`;
  };
  rules['footnote_block_open'] = () => '<hr>\n<ol class="notes">\n';
  rules['footnote_block_close'] = () => '</ol>\n';
  rules['footnote_open'] = (tokens, index) => `<li id="note:${noteOf(tokens[index]!).no}">`;
  rules['footnote_anchor'] = (tokens, index) =>
    ` <a class="note" href="#${noteOf(tokens[index]!).place}" title="Back to the text">\u21A9\uFE0E</a>`;
}

/** No id of a heading has a colon. */
function noteOf({ meta }: Token) {
  const { id, subId = 0 } = meta as unknown as Note;
  return { no: id + 1, place: `ref:${id + 1}:${subId + 1}` };
}
