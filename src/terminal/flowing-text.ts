// Text that arrives in pieces, as a terminal shows it: words wrap at its width, and light Markdown is dressed.
import { paint, type Style } from './colours.ts';
import { safeText, widthOf } from './text.ts';

export interface FlowingText {
  /** Writes a piece, made safe. A word is written when what follows it has come. */
  add(piece: string): void;
  /** Writes what is held, and ends a line that is open. */
  end(): void;
}

interface Terminal {
  readonly write: (text: string) => void;
  readonly columns: () => number;
  /** Without colours, Markdown stays as it is written. */
  readonly colours: boolean;
}

/** A longer word is written in pieces. */
const MAX_WORD = 500;
const FENCE = /^(?:```|~~~)/;
const HEADING = /^#{1,6}$/;
const BULLET = /^[-*+]$/;
const NUMBER = /^\d{1,3}[.)]$/;
const BOLD = '**';
const CODE = '`';
/** A mark is written with what follows it. */
const MARKED = /[*`]$/;
/** What a mark that opens may stand behind. */
const BEFORE_OPENING = /[\s([{"'/,;:—-]/;

/** What is known of the line being written. */
interface Line {
  /** Columns that are written. */
  width: number;
  /** Where its next row begins. */
  indent: number;
  isBold: boolean;
  isCode: boolean;
  isHeading: boolean;
  /** A fence, or of the code between two: never wrapped. */
  isVerbatim: boolean;
  hasWords: boolean;
}

const newLine = (isVerbatim: boolean): Line => ({
  width: 0,
  indent: 0,
  isBold: false,
  isCode: false,
  isHeading: false,
  isVerbatim,
  hasWords: false,
});

/** Makes a writer of flowing text. The last column stays free, because terminals differ in where the cursor is after it. */
export function makeFlowingText({ write, columns, colours }: Terminal): FlowingText {
  let line = newLine(false);
  let isFenced = false;
  let [blanks, word] = ['', ''];

  const put = (text: string, width: number): void => {
    const isTooLong = line.width + blanks.length + width > columns() - 1;
    if (isTooLong && !line.isVerbatim && line.hasWords) {
      write(`\n${' '.repeat(line.indent)}${text}`);
      line.width = line.indent + width;
    } else {
      write(`${blanks}${text}`);
      line.width += blanks.length + width;
    }
    blanks = '';
    line.hasWords = true;
  };

  /** Takes the mark that a line begins with; returns whether its first word is one. */
  const takeMark = (): boolean => {
    if (FENCE.test(word)) {
      isFenced = !isFenced;
      line.isVerbatim = true;
      put(dressed(word, 'dim'), widthOf(word));
      return true;
    }
    if (line.isVerbatim || line.isHeading) return false;
    if (colours && HEADING.test(word) && blanks === '') {
      line.isHeading = true;
      return true;
    }
    if (!BULLET.test(word) && !NUMBER.test(word)) return false;
    line.indent = blanks.length + word.length + 1;
    put(colours && BULLET.test(word) ? '•' : word, word.length);
    // No reason to wrap: the first word stays beside its mark.
    line.hasWords = false;
    return true;
  };

  const dressed = (text: string, style: Style | undefined) =>
    colours && style !== undefined && text !== '' ? paint(text, style) : text;

  const flush = (): void => {
    const isFirst = !line.hasWords && line.width === 0;
    if (word !== '' && !(isFirst && takeMark())) {
      const spans = line.isVerbatim
        ? [{ text: word, style: 'cyan' as const }]
        : colours
          ? spansOf(word, line)
          : undefined;
      const shown = spans?.map(({ text }) => text).join('') ?? word;
      put(spans?.map(({ text, style }) => dressed(text, style)).join('') ?? word, widthOf(shown));
    }
    word = '';
  };

  const endLine = (): void => {
    flush();
    write('\n');
    line = newLine(isFenced);
    blanks = '';
  };

  return {
    add(piece) {
      for (const character of safeText(piece)) {
        if (character === '\n') endLine();
        else if (character === ' ' || character === '\t') {
          flush();
          if (!(line.isHeading && !line.hasWords)) blanks += character === '\t' ? '  ' : ' ';
        } else {
          // Scripts without blanks wrap between any two of their characters.
          if (character > '\u2e7f' && !MARKED.test(word) && widthOf(character) === 2) flush();
          word += character;
          if (word.length > MAX_WORD) flush();
        }
      }
    },
    end() {
      flush();
      if (line.hasWords || line.width > 0) endLine();
      isFenced = false;
      line = newLine(false);
      blanks = '';
    },
  };
}

interface Span {
  readonly text: string;
  readonly style: Style | undefined;
}

/** A word without its marks, which change the state of the line. What neither opens nor closes stays. */
function spansOf(word: string, line: Line): readonly Span[] {
  const spans: Span[] = [];
  const isOpening = (at: number, mark: string) =>
    (at === 0 || BEFORE_OPENING.test(word[at - 1]!)) &&
    at + mark.length < word.length &&
    word[at + mark.length] !== mark[0];
  let text = '';
  const endSpan = () => {
    const style = line.isCode ? 'cyan' : line.isBold || line.isHeading ? 'bold' : undefined;
    if (text !== '') spans.push({ text, style });
    text = '';
  };
  for (let at = 0; at < word.length; ) {
    const mark = !line.isCode && word.startsWith(BOLD, at) ? BOLD : word[at] === CODE ? CODE : undefined;
    const state = mark === BOLD ? 'isBold' : 'isCode';
    if (mark !== undefined && (line[state] || isOpening(at, mark))) {
      endSpan();
      line[state] = !line[state];
      at += mark.length;
    } else {
      text += mark ?? word[at]!;
      at += mark?.length ?? 1;
    }
  }
  endSpan();
  return spans;
}
