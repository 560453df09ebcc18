// Which rows the floor shows, in which order, and which of them is chosen.
import { UNASSIGNED_TEAM } from '../../domain/sessions/office.ts';
import { type Office, isLive, MAX_LIVE_ROWS, type Row } from './office.ts';
import type { AppState } from './state.ts';
import type { Choice } from './desk-state.ts';
import type { FloorState, Order } from './screens.ts';

const begun = ({ startedAt, updatedAt, finishedAt }: Row) => startedAt ?? finishedAt ?? updatedAt;

/** Live runs first, those that run before those that wait for their turn. Rows keep their places as long as they can. */
const COMPARE: Readonly<Record<Order, (a: Row, b: Row) => number>> = {
  newest: (a, b) => rank(a) - rank(b) || (isLive(a) ? begun(b) - begun(a) : (b.finishedAt ?? 0) - (a.finishedAt ?? 0)),
  longest: (a, b) => rank(a) - rank(b) || begun(a) - begun(b),
  cost: (a, b) => b.cost - a.cost,
  tokens: (a, b) => b.tokens - a.tokens,
};

const rank = (row: Row) => (row.status === 'running' ? 0 : row.status === 'pending' ? 1 : 2);

/** The rows to show. Runs of which only the ids are known wait for their snapshot. */
export function visibleRows({ rows }: Office, { teamId, status, order, find }: FloorState): Row[] {
  const words = find
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return [...rows.values()]
    .filter(
      (row) =>
        row.title !== '' &&
        (teamId === null || (row.teamId ?? UNASSIGNED_TEAM.id) === teamId) &&
        (status === 'all' || row.status === status) &&
        (words.length === 0 || hasWords(row, words)),
    )
    .sort((a, b) => COMPARE[order](a, b) || (a.runId < b.runId ? 1 : -1));
}

function hasWords(row: Row, words: readonly string[]): boolean {
  const { title, username, fullName, teamName, now, error, runId, sessionId } = row;
  const text = [title, username, fullName, teamName, now, error, runId, sessionId].join(' ').toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Rows ahead of the chosen one that are there before it comes to them. */
const AHEAD = 48;

/** Live runs of the office, with or without rows. */
export function liveCount({ overview }: Office): number {
  return overview.running + overview.pending;
}

/** Whether the user comes to the end of the live runs that have rows, and there are more. */
export function wantsLiveRuns({ office, screens }: AppState): boolean {
  const floor = screens.at(-1);
  if (floor?.name !== 'floor' || !office.isFull || !LIVE_FILTERS.has(floor.status)) return false;
  const known = [...office.rows.values()].filter((row) => row.title !== '' && isLive(row)).length;
  if (known >= Math.min(liveCount(office), MAX_LIVE_ROWS)) return false;
  const rows = visibleRows(office, floor);
  const chosen = indexOfChoice(
    rows.map(({ runId }) => runId),
    floor.chosen,
  );
  return chosen + AHEAD >= rows.filter(isLive).length;
}

const LIVE_FILTERS: ReadonlySet<FloorState['status']> = new Set(['all', 'running', 'pending']);

/** Where the chosen one is among the ids now: at its place before, when it is gone. -1 when there are none. */
export function indexOfChoice(ids: readonly string[], { id, index }: Choice): number {
  const at = id === null ? -1 : ids.indexOf(id);
  return at !== -1 ? at : Math.min(Math.max(0, index), ids.length - 1);
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
