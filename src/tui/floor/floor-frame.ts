// The floor as lines: teams above, runs below, as many as there is room for.
import { frameOf, type KeyHint, type Size } from '../frame/frame.ts';
import { emptyText, ORDER_WORDS } from '../state/floor-words.ts';
import { hasNodes, isLive, type Office, type Row } from '../state/office.ts';
import type { FloorState } from '../state/screens.ts';
import { type AppState, officeShown } from '../state/state.ts';
import { indexOfChoice, liveCount, visibleRows, windowStart } from '../state/visible.ts';
import { runStyleOf } from '../state/run-style.ts';
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
  const office = officeShown(state);
  const teams = teamLines(office, floor.teamId, columns, teamRows(rows));
  const runs = visibleRows(office, floor);
  const above = teams.length === 0 ? [] : rows > ROOMY_ROWS ? [...teams, EMPTY] : teams;
  return [...above, ...runLines({ state, office, floor, runs }, columns, rows - above.length)];
}

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

function runLines({ state, office, floor, runs }: Runs, width: number, height: number): readonly Line[] {
  const { now } = state;
  const { heading, row } = layOut(runColumns(now, office.skewMs, hasNodes(office)), width - 3);
  const chosen = indexOfChoice(
    runs.map(({ runId }) => runId),
    floor.chosen,
  );
  const room = height - 2;
  const start = windowStart(runs.length, chosen, room);
  const lines = runs.slice(start, start + room).map((run, at): Line => {
    const isChosen = start + at === chosen;
    return { spans: [...gutter(isChosen, run, now), ...row(run), span(' ')], selected: isChosen };
  });
  return [
    listLine({ state, office, floor, runs }, chosen, width),
    { spans: [span('  '), ...heading.spans] },
    ...(lines.length === 0 ? [EMPTY, { spans: [span('  '), cell(emptyText(state, floor), width - 2, 'dim')] }] : lines),
  ];
}

/** Which runs are listed, in which order, and the place of the chosen one. */
function listLine({ office, floor, runs }: Runs, chosen: number, width: number): Line {
  const { teamId, status, order, find, isFinding } = floor;
  const filters = [
    office.teams.find(({ id }) => id === teamId)?.name,
    status === 'all' ? undefined : runStyleOf({ status }).word,
    find === '' || isFinding ? undefined : `/${find}`,
  ].filter((part) => part !== undefined);
  const text = filters.join(' · ');
  const left = [
    span('  '),
    filters.length === 0 ? span('All runs', 'strong') : cell(text, Math.min(width - 30, widthOf(text)), 'accent'),
    span(` · ${ORDER_WORDS[order]}`, 'dim'),
  ];
  // Runs of which only the ids are known have no row yet.
  const known = [...office.rows.values()].filter(({ title }) => title !== '').length;
  const live = [...office.rows.values()].filter((row) => row.title !== '' && isLive(row)).length;
  const total = known - live + Math.max(live, office.isFull ? liveCount(office) : 0);
  const all = runs.length < total ? ` of ${total}` : '';
  return lineOf(left, [span(`${chosen + 1}/${runs.length}${all} `, 'dim')], width);
}
