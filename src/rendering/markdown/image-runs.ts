// Makes a grid of images that follow each other without a word between them.
import MarkdownIt, { type Token } from 'markdown-it';

const PARAGRAPH_TOKENS = 3;

/** The tokens with a block around each run. */
export function gatherImages(tokens: readonly Token[]): Token[] {
  const made: Token[] = [];
  for (let at = 0; at < tokens.length; ) {
    const run = runAt(tokens, at);
    if (run.images < 2) {
      made.push(tokens[at]!);
      at += 1;
      continue;
    }
    made.push(...gridOf(tokens.slice(at, run.end)));
    at = run.end;
  }
  return made;
}

/** The run that begins at a token: paragraphs that have nothing but images. */
function runAt(tokens: readonly Token[], start: number): { readonly images: number; readonly end: number } {
  let [images, end] = [0, start];
  for (;;) {
    const [open, inline] = [tokens[end], tokens[end + 1]];
    if (open?.type !== 'paragraph_open' || open.hidden || inline?.type !== 'inline') break;
    const count = imagesIn(inline);
    if (count === 0) break;
    images += count;
    end += PARAGRAPH_TOKENS;
  }
  return { images, end };
}

/** How many images it has; 0 when it has anything else. */
function imagesIn({ children }: Token): number {
  let count = 0;
  for (const child of children ?? []) {
    if (child.type === 'image') count += 1;
    else if (!isBetween(child)) return 0;
  }
  return count;
}

const isBetween = ({ type, content }: Token) =>
  isBreak(type) || type === 'link_open' || type === 'link_close' || (type === 'text' && content.trim() === '');

const isBreak = (type: string) => type === 'softbreak' || type === 'hardbreak';

/** One block with the images of the paragraphs. In a grid they are small, so each leads to itself. */
function gridOf(paragraphs: readonly Token[]): Token[] {
  const open = new MarkdownIt.Token('images_open', 'div', 1);
  open.block = true;
  open.attrs = [['class', 'images']];
  const inline = new MarkdownIt.Token('inline', '', 0);
  let isLinked = false;
  inline.children = paragraphs
    .flatMap(({ children }) => children ?? [])
    .flatMap((child) => {
      if (child.type === 'link_open') isLinked = true;
      if (child.type === 'link_close') isLinked = false;
      if (child.type === 'image') return isLinked ? [child] : linked(child);
      return child.type === 'link_open' || child.type === 'link_close' ? [child] : [];
    });
  const close = new MarkdownIt.Token('images_close', 'div', -1);
  close.block = true;
  return [open, inline, close];
}

/** A link needs words: those of the image. */
function linked(image: Token): Token[] {
  const source = image.attrGet('src');
  if (source === null || image.content.trim() === '') return [image];
  const open = new MarkdownIt.Token('link_open', 'a', 1);
  open.attrs = [['href', String(source)]];
  return [open, image, new MarkdownIt.Token('link_close', 'a', -1)];
}
