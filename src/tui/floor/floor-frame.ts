// The floor as lines: teams above, runs below, as many as there is room for.
import { exactly, frameOf, type KeyHint, type Size } from '../frame/frame.ts';
import { emptyText, ORDER_WORDS } from '../state/floor-words.ts';
import { hasNodes, type Office, type Row } from '../state/office.ts';
import type { FloorState } from '../state/screens.ts';
import { type AppState, officeShown } from '../state/state.ts';
import { beyondRows, chosenRow, indexOfRow, visibleRows, windowStart } from '../state/visible.ts';
import { runStyleOf } from '../state/run-style.ts';
import { GUARD, hasRightToLeft, shownWidth } from '../text/fit.ts';
import { cell, clip, EMPTY, type Line, lineOf, type Span, span, widthOfSpans } from '../text/line.ts';
import { layOut } from '../text/table.ts';
import { gutter, runColumns } from './columns.ts';
import { paneLines, paneWidth } from './pane.ts';
import { pickerLines, teamLines } from './teams.ts';

const HINTS: readonly KeyHint[] = [
  ['↑↓', 'move'],
  ['⏎', 'open'],
  ['/', 'find'],
  ['t', 'team'],
  ['s', 'status'],
  ['o', 'order'],
  ['T', 'today'],
  ['p', 'pause'],
  ['q', 'quit'],
];

const PICKER_HINTS: readonly KeyHint[] = [
  ['↑↓', 'choose'],
  ['⏎', 'only this team'],
  ['Esc', 'back'],
];

/** Lines for the whole screen. */
export function floorFrame(state: AppState, floor: FloorState, size: Size): readonly Line[] {
  return frameOf(state, size, (inner) => body(state, floor, inner), floor.picker === null ? HINTS : PICKER_HINTS);
}

function body(state: AppState, floor: FloorState, { columns, rows }: Size): readonly Line[] {
  const office = officeShown(state);
  if (floor.picker !== null) return pickerLines(office, floor.picker, columns, rows);
  const width = columns - paneWidth(columns);
  const teams = teamLines(office, floor.teamId, width, teamRows(rows));
  const runs = visibleRows(office, floor);
  const above = teams.length === 0 ? [] : rows > ROOMY_ROWS ? [...teams, EMPTY] : teams;
  const lines = [...above, ...runLines({ state, office, floor, runs }, width, rows - above.length)];
  if (width === columns) return lines;
  const pane = paneLines(state, floor, chosenRow(runs, floor), { columns: columns - width, rows });
  return beside(exactly(lines, rows), pane, width);
}

/** One block of lines beside another. */
function beside(left: readonly Line[], right: readonly Line[], width: number): readonly Line[] {
  return left.map((line, at) => ({
    ...line,
    spans: clip(line.spans, width),
    beside: [span(isRightToLeft(line.spans) ? GUARD : ' '), ...(right[at]?.spans ?? [])],
  }));
}

const isRightToLeft = (spans: readonly Span[]) => spans.some(({ text }) => hasRightToLeft(text));

/** From here on, teams and runs stand apart. */
const ROOMY_ROWS = 12;

/** Teams get a quarter of the screen, and at least two of them. */
const teamRows = (rows: number) => Math.min(8, Math.max(3, Math.floor(rows / 4) + 1));

interface Runs {
  readonly state: AppState;
  readonly office: Office;
  readonly floor: FloorState;
  readonly runs: readonly Row[];
}

function runLines(runs: Runs, width: number, height: number): readonly Line[] {
  const { state, office, floor } = runs;
  const { now } = state;
  const columns = { ...floor, now, skewMs: office.skewMs, hasNodes: hasNodes(office) };
  const { heading, row } = layOut(runColumns(columns), width - 3);
  const chosen = indexOfRow(runs.runs, floor);
  const room = height - 2;
  const start = windowStart(runs.runs.length, chosen, room);
  const isCut = start + room < runs.runs.length && room > 2;
  const shown = isCut ? room - 1 : room;
  const lines = runs.runs.slice(start, start + shown).map((run, at): Line => {
    const isChosen = start + at === chosen;
    return { spans: [...gutter(isChosen, run, now), ...row(run), span(' ')], selected: isChosen };
  });
  const more = runs.runs.length - start - shown;
  return [
    listLine(runs, chosen, width),
    { spans: [span('  '), ...heading.spans] },
    ...lines,
    ...(isCut ? [{ spans: [span(`  +${more} more`, 'dim')] }] : []),
    ...(lines.length === 0 ? [EMPTY, { spans: [span('  '), cell(emptyText(state, floor), width - 2, 'dim')] }] : []),
  ];
}

/** Which runs are listed, in which order, and the place of the chosen one. */
function listLine({ office, floor, runs }: Runs, chosen: number, width: number): Line {
  const filters = filtersOf(office, floor);
  const right = placeLine(office, filters.length > 0, { chosen, count: runs.length });
  const order = ` · ${ORDER_WORDS[floor.order]}${floor.isReversed ? ', reversed' : ''}`;
  const room = width - 5 - order.length - widthOfSpans(right);
  const text = filters.join(' · ');
  const left = [
    span('  '),
    filters.length === 0
      ? span('All runs', 'strong')
      : cell(text, Math.max(8, Math.min(room, shownWidth(text))), 'accent'),
    ...(hasRightToLeft(text) ? [span(GUARD)] : []),
    span(order, 'dim'),
  ];
  return lineOf(left, right, width);
}

function filtersOf(office: Office, { teamId, status, find, isFinding }: FloorState): readonly string[] {
  return [
    office.teams.find(({ id }) => id === teamId)?.name,
    status === 'all' ? undefined : runStyleOf({ status }).word,
    find === '' || isFinding ? undefined : `/${find}`,
  ].filter((part) => part !== undefined);
}

/** The place of the chosen run, how many there are, and where to find those that have no rows any more. */
function placeLine(
  office: Office,
  isFiltered: boolean,
  { chosen, count }: { readonly chosen: number; readonly count: number },
): readonly Span[] {
  const { known, live, earlier } = beyondRows(office);
  const all = count < known + live ? ` of ${known + live}` : '';
  return [
    span(`${chosen + 1}/${count}${all}`, 'dim'),
    ...(earlier === 0
      ? []
      : [span(isFiltered ? ' · earlier: ' : ` · ${earlier} earlier: `, 'dim'), span('T', 'accent')]),
    span(' '),
  ];
}
