// Which rows the floor shows, in which order, and which of them is chosen.
import { UNASSIGNED_TEAM } from '../../domain/sessions/office.ts';
import { type Office, isLive, MAX_LIVE_ROWS, type Row } from './office.ts';
import type { AppState } from './state.ts';
import type { Choice } from './desk-state.ts';
import { inOrder } from './order.ts';
import type { FloorState } from './screens.ts';

type Shown = Pick<FloorState, 'teamId' | 'status' | 'order' | 'isReversed' | 'find'>;

/** What was asked for last: each frame asks several times. */
let last: { readonly of: Office['rows']; readonly shown: Shown; readonly rows: readonly Row[] } | null = null;

/** The rows to show. Runs of which only the ids are known wait for their snapshot. */
export function visibleRows({ rows: of }: Pick<Office, 'rows'>, shown: Shown): readonly Row[] {
  if (last === null || last.of !== of || !isSame(last.shown, shown)) last = { of, shown, rows: rowsOf(of, shown) };
  return last.rows;
}

const isSame = (a: Shown, b: Shown) =>
  a.teamId === b.teamId &&
  a.status === b.status &&
  a.order === b.order &&
  a.isReversed === b.isReversed &&
  a.find === b.find;

function rowsOf(rows: Office['rows'], { teamId, status, order, isReversed, find }: Shown): readonly Row[] {
  const words = find
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const shown = [...rows.values()].filter(
    (row) =>
      row.title !== '' &&
      (teamId === null || (row.teamId ?? UNASSIGNED_TEAM.id) === teamId) &&
      (status === 'all' || row.status === status) &&
      (words.length === 0 || hasWords(row, words)),
  );
  return inOrder(shown, order, isReversed);
}

function hasWords(row: Row, words: readonly string[]): boolean {
  const { title, sessionTitle, username, fullName, teamName, now, error, runId, sessionId } = row;
  const text = [title, sessionTitle, username, fullName, teamName, now, error, runId, sessionId]
    .join(' ')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Rows ahead of the chosen one that are there before it comes to them. */
const AHEAD = 48;

/** Live runs of the office, with or without rows. */
export function liveCount({ overview }: Office): number {
  return overview.running + overview.pending;
}

/** What there is beside the rows: live runs that have none yet, and those of today that are over and have none any more. */
export function beyondRows(office: Office): Readonly<Record<'known' | 'live' | 'earlier', number>> {
  const known = [...office.rows.values()].filter(({ title }) => title !== '');
  const live = known.filter(isLive).length;
  const { completed, failed, idle } = office.overview;
  return {
    known: known.length,
    live: office.isFull ? Math.max(0, liveCount(office) - live) : 0,
    earlier: Math.max(0, completed + failed + idle - (known.length - live)),
  };
}

/** Whether the user comes to the end of the live runs that have rows, and there are more. */
export function wantsLiveRuns({ office, screens }: AppState): boolean {
  const floor = screens.at(-1);
  if (floor?.name !== 'floor' || !office.isFull || !LIVE_FILTERS.has(floor.status)) return false;
  const known = [...office.rows.values()].filter((row) => row.title !== '' && isLive(row)).length;
  if (known >= Math.min(liveCount(office), MAX_LIVE_ROWS)) return false;
  const rows = visibleRows(office, floor);
  return indexOfRow(rows, floor) + AHEAD >= rows.filter(isLive).length;
}

const LIVE_FILTERS: ReadonlySet<FloorState['status']> = new Set(['all', 'running', 'pending']);

/** Where the chosen one is among the ids now: at its place before, when it is gone. -1 when there are none. */
export function indexOfChoice(ids: readonly string[], { id, index }: Choice): number {
  const at = id === null ? -1 : ids.indexOf(id);
  return at !== -1 ? at : Math.min(Math.max(0, index), ids.length - 1);
}

/** The place of the chosen one of the rows that are shown. */
export function indexOfRow(rows: readonly Row[], { chosen }: Pick<FloorState, 'chosen'>): number {
  return indexOfChoice(
    rows.map(({ runId }) => runId),
    chosen,
  );
}

export function chosenRow(rows: readonly Row[], floor: Pick<FloorState, 'chosen'>): Row | undefined {
  return rows[indexOfRow(rows, floor)];
}

/** The choice that is `by` further, within the ids. */
export function moveChoice(ids: readonly string[], choice: Choice, by: number): Choice {
  const index = Math.min(Math.max(0, indexOfChoice(ids, choice) + by), Math.max(0, ids.length - 1));
  return { id: ids[index] ?? null, index };
}

/** The first of the `height` items to draw out of `count`, so that the chosen one stays in the middle where it can. */
export function windowStart(count: number, chosen: number, height: number): number {
  return Math.max(0, Math.min(chosen - Math.floor(height / 2), count - height));
}
