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

/** A document each of whose blocks some test pastes. */
export interface TriedDocument {
  readonly blocks: readonly Block[];
  /** The block that contains a text; there must be one. It counts as tried. */
  block(holding: string): Block;
  /** The block that is the content of a file. It counts as tried. */
  fileBlock(name: string): Block;
  tried(block: Block): void;
  /** The place and the first line of each block that was not tried. */
  untried(): readonly string[];
}

/** Reads it. Blocks that only set what stands for something of the reader, such as an address, begin with `setting`. */
export function openTriedDocument(root: string, document: string, setting?: string): TriedDocument {
  const blocks = blocksOf(root, document);
  const seen = new Set(blocks.filter(({ text }) => setting !== undefined && text.startsWith(setting)));

  function only(found: readonly Block[], what: string): Block {
    const [block, ...others] = found;
    if (block === undefined || others.length > 0) throw new Error(`${document} has not one block with "${what}".`);
    seen.add(block);
    return block;
  }

  return {
    blocks,
    block: (holding) =>
      only(
        blocks.filter(({ text }) => text.includes(holding)),
        holding,
      ),
    fileBlock: (name) =>
      only(
        blocks.filter(({ file }) => file === name),
        name,
      ),
    tried: (block) => void seen.add(block),
    untried: () =>
      blocks.filter((block) => !seen.has(block)).map(({ line, text }) => `${document}:${line} ${text.split('\n')[0]}`),
  };
}
