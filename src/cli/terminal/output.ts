// Prints results: tables on a terminal, plain columns in a pipe, one JSON document on demand.
import type { Io } from '../frame/io.ts';
import { paint, type Style, wantsColours } from '../../terminal/colours.ts';
import { padTo, safeLine, safeText, widthOf } from '../../terminal/text.ts';

export type Format = 'table' | 'json';

type Cell = string | number | boolean | null | undefined;

/** One column of a list, or one line of a record. `name` is the API's name of the field. */
export interface Column<T> {
  readonly name: string;
  readonly value: (row: T) => Cell;
  /** Colour of a cell on a terminal. */
  readonly style?: (row: T) => Style | undefined;
}

/** The output of a command (K2). Results go to stdout; hints, questions and progress to stderr. */
export interface Output {
  readonly format: Format;
  /** A list: `document` is what `-o json` prints. */
  list<T>(rows: readonly T[], columns: readonly Column<T>[], document: unknown): void;
  /** One object, a field per line. */
  record<T>(thing: T, columns: readonly Column<T>[], document: unknown): void;
  /** One JSON document; then nothing else may go to stdout. */
  json(document: unknown): void;
  /** Text: unchanged in a pipe, made safe on a terminal. Adds no line end. */
  text(text: string): void;
  /** A line for people on stderr. */
  hint(line: string): void;
}

/** A column whose value is the field of the same name. */
export function field<T, Name extends keyof T & string>(name: Name): Column<T> {
  return { name, value: (row) => row[name] as Cell };
}

/** Makes the output of one command. Without a format it depends on whether stdout is a terminal. */
export function makeOutput(io: Io, format: Format | undefined): Output {
  const isTable = format === 'table' || io.terminal.stdout;
  const colours = wantsColours(io.terminal.stdout, io.environment);
  const write = (text: string) => void io.stdout.write(text);
  const json = (document: unknown) => write(`${safeJson(document)}\n`);
  return {
    format: format ?? 'table',
    list: (rows, columns, document) => {
      if (format === 'json') json(document);
      else write(isTable ? tableOf(rows, columns, colours) : rows.map((row) => plainLine(row, columns)).join(''));
    },
    record: (thing, columns, document) => {
      if (format === 'json') json(document);
      else write(isTable ? recordOf(thing, columns, colours) : plainRecordOf(thing, columns));
    },
    json,
    text: (text) => write(io.terminal.stdout ? safeText(text) : text),
    hint: (line) => void io.stderr.write(`${io.terminal.stderr ? safeText(line) : line}\n`),
  };
}

/** The maximum width of a line on stderr: that of the terminal; unlimited in a pipe. */
export function widthForHints({ columns, terminal }: Pick<Io, 'columns' | 'terminal'>): number {
  return terminal.stderr ? columns : Number.POSITIVE_INFINITY;
}

/** JSON that is also safe on a terminal: JSON itself does not escape DEL, C1 controls and direction marks. */
function safeJson(document: unknown): string {
  return JSON.stringify(document, null, 2).replace(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const headingOf = (name: string) => name.replaceAll('_', ' ').toUpperCase();

function shown(cell: Cell): string {
  if (cell === null || cell === undefined || cell === '') return '-';
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  return safeLine(String(cell));
}

function tableOf<T>(rows: readonly T[], columns: readonly Column<T>[], colours: boolean): string {
  const cells = rows.map((row) => columns.map((column) => shown(column.value(row))));
  const headings = columns.map((column) => headingOf(column.name));
  const widths = headings.map((heading, at) =>
    Math.max(...[heading, ...cells.map((line) => line[at] ?? '')].map(widthOf)),
  );
  const layOut = (line: readonly string[], dress: (text: string, at: number) => string) =>
    line.map((text, at) => dress(at === line.length - 1 ? text : padTo(text, widths[at] ?? 0), at)).join('  ');
  const lines = rows.map((row, index) =>
    layOut(cells[index] ?? [], (text, at) => dressed(text, colours ? columns[at]?.style?.(row) : undefined)),
  );
  return [layOut(headings, (text) => dressed(text, colours ? 'bold' : undefined)), ...lines]
    .map((line) => `${line}\n`)
    .join('');
}

function recordOf<T>(thing: T, columns: readonly Column<T>[], colours: boolean): string {
  const headings = columns.map((column) => headingOf(column.name).toLowerCase());
  const width = Math.max(...headings.map(widthOf));
  const lines = columns.map((column, at) => {
    const heading = dressed(padTo(headings[at] ?? '', width), colours ? 'bold' : undefined);
    return `${heading}  ${dressed(shown(column.value(thing)), colours ? column.style?.(thing) : undefined)}\n`;
  });
  return lines.join('');
}

function dressed(text: string, style: Style | undefined): string {
  return style === undefined ? text : paint(text, style);
}

/** Tabs and line breaks would break the columns; everything else is unchanged. */
const plain = (cell: Cell) => String(cell ?? '').replace(/[\t\r\n]+/g, ' ');

function plainLine<T>(row: T, columns: readonly Column<T>[]): string {
  return `${columns.map((column) => plain(column.value(row))).join('\t')}\n`;
}

function plainRecordOf<T>(thing: T, columns: readonly Column<T>[]): string {
  return columns.map((column) => `${column.name}\t${plain(column.value(thing))}\n`).join('');
}
