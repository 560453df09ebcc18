// Lays out lists as tables, and single things as a line per field.
import {
  briefTexts,
  dressedCell,
  explainedText,
  isCuttable,
  isEmpty,
  isNumeric,
  type ShownCell,
  wholeText,
} from './cells.ts';
import { paint, type Style } from './colours.ts';
import { type Column, USUAL_WORTH } from './columns.ts';
import { fitColumns, GAP, type Sizing } from './fit-columns.ts';
import { cutTo, padStartTo, padTo, widthOf, wrapTo } from './text.ts';

/** Where something is shown. */
export interface Output {
  readonly isTerminal: boolean;
  readonly colours: boolean;
  /** Columns that a line may take; null for as many as it needs, with every value in full. */
  readonly width: number | null;
  /** Epoch ms. */
  readonly now: number;
}

/** A table as text, and the names of the columns for which there was no room; those without any value do not count. */
export interface Table {
  readonly text: string;
  readonly hidden: readonly string[];
}

interface SizedColumn extends Sizing {
  readonly name: string;
  readonly cells: readonly ShownCell[];
  /** The width of its widest cell, heading included. */
  readonly most: number;
  readonly isEmpty: boolean;
  readonly isNumeric: boolean;
  readonly wraps: boolean;
}

const headingOf = (name: string) => name.replaceAll('_', ' ').toUpperCase();

/** The table of a list. */
export function tableOf<T>(rows: readonly T[], columns: readonly Column<T>[], output: Output): Table {
  const sized = columns.map((column) => sizedColumn(column, rows, output));
  const shown = output.width === null ? sized : fitColumns(sized, output.width);
  const heading = lineOf(shown, ({ name }) => ({ text: headingOf(name), style: 'bold' }), output);
  const lines = rows.map((_, row) => lineOf(shown, ({ cells }) => cells[row]!, output));
  const hidden = sized.filter(({ name, isEmpty }) => !isEmpty && !shown.some((column) => column.name === name));
  return { text: [heading, ...lines].join(''), hidden: hidden.map(({ name }) => name.replaceAll('_', ' ')) };
}

/** A text keeps a third of the terminal, within these limits: columns worth less make room for it. */
const LEAST_TEXT = { share: 3, from: 12, to: 40 } as const;

function leastText(available: number): number {
  const { share, from, to } = LEAST_TEXT;
  return Math.min(to, Math.max(from, Math.floor(available / share)));
}

function sizedColumn<T>(column: Column<T>, rows: readonly T[], { width, isTerminal, now }: Output): SizedColumn {
  const texts = width === null ? rows.map((row) => wholeText(column.value(row))) : briefTexts(column, rows, now);
  const cells = texts.map((text, at) =>
    isTerminal ? dressedCell(column, rows[at]!, text) : { text, style: undefined },
  );
  const most = Math.max(...[headingOf(column.name), ...cells.map(({ text }) => text)].map(widthOf));
  const hasNothing = isEmpty(column, rows);
  return {
    name: column.name,
    cells,
    width: width !== null && isCuttable(column, rows) ? Math.min(most, leastText(width)) : most,
    most,
    worth: hasNothing ? -1 : (column.worth ?? USUAL_WORTH),
    isEmpty: hasNothing,
    isNumeric: isTerminal && isNumeric(column, rows),
    wraps: isTerminal && column.wraps === true,
  };
}

/** One row; when the last column wraps, it may take several lines. */
function lineOf(columns: readonly SizedColumn[], cellOf: (column: SizedColumn) => ShownCell, output: Output): string {
  const cells = columns.map((column, at) => {
    const { text, style } = cellOf(column);
    const isLast = at === columns.length - 1;
    if (isLast && column.wraps) return wrapped(cellOf(column), columns, output);
    const cut = cutTo(text, column.width);
    if (column.isNumeric) return coloured(padStartTo(cut, column.width), style, output);
    return coloured(cut, style, output) + (isLast ? '' : padTo('', column.width - widthOf(cut)));
  });
  return `${cells.join(' '.repeat(GAP))}\n`;
}

function wrapped({ text, style }: ShownCell, columns: readonly SizedColumn[], output: Output): string {
  const before = columns.slice(0, -1).reduce((sum, { width }) => sum + width + GAP, 0);
  const lines = wrapTo(text, columns.at(-1)!.width);
  return lines.map((line) => coloured(line, style, output)).join(`\n${' '.repeat(before)}`);
}

/** One thing, a field per line, every value in full. */
export function recordOf<T>(thing: T, columns: readonly Column<T>[], output: Output): string {
  const headings = columns.map(({ name }) => headingOf(name).toLowerCase());
  const width = Math.max(...headings.map(widthOf));
  const lines = columns.map((column, at) => {
    const { text, style } = output.isTerminal
      ? dressedCell(column, thing, explainedText(column, thing, output.now))
      : { text: wholeText(column.value(thing)), style: undefined };
    return `${coloured(padTo(headings[at] ?? '', width), 'bold', output)}  ${coloured(text, style, output)}\n`;
  });
  return lines.join('');
}

/** Some of the fields of one thing, under a heading; without a heading, its first lines. */
export interface Group<T> {
  readonly heading: string | null;
  readonly columns: readonly Column<T>[];
}

/** One thing in groups, whose fields line up; a group without fields is left out. */
export function groupsOf<T>(thing: T, groups: readonly Group<T>[], output: Output): string {
  const names = groups.flatMap(({ columns }) => columns.map(({ name }) => widthOf(name)));
  const width = Math.max(0, ...names);
  const shown = groups.filter(({ columns }) => columns.length > 0);
  const texts = shown.map(({ heading, columns }) => {
    const lines = columns.map((column) => {
      const { text, style } = dressedCell(column, thing, explainedText(column, thing, output.now));
      const indent = ' '.repeat(GAP + width + GAP);
      const lines = output.width === null ? [text] : wrapTo(text, output.width - indent.length);
      const value = lines.map((line) => coloured(line, style, output)).join(`\n${indent}`);
      return `${' '.repeat(GAP)}${padTo(headingOf(column.name).toLowerCase(), width)}${' '.repeat(GAP)}${value}\n`;
    });
    return `${heading === null ? '' : `${coloured(heading, 'bold', output)}\n`}${lines.join('')}`;
  });
  return texts.join('\n');
}

function coloured(text: string, style: Style | undefined, { colours }: Output): string {
  return colours && style !== undefined ? paint(text, style) : text;
}
