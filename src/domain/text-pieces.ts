// Long texts in pieces that are each worked on by themselves.

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
