// The message being typed: its text, the cursor, and what each key does to them.

/** `cursor` is an index into the text, never within a grapheme. */
export interface Draft {
  readonly text: string;
  readonly cursor: number;
}

export const EMPTY: Draft = { text: '', cursor: 0 };

/** A draft with the cursor at its end. */
export const draftOf = (text: string): Draft => ({ text, cursor: text.length });

/** Puts text at the cursor. */
export function insert({ text, cursor }: Draft, added: string): Draft {
  return { text: text.slice(0, cursor) + added + text.slice(cursor), cursor: cursor + added.length };
}

/** What keys do to a draft, by their names as `keyboard.ts` gives them. */
export const EDITS: Readonly<Record<string, (draft: Draft) => Draft>> = {
  left: (draft) => moved(draft, before(draft)),
  right: (draft) => moved(draft, after(draft)),
  home: (draft) => moved(draft, lineStart(draft)),
  end: (draft) => moved(draft, lineEnd(draft)),
  backspace: (draft) => without(draft, before(draft), draft.cursor),
  delete: (draft) => without(draft, draft.cursor, after(draft)),
  'C-left': (draft) => moved(draft, wordStart(draft)),
  'C-right': (draft) => moved(draft, wordEnd(draft)),
  'C-w': (draft) => without(draft, wordStart(draft), draft.cursor),
  'M-d': (draft) => without(draft, draft.cursor, wordEnd(draft)),
  'C-u': (draft) => without(draft, lineStart(draft), draft.cursor),
  'C-k': (draft) => without(draft, draft.cursor, lineEnd(draft)),
  'C-j': (draft) => insert(draft, '\n'),
};

/** The draft with the cursor a line higher or lower, at the same distance from its start; undefined at the last line. */
export function toLine(draft: Draft, by: -1 | 1): Draft | undefined {
  const { text, cursor } = draft;
  const [start, end] = [lineStart(draft), lineEnd(draft)];
  if (by === -1 ? start === 0 : end === text.length) return undefined;
  const target = by === -1 ? lineStart({ text, cursor: start - 1 }) : end + 1;
  const last = by === -1 ? start - 1 : lineEnd({ text, cursor: target });
  return moved(draft, boundaryAt(text, Math.min(target + cursor - start, last)));
}

const moved = ({ text }: Draft, cursor: number): Draft => ({ text, cursor });
const without = ({ text }: Draft, from: number, to: number): Draft => ({
  text: text.slice(0, from) + text.slice(to),
  cursor: from,
});

const graphemes = new Intl.Segmenter();

const lineStart = ({ text, cursor }: Draft) => text.slice(0, cursor).lastIndexOf('\n') + 1;
const lineEnd = ({ text, cursor }: Draft) => cursor + /^[^\n]*/.exec(text.slice(cursor))![0].length;
const before = ({ text, cursor }: Draft) => boundaryAt(text, cursor - 1);
const after = ({ text, cursor }: Draft) =>
  cursor + (graphemes.segment(text.slice(cursor))[Symbol.iterator]().next().value?.segment.length ?? 0);
const wordStart = ({ text, cursor }: Draft) => /\S*\s*$/.exec(text.slice(0, cursor))!.index;
const wordEnd = ({ text, cursor }: Draft) => cursor + /^\s*\S*/.exec(text.slice(cursor))![0].length;

/** The start of the grapheme at an index. */
function boundaryAt(text: string, index: number): number {
  if (index <= 0) return 0;
  return graphemes.segment(text).containing(index)?.index ?? text.length;
}
