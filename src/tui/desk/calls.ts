// Choosing among the calls of the live tab, and unfolding one of them.
import type { DeskState } from '../state/desk-state.ts';
import { type Items, revealed } from '../transcript/viewport.ts';
import { liveEntries } from './live.ts';

/** What lays the tab out. */
export interface Layout {
  readonly items: (screen: DeskState) => Items;
  readonly rows: number;
}

/** The call so many further; the last one when none is chosen, or what was chosen is no longer in memory. */
export function moveCall(screen: DeskState, by: 1 | -1, layout: Layout): DeskState {
  const ids = callIds(screen);
  const at = ids.indexOf(screen.call?.id ?? '');
  const id = ids[at === -1 ? ids.length - 1 : Math.min(Math.max(0, at + by), ids.length - 1)];
  return id === undefined
    ? screen
    : shown({ ...screen, call: { id, isUnfolded: screen.call?.isUnfolded ?? false } }, layout);
}

/** Unfolds the chosen call, or the last one; folded again, none is chosen. */
export function toggleCall(screen: DeskState, layout: Layout): DeskState {
  const { call } = screen;
  if (call?.isUnfolded === true) return { ...screen, call: { ...call, isUnfolded: false } };
  const id = call?.id ?? callIds(screen).at(-1);
  return id === undefined ? screen : shown({ ...screen, call: { id, isUnfolded: true } }, layout);
}

const callIds = (screen: DeskState) =>
  liveEntries(screen).flatMap((entry) => (entry.kind === 'tool' ? [entry.id] : []));

/** The screen with its chosen call in sight. */
function shown(screen: DeskState, { items, rows }: Layout): DeskState {
  const index = liveEntries(screen).findIndex((entry) => entry.kind === 'tool' && entry.id === screen.call?.id);
  const live = revealed(items(screen), screen.positions.live, index, rows);
  return { ...screen, positions: { ...screen.positions, live } };
}
