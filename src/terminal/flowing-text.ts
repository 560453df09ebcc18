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

/** As they are shown. */
const BLANKS: Readonly<Partial<Record<string, string>>> = { ' ': ' ', '\t': '  ' };
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

/** Rows of the terminal: where words go. The last column stays free, because terminals differ in where the cursor is after it. */
function makeRows({ write, columns }: Pick<Terminal, 'write' | 'columns'>) {
  let line = newLine(false);
  let blanks = '';
  const begin = (isVerbatim: boolean): void => {
    line = newLine(isVerbatim);
    blanks = '';
  };
  return {
    line: () => line,
    blanks: () => blanks.length,
    addBlank(blank: string): void {
      // What stands behind the mark of a heading goes with it.
      if (!line.isHeading || line.hasWords) blanks += blank;
    },
    /** Writes a word of a width, or a mark, beside which the first word stays. */
    put(text: string, width: number, isMark = false): void {
      const isTooLong = line.width + blanks.length + width > columns() - 1;
      const wraps = isTooLong && !line.isVerbatim && line.hasWords;
      write(wraps ? `\n${' '.repeat(line.indent)}${text}` : `${blanks}${text}`);
      line.width = wraps ? line.indent + width : line.width + blanks.length + width;
      line.hasWords = !isMark;
      blanks = '';
    },
    endLine(isVerbatim: boolean): void {
      write('\n');
      begin(isVerbatim);
    },
    begin,
  };
}

/** Makes a writer of flowing text. */
export function makeFlowingText({ write, columns, colours }: Terminal): FlowingText {
  const rows = makeRows({ write, columns });
  let isFenced = false;
  let word = '';

  /** Takes the mark that a line begins with; returns whether its first word is one. */
  const takeMark = (line: Line): boolean => {
    if (FENCE.test(word)) {
      isFenced = !isFenced;
      line.isVerbatim = true;
      rows.put(colours ? paint(word, 'dim') : word, widthOf(word));
      return true;
    }
    if (line.isVerbatim || line.isHeading) return false;
    if (colours && HEADING.test(word) && rows.blanks() === 0) {
      line.isHeading = true;
      return true;
    }
    if (!BULLET.test(word) && !NUMBER.test(word)) return false;
    line.indent = rows.blanks() + word.length + 1;
    rows.put(colours && BULLET.test(word) ? '•' : word, word.length, true);
    return true;
  };

  const flush = (): void => {
    const line = rows.line();
    const isFirst = !line.hasWords && line.width === 0;
    if (word !== '' && !(isFirst && takeMark(line))) {
      const spans = colours ? spansOf(word, line) : [{ text: word, style: undefined }];
      const shown = spans.map(({ text, style }) => (style === undefined ? text : paint(text, style)));
      rows.put(shown.join(''), widthOf(spans.map(({ text }) => text).join('')));
    }
    word = '';
  };

  const take = (character: string): void => {
    // Scripts without blanks wrap between any two of their characters.
    if (character > '\u2e7f' && !MARKED.test(word) && widthOf(character) === 2) flush();
    word += character;
    if (word.length > MAX_WORD) flush();
  };

  return {
    add(piece) {
      for (const character of safeText(piece)) {
        const blank = BLANKS[character];
        if (character !== '\n' && blank === undefined) take(character);
        else flush();
        if (character === '\n') rows.endLine(isFenced);
        else if (blank !== undefined) rows.addBlank(blank);
      }
    },
    end() {
      flush();
      isFenced = false;
      const { hasWords, width } = rows.line();
      if (hasWords || width > 0) rows.endLine(false);
      else rows.begin(false);
    },
  };
}

interface Span {
  readonly text: string;
  readonly style: Style | undefined;
}

/** A word without its marks, which change the state of the line. What neither opens nor closes stays. */
function spansOf(word: string, line: Line): readonly Span[] {
  if (line.isVerbatim) return [{ text: word, style: 'cyan' }];
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
