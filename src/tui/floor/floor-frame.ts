// The floor as lines: teams above, runs below, as many as there is room for.
import { frameOf, type KeyHint, type Size } from '../frame/frame.ts';
import type { House, Row } from '../state/house.ts';
import type { FloorState } from '../state/screens.ts';
import { type AppState, houseShown } from '../state/state.ts';
import { indexOfChoice, visibleRows, windowStart } from '../state/visible.ts';
import { lookOf } from '../state/looks.ts';
import { widthOf } from '../text/fit.ts';
import { cell, EMPTY, type Line, lineOf, span } from '../text/line.ts';
import { layOut } from '../text/table.ts';
import { gutter, runColumns } from './columns.ts';
import { teamLines } from './teams.ts';

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

/** Lines for the whole screen. */
export function floorFrame(state: AppState, floor: FloorState, size: Size): readonly Line[] {
  return frameOf(state, size, (inner) => body(state, floor, inner), HINTS);
}

function body(state: AppState, floor: FloorState, { columns, rows }: Size): readonly Line[] {
  const house = houseShown(state);
  const teams = teamLines(house, floor.teamId, columns, teamRows(rows));
  const runs = visibleRows(house, floor);
  const filters = filterLine(floor, house, runs.length, columns);
  const above = teams.length === 0 && filters === EMPTY ? [] : [...teams, filters];
  return [...above, ...runLines({ state, house, floor, runs }, columns, rows - above.length)];
}

/** Teams get a quarter of the screen, and at least two of them. */
const teamRows = (rows: number) => Math.min(8, Math.max(3, Math.floor(rows / 4) + 1));

interface Runs {
  readonly state: AppState;
  readonly house: House;
  readonly floor: FloorState;
  readonly runs: readonly Row[];
}

function runLines({ state, house, floor, runs }: Runs, width: number, height: number): readonly Line[] {
  const { now } = state;
  const { heading, row } = layOut(runColumns(now, house.skewMs), width - 3);
  const chosen = indexOfChoice(
    runs.map(({ runId }) => runId),
    floor.chosen,
  );
  const room = height - 1;
  const start = windowStart(runs.length, chosen, room);
  const lines = runs.slice(start, start + room).map((run, at): Line => {
    const isChosen = start + at === chosen;
    return { spans: [...gutter(isChosen, run.changedAt, now), ...row(run), span(' ')], selected: isChosen };
  });
  return [
    { spans: [span('  '), ...heading.spans] },
    ...(lines.length === 0 ? [EMPTY, { spans: [span('  '), cell(emptyText(state, floor), width - 2, 'dim')] }] : lines),
  ];
}

/** What narrows the list or orders it; empty when nothing does. */
function filterLine(floor: FloorState, { teams, rows }: House, count: number, width: number): Line {
  const { teamId, status, order, find, isFinding } = floor;
  const parts = [
    teams.find(({ id }) => id === teamId)?.name,
    status === 'all' ? undefined : lookOf({ status }).word,
    order === 'newest' ? undefined : `by ${order}`,
    find === '' || isFinding ? undefined : `/${find}`,
  ].filter((part) => part !== undefined);
  if (parts.length === 0) return EMPTY;
  const left = [span('   '), cell(parts.join(' · '), Math.min(60, width - 20, widthOf(parts.join(' · '))), 'accent')];
  return lineOf(left, [span(`${count} of ${rows.size} `, 'dim')], width);
}

function emptyText({ house, connection }: AppState, { find, status, teamId }: FloorState): string {
  if (house.loadedAt === null) return connection.readFailure?.message ?? 'Reading the house…';
  if (find !== '' || status !== 'all' || teamId !== null) return 'Nothing matches. Esc shows everything.';
  return 'No runs today. They show here as soon as somebody asks for something.';
}
