// Reads the first rows of a table: values that commas, semicolons, tabs or bars separate, as programs for tables write them.
import { CsvError, parse } from 'csv-parse/sync';

/** Rows that are shown, and what is shown of each. */
export const MAX_ROWS = 1_000;
export const MAX_COLUMNS = 100;
export const MAX_CELL_CHARACTERS = 500;

export interface ReadTable {
  /** The first rows, with their first cells. */
  readonly rows: readonly (readonly string[])[];
  /** Of the longest of the rows. */
  readonly columns: number;
  /** All rows of the text. */
  readonly count: number;
}

/** What separates values. Where as many lines speak for two of them, it is the first: commas are also in numbers. */
const DELIMITERS = ['\t', ';', '|', ','];
/** In no text: for one without any of them. */
const NONE = '\u0000';
/** Lines in which it is looked for. */
const SAMPLE_LINES = 20;
const SAMPLE_CHARACTERS = 32_768;
/** The first line by which Excel is told. */
const NAMED = /^sep=(.)\n/;

/** Reads it. `isCut`: the text ends somewhere in the file. */
export function readTable(
  text: string,
  { name, isCut }: { readonly name: string; readonly isCut: boolean },
): ReadTable {
  const unified = text.replaceAll('\r', '\n');
  const named = NAMED.exec(unified)?.[1];
  const body = named === undefined ? unified : unified.slice('sep=,\n'.length);
  const whole = isCut ? body.slice(0, body.lastIndexOf('\n') + 1) || body : body;
  const delimiter = named ?? delimiterOf(whole, name);
  const read = readRows(whole, delimiter, '"');
  // A quote that doesn't end is a character like others, but in a part that ends within quotes.
  return read.isWhole || isCut ? read : readRows(whole, delimiter, false);
}

function readRows(text: string, delimiter: string, quote: '"' | false): ReadTable & { readonly isWhole: boolean } {
  const rows: string[][] = [];
  let [columns, count] = [0, 0];
  const take = (cells: readonly string[]) => {
    count += 1;
    if (count > MAX_ROWS + 1) return null;
    columns = Math.max(columns, cells.length);
    rows.push(cells.slice(0, MAX_COLUMNS).map(cut));
    return null;
  };
  const options = {
    delimiter,
    quote,
    record_delimiter: '\n',
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: 0,
  };
  try {
    parse(text, { ...options, on_record: take });
    return { rows, columns, count, isWhole: true };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { rows, columns, count, isWhole: false };
  }
}

/** A cell that is shown. A slice of a long text would keep it all. */
function cut(cell: string): string {
  return cell.length > MAX_CELL_CHARACTERS ? `${cell.slice(0, MAX_CELL_CHARACTERS - 1).toWellFormed()}…` : cell;
}

/** What most of the first lines have equally often, outside of quotes. */
function delimiterOf(text: string, name: string): string {
  const plain = text.slice(0, SAMPLE_CHARACTERS).replace(/"[^"]*"/g, '');
  const lines = plain.split('\n', SAMPLE_LINES).filter((line) => line.trim() !== '');
  const likely = DELIMITERS.map((delimiter) => ({ delimiter, alike: linesAlike(lines, delimiter) }));
  if (/\.(?:tsv|tab)$/i.test(name) && likely[0]!.alike > 0) return '\t';
  const best = likely.reduce((found, each) => (each.alike > found.alike ? each : found));
  return best.alike > 0 ? best.delimiter : NONE;
}

/** How many lines have it equally often; 0 when fewer than half of them have it at all. */
function linesAlike(lines: readonly string[], delimiter: string): number {
  const counts = lines.map((line) => line.split(delimiter).length - 1).filter((count) => count > 0);
  if (counts.length * 2 < lines.length) return 0;
  const byCount = Map.groupBy(counts, (count) => count);
  return Math.max(0, ...[...byCount.values()].map(({ length }) => length));
}
