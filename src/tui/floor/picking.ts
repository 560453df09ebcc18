// The keys of the list of teams: what is typed finds them, arrows choose, Enter takes the chosen one.
import type { Stroke } from '../screen/keys.ts';
import { FIRST } from '../state/desk-state.ts';
import type { FloorState, TeamPicker } from '../state/screens.ts';
import { type Action, type AppState, officeShown } from '../state/state.ts';
import { pickableIds } from '../state/teams.ts';
import { indexOfChoice, moveChoice } from '../state/visible.ts';

const PAGE = 10;
/** No name of a team is longer. */
const MAX_TYPED = 200;

const MOVES: Readonly<Record<string, number>> = {
  up: -1,
  down: 1,
  'wheel-up': -3,
  'wheel-down': 3,
  'page-up': -PAGE,
  'page-down': PAGE,
  first: Number.MIN_SAFE_INTEGER,
  last: Number.MAX_SAFE_INTEGER,
};

/** What a key does; letters are what is looked for, whatever else they mean. */
export function picking(picker: TeamPicker, { name, text }: Stroke, state: AppState): Action | undefined {
  const ids = pickableIds(officeShown(state), picker);
  if (name === 'escape') return set({ picker: null });
  if (name === 'enter') {
    const id = ids[indexOfChoice(ids, picker.chosen)];
    return id === undefined ? undefined : set({ picker: null, teamId: id === '' ? null : id, chosen: FIRST });
  }
  if (name === 'erase') return set({ picker: { find: picker.find.slice(0, -1), chosen: FIRST } });
  if (text !== '') return set({ picker: { find: (picker.find + text).slice(0, MAX_TYPED), chosen: FIRST } });
  const by = MOVES[name];
  return by === undefined ? undefined : set({ picker: { ...picker, chosen: moveChoice(ids, picker.chosen, by) } });
}

type Change = Partial<Pick<FloorState, 'picker' | 'teamId' | 'chosen'>>;

const set = (over: Change): Action => ({
  type: 'update',
  name: 'floor',
  update: (floor) => ({ ...floor, ...over }),
});
