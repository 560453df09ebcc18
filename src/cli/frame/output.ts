// Prints results: tables on a terminal, plain columns in a pipe, one JSON document on demand.
import { paint, wantsColours } from '../../terminal/colours.ts';
import { escapedText } from '../../domain/escaped-text.ts';
import { type FlowingText, makeFlowingText } from '../../terminal/flowing-text.ts';
import { cutTo, safeText } from '../../terminal/text.ts';
import type { ListWire } from '../../wire/listing.ts';
import type { Io } from './io.ts';
import type { Cell, Column } from '../../terminal/columns.ts';
import { type Group, groupsOf, recordOf, tableOf } from '../../terminal/table.ts';

export type Format = 'table' | 'json';

/** The output of a command (K2). Results go to stdout; hints, questions and progress to stderr. */
export interface Output {
  readonly format: Format;
  /** A list: `document` is what `-o json` prints. */
  list<T>(rows: readonly T[], columns: readonly Column<T>[], document: unknown): void;
  /** A part of a longer list, with a hint when there are more; `noun` is a plural, such as `runs`. */
  page<T>(found: ListWire<T>, columns: readonly Column<T>[], noun: string): void;
  /** One object, a field per line. */
  record<T>(thing: T, columns: readonly Column<T>[], document: unknown): void;
  /** One object in parts: groups with headings on a terminal, otherwise the same as `record`. */
  report<T>(thing: T, report: Report<T>): void;
  /** One JSON document; then nothing else may go to stdout. */
  json(document: unknown): void;
  /** Any text, also an agent's, or JSON: made safe on a terminal; in a pipe, what is not has escapes, as it may come to one. Adds no line end. */
  text(text: string): void;
  /** An agent's text as it arrives: as `text`, and on a terminal wrapped at its width and dressed. */
  flowing(): FlowingText;
  /** A line for people on stderr. */
  hint(line: string): void;
}

/** One object in parts, for people; `columns` has all of it for programs. */
export interface Report<T> {
  readonly groups: readonly Group<T>[];
  readonly columns: readonly Column<T>[];
  readonly document: unknown;
}

/** What the user wants of the output: without a format, it depends on whether stdout is a terminal. */
interface Wishes {
  readonly format: Format | undefined;
  /** Every column and value in full, also on a terminal that is too narrow for them. */
  readonly wide: boolean;
}

/** Makes the output of one command. */
export function makeOutput(io: Io, { format, wide }: Wishes): Output {
  const { stdout: isTerminal, stderr: isTerminalForHints } = io.terminal;
  const isTable = format === 'table' || isTerminal;
  const place = {
    isTerminal,
    colours: wantsColours(isTerminal, io.environment),
    width: isTerminal && !wide ? io.columns : null,
    // When it is shown: a command may take its time.
    get now() {
      return io.now();
    },
  };
  const write = (text: string) => void io.stdout.write(text);
  const json = (document: unknown) => write(`${safeJson(document)}\n`);
  const hint = (line: string) => void io.stderr.write(`${isTerminalForHints ? safeText(line) : escapedText(line)}\n`);
  /** Information only for people, in addition to a result. */
  const remark = (line: string) => {
    if (!isTerminal || !isTerminalForHints) return;
    io.stderr.write(`${wantsColours(true, io.environment) ? paint(line, 'dim') : line}\n`);
  };
  function table<T>(rows: readonly T[], columns: readonly Column<T>[]): void {
    const { text, hidden } = tableOf(rows, columns, place);
    write(text);
    if (rows.length === 0) remark('There are none.');
    else if (hidden.length > 0) remark(cutTo(`--wide also shows: ${hidden.join(', ')}`, io.columns));
  }
  function record<T>(thing: T, columns: readonly Column<T>[], document: unknown): void {
    if (format === 'json') json(document);
    else write(isTable ? recordOf(thing, columns, place) : plainRecordOf(thing, columns));
  }
  function list<T>(rows: readonly T[], columns: readonly Column<T>[], document: unknown): void {
    if (format === 'json') json(document);
    else if (isTable) table(rows, columns);
    else write(rows.map((row) => plainLine(row, columns)).join(''));
  }
  return {
    format: format ?? 'table',
    list,
    page: (found, columns, noun) => {
      const { items, total } = found;
      list(items, columns, found);
      if (total > items.length && format !== 'json') hint(`${items.length} of ${total} ${noun}.`);
    },
    record,
    report: (thing, { groups, columns, document }) => {
      if (isTerminal && format !== 'json') write(groupsOf(thing, groups, place));
      else record(thing, columns, document);
    },
    json,
    text: (text) => write(isTerminal ? safeText(text) : escapedText(text)),
    flowing: () => {
      const columns = () => place.width ?? Number.POSITIVE_INFINITY;
      return isTerminal ? makeFlowingText({ write, columns, colours: place.colours }) : escapedLines(write);
    },
    hint,
  };
}

/** The maximum width of a line on stderr: that of the terminal; unlimited in a pipe. */
export function widthForHints({ columns, terminal }: Pick<Io, 'columns' | 'terminal'>): number {
  return terminal.stderr ? columns : Number.POSITIVE_INFINITY;
}

/** Text in a pipe, as it arrives. */
function escapedLines(write: (text: string) => void): FlowingText {
  let isLineOpen = false;
  return {
    add: (piece) => {
      write(escapedText(piece));
      if (piece !== '') isLineOpen = !piece.endsWith('\n');
    },
    end: () => {
      if (isLineOpen) write('\n');
      isLineOpen = false;
    },
  };
}

/** JSON that is also safe on a terminal: JSON itself does not escape DEL, C1 controls and direction marks. */
const safeJson = (document: unknown): string => escapedText(JSON.stringify(document, null, 2));

/** Tabs and line breaks would break the columns; what could harm a terminal at the end of the pipe has escapes. */
const plain = (cell: Cell) => escapedText(String(cell ?? '').replace(/[\t\r\n]+/g, ' '));

function plainLine<T>(row: T, columns: readonly Column<T>[]): string {
  return `${columns.map((column) => plain(column.value(row))).join('\t')}\n`;
}

function plainRecordOf<T>(thing: T, columns: readonly Column<T>[]): string {
  return columns.map((column) => `${column.name}\t${plain(column.value(thing))}\n`).join('');
}
