// The first rows of a table as HTML. A script of the page sorts them; without it, it is a plain table.
import { escaped, withNamedMarks } from '../escape.ts';
import { MAX_HTML_BYTES } from '../rendering.ts';
import { type Column, columnOf, isHeader } from './columns.ts';
import { MAX_COLUMNS, MAX_ROWS, readTable, type ReadTable } from './read-table.ts';

/** Left for what stands around the rows. */
const FRAME_BYTES = 65_536;

interface Source {
  readonly name: string;
  readonly isCut: boolean;
}

export function renderTable(text: string, source: Source): string {
  const { rows, columns, count } = readTable(text, source);
  const [first = []] = rows;
  const hasHeader = rows.length > 0 && isHeader(first);
  const records = (hasHeader ? rows.slice(1) : rows).slice(0, MAX_ROWS);
  const width = Math.min(columns, MAX_COLUMNS);
  const indexes = Array.from({ length: width }, (_, index) => index);
  const kinds = indexes.map((index) => columnOf(records.map((cells) => cells[index] ?? '')));
  const names = indexes.map((index) => (hasHeader && first[index]?.trim()) || letters(index));
  const head = names.map((name, index) => headOf(name, kinds[index]!)).join('');
  const shown = rowsOf(records, kinds);
  const total = hasHeader ? count - 1 : count;
  const facts = factsOf({ shown: shown.length, total, columns, isCut: source.isCut });
  if (shown.length === 0 && !hasHeader) return `<p class="facts">${facts}</p>`;
  return `<p class="facts">${facts}</p>
<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>
<thead><tr>${head}</tr></thead>
<tbody>
${shown.join('\n')}
</tbody>
</table></div>`;
}

/** As many rows as there is room for. */
function rowsOf(records: ReadTable['rows'], kinds: readonly Column[]): string[] {
  const shown: string[] = [];
  let left = MAX_HTML_BYTES - FRAME_BYTES;
  for (const cells of records) {
    const row = `<tr>${kinds.map((kind, index) => `<td${aligned(kind)}>${shownText(cells[index] ?? '')}</td>`).join('')}</tr>`;
    left -= Buffer.byteLength(row) + 1;
    if (left < 0) break;
    shown.push(row);
  }
  return shown;
}

function headOf(text: string, kind: Column): string {
  const sorted = kind.decimal === null ? '' : ` data-decimal="${kind.decimal}"`;
  return `<th scope="col"${aligned(kind)}${sorted}>${shownText(text)}</th>`;
}

const aligned = ({ decimal }: Column) => (decimal === null ? '' : ' class="right"');
const shownText = (text: string) => withNamedMarks(escaped(text));

const LETTERS = 26;

/** The names of columns that have none: A to Z, then AA. */
function letters(index: number): string {
  const last = String.fromCharCode('A'.charCodeAt(0) + (index % LETTERS));
  return index < LETTERS ? last : letters(Math.floor(index / LETTERS) - 1) + last;
}

interface Facts {
  readonly shown: number;
  readonly total: number;
  readonly columns: number;
  readonly isCut: boolean;
}

/** Such as `The first 1,000 of 25,310 rows, and 100 of 240 columns`. */
function factsOf({ shown, total, columns, isCut }: Facts): string {
  const figure = (value: number) => value.toLocaleString('en');
  const some = isCut ? `The first ${figure(shown)} rows` : `The first ${figure(shown)} of ${figure(total)} rows`;
  const all = total === 1 ? '1 row' : `${figure(total)} rows`;
  const rows = isCut || shown < total ? some : all;
  return columns > MAX_COLUMNS ? `${rows}, and ${MAX_COLUMNS} of ${figure(columns)} columns` : rows;
}
