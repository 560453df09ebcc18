// The code blocks of the documents, as a reader would mark and paste them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Block {
  /** Path of the document from the root of the checkout. */
  readonly document: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  readonly language: string;
  /** The file that the block is the content of, as its fence names it; null when it is not a file. */
  readonly file: string | null;
  readonly text: string;
}

const FENCE = /^```(\S*)[ ]?(.*)\n([^]*?)^```$/gm;

/** Every fenced block of a document, in order. */
export function blocksOf(root: string, document: string): Block[] {
  const content = readFileSync(join(root, document), 'utf8');
  return Array.from(content.matchAll(FENCE), ({ 1: language = '', 2: file = '', 3: text = '', index }) => ({
    document,
    line: content.slice(0, index).split('\n').length,
    language,
    file: file === '' ? null : file,
    text,
  }));
}
