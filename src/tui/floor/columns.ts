// The columns of runs, and what each is worth when there is no room for all.
import { compact } from '../../domain/figures.ts';
import { money } from '../../terminal/money.ts';
import { doingOf, hasChanged, isNew, timeOf } from '../state/doing.ts';
import type { Row } from '../state/office.ts';
import { isLive } from '../state/office.ts';
import { ORDER_FACTS } from '../state/order.ts';
import { runStyleOf } from '../state/run-style.ts';
import type { FloorState } from '../state/screens.ts';
import { fitTail, shownWidth } from '../text/fit.ts';
import { barOf } from '../text/graphs.ts';
import { cell, type Role, type Span, span } from '../text/line.ts';
import type { Column } from '../text/table.ts';

/** `now` is this machine's clock; `skewMs` makes it the daemon's. `hasNodes`: there are several, and each run has one. */
interface ColumnsFor extends Pick<FloorState, 'order' | 'isReversed'> {
  readonly now: number;
  readonly skewMs: number;
  readonly hasNodes: boolean;
}

export function runColumns(given: ColumnsFor): readonly Column<Row>[] {
  const { column: sorted, falls } = ORDER_FACTS[given.order];
  const mark = falls === given.isReversed ? '↑' : '↓';
  return allColumns(given).map((column) =>
    column.title === sorted ? { ...column, title: `${sorted}${mark}`, titleRole: 'accent' } : column,
  );
}

function allColumns({ now, skewMs, hasNodes }: ColumnsFor): readonly Column<Row>[] {
  const quiet = (row: Row): Role => (isLive(row) ? 'plain' : 'dim');
  return [
    { title: '', width: 1, worth: 100, cell: (row) => span(runStyleOf(row).glyph, runStyleOf(row).role) },
    {
      title: 'STATUS',
      width: 9,
      worth: 25,
      isLuxury: true,
      cell: (row) => span(runStyleOf(row).word, runStyleOf(row).role),
    },
    { title: 'PROGRESS', width: 10, worth: 60, cell: (row, width) => progress(row, width) },
    { title: 'TITLE', width: 16, ample: 26, most: 500, worth: 99, cell: (row) => span(row.title, titleRole(row, now)) },
    { title: 'WHO', width: 10, most: 14, worth: 55, cell: (row) => span(row.fullName || row.username, quiet(row)) },
    { title: 'TEAM', width: 9, most: 12, worth: 30, isLuxury: true, cell: (row) => span(row.teamName ?? '–', 'dim') },
    ...(hasNodes ? [NODE] : []),
    { title: 'TIME', width: 7, worth: 80, align: 'end', cell: (row) => span(timeOf(row, now + skewMs), quiet(row)) },
    {
      title: 'TOKENS',
      width: 7,
      worth: 28,
      isLuxury: true,
      align: 'end',
      cell: (row) => span(compact(row.tokens), 'dim'),
    },
    { title: 'COST', width: 7, worth: 50, align: 'end', cell: (row) => span(money(row.cost), 'money') },
    {
      title: 'NOW',
      width: 16,
      // Such as `qwen refuses connections, 0:07`.
      ample: 30,
      most: MOST_NOW,
      worth: 90,
      cell: (row, width) => doingCell(row, now + skewMs, width),
    },
  ];
}

/** What is wider belongs to the title. */
const MOST_NOW = 60;

const NODE: Column<Row> = {
  title: 'NODE',
  width: 8,
  most: 14,
  worth: 58,
  cell: (row) => span(row.node ?? '–', 'dim'),
};

const titleRole = (row: Row, now: number): Role => (isNew(row, now) ? 'fresh' : isLive(row) ? 'plain' : 'dim');

/** The bar of what runs; what has not begun has an empty one, what is over none. */
function progress(row: Row, width: number): readonly Span[] {
  if (!isLive(row)) return [];
  const columns = width - 4;
  const [filled, rest] = barOf(row.progress / 100, columns);
  return [
    span('━'.repeat(filled), runStyleOf(row).role),
    span('─'.repeat(rest), 'faint'),
    span(row.status === 'pending' ? '    ' : `${String(row.progress).padStart(3)}%`, 'dim'),
  ];
}

/** What stands behind is shown even where the rest is cut; of words that are being written, the last ones are. */
function doingCell(row: Row, at: number, width: number): readonly Span[] {
  const { text, after, staysBehind, role, isTail } = doingOf(row, at);
  if (isTail) return [span(`“${fitTail(text, width - 1)}`, role)];
  if (!staysBehind && shownWidth(text) + after.length > width) return [cell(text, width, role)];
  const room = Math.max(0, width - after.length);
  return [cell(text, Math.min(room, shownWidth(text)), role), span(after, role)];
}

/** The two columns before a row: whether it is chosen, and whether it has just changed. */
export function gutter(isChosen: boolean, row: Row, now: number): readonly Span[] {
  return [span(isChosen ? '❯' : ' ', 'accent'), span(hasChanged(row, now) ? '▎' : ' ', 'accent')];
}
