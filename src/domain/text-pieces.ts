// Long texts in pieces that are each worked on by themselves: a list of all matches, or a chain of all that is put together, can
// fill the heap of a thread at once, which ends the process (0007).

/** Pieces of a text with so many characters at most, none of them cut in two. */
export function* piecesOfText(text: string, characters: number): Generator<string> {
  for (let at = 0, end = 0; at < text.length; at = end) {
    end = at + characters;
    if (isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
    yield text.slice(at, end);
  }
}

/** Whether it is the first half of a character, which means nothing without the second. */
const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;

const PIECE_CHARACTERS = 65_536;
const MOST_PIECES = 10_000;

/** A text that can be stored: NULs and lone surrogates are U+FFFD (A5). */
export function storableText(text: string): string {
  return (text.includes('\u0000') ? joinedAnew(text, '\u0000', '\uFFFD') : text).toWellFormed();
}

/** A text on one line, with one space wherever white space is. */
export function squeezedText(text: string): string {
  // White space may go on from one piece to the next.
  return joinedAnew(text, /\s+/, ' ').replaceAll(/ {2,}/g, ' ').trim();
}

/** `replaceAll` would make a chain of each piece, which is many times as large until somebody reads it. */
function joinedAnew(text: string, separator: string | RegExp, replacement: string): string {
  const join = (piece: string) => piece.split(separator).join(replacement);
  return Array.from(piecesOfText(text, PIECE_CHARACTERS), join).join('');
}

/** How often a part, which is not empty, occurs in a text. */
export function countOf(part: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) count += 1;
  return count;
}

/** The text with every occurrence of a part replaced, to the letter. */
export function replaceEach(part: string, text: string, replacement: string): string {
  const joined: string[] = [];
  let pieces: string[] = [];
  let from = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, from)) {
    pieces.push(text.slice(from, at), replacement);
    from = at + part.length;
    if (pieces.length < MOST_PIECES) continue;
    joined.push(pieces.join(''));
    pieces = [];
  }
  return [...joined, ...pieces, text.slice(from)].join('');
}
