// The floor: every run of the office as a row. Its component and its keys.
import { UNASSIGNED_TEAM_ID } from '../../wire/office/snapshot.ts';
import { h } from '../screen/element.ts';
import { Finder } from '../screen/finder.ts';
import { Lines } from '../screen/lines.ts';
import { moveKeys } from '../screen/move-keys.ts';
import type { Pressed, Screen, ScreenProps } from '../screen/screen.ts';
import { desk } from '../state/desk-state.ts';
import { FIRST } from '../state/desk-state.ts';
import { type FloorState, nextOf, ORDERS, STATUS_FILTERS, today } from '../state/screens.ts';
import { type Action, officeShown } from '../state/state.ts';
import { chosenRow, moveChoice, visibleRows } from '../state/visible.ts';
import { floorFrame } from './floor-frame.ts';
import { usePane } from './follow-pane.ts';
import { picking } from './picking.ts';

function Floor({ client, state, screen, size, theme, dispatch }: ScreenProps<'floor'>) {
  usePane({ client, state, screen, size, dispatch });
  const lines = floorFrame(state, screen, size);
  if (!screen.isFinding) return h(Lines, { lines, theme });
  return h(Finder, {
    lines,
    theme,
    value: screen.find,
    onChange: (find) => dispatch(whileFinding(() => ({ find, chosen: FIRST }))),
    onDone: () => dispatch(whileFinding(KEEP)),
    onCancel: () => dispatch(whileFinding(FORGET)),
  });
}

const updateFloor = (update: (floor: FloorState) => FloorState): Action => ({ type: 'update', name: 'floor', update });
const set = (over: Partial<FloorState>) => updateFloor((floor) => ({ ...floor, ...over }));

/** The field may still be on the screen when its user has left it: what it reports then is ignored. */
const whileFinding = (change: (floor: FloorState) => Partial<FloorState>) =>
  updateFloor((floor) => (floor.isFinding ? { ...floor, ...change(floor) } : floor));
const KEEP = () => ({ isFinding: false });
const FORGET = () => ({ isFinding: false, find: '' });

type Press = (pressed: Pressed<'floor'>) => ReturnType<Screen<'floor'>['press']>;

const idsOf = ({ state, screen }: Pressed<'floor'>) =>
  visibleRows(officeShown(state), screen).map(({ runId }) => runId);

const move =
  (by: (pressed: Pressed<'floor'>) => number): Press =>
  (pressed) =>
    set({ chosen: moveChoice(idsOf(pressed), pressed.screen.chosen, by(pressed)) });

const rowOf = ({ state, screen }: Pressed<'floor'>) => chosenRow(visibleRows(officeShown(state), screen), screen);

/** Of the chosen team; without one, of the chosen run's. */
const openToday: Press = (pressed) => {
  const { state, screen } = pressed;
  const office = officeShown(state);
  const row = rowOf(pressed);
  const teamId = screen.teamId ?? (row === undefined ? office.teams[0]?.id : (row.teamId ?? UNASSIGNED_TEAM_ID));
  const team = office.teams.find(({ id }) => id === teamId);
  return team === undefined ? undefined : { type: 'open', screen: today(team.id, team.name) };
};

const PRESSES: Readonly<Record<string, Press>> = {
  ...moveKeys(move, ({ size }) => Math.max(1, size.rows - 10)),
  '/': () => set({ isFinding: true }),
  t: ({ screen: { teamId } }) => set({ picker: { find: '', chosen: { id: teamId ?? '', index: 0 } } }),
  s: ({ screen }) => set({ status: nextOf(STATUS_FILTERS, screen.status), chosen: FIRST }),
  o: ({ screen }) => set({ order: nextOf(ORDERS, screen.order), isReversed: false }),
  O: ({ screen }) => set({ order: nextOf(ORDERS, screen.order, -1), isReversed: false }),
  r: ({ screen }) => set({ isReversed: !screen.isReversed }),
  escape: () => set({ find: '', teamId: null, status: 'all' }),
  T: openToday,
  enter: (pressed) => {
    const row = rowOf(pressed);
    return row && { type: 'open', screen: desk(row.sessionId) };
  },
  y: (pressed) => {
    const row = rowOf(pressed);
    return row && { type: 'copy', what: 'session', text: row.sessionId };
  },
};

export const floorScreen: Screen<'floor'> = {
  Component: Floor,
  press: (pressed) => PRESSES[pressed.key]?.(pressed),
  type: ({ name, text }, state) => {
    const screen = state.screens.at(-1);
    if (screen?.name === 'floor' && screen.picker !== null) return picking(screen.picker, { name, text }, state);
    if (name === 'enter') return whileFinding(KEEP);
    if (name === 'escape') return whileFinding(FORGET);
    return whileFinding(({ find }) => ({ find: name === 'erase' ? find.slice(0, -1) : find + text, chosen: FIRST }));
  },
  help: [
    ['↑ ↓  j k', 'choose a run; g and G: the first and the last'],
    ['Enter', 'open the session'],
    ['/', 'find by title, person, team, activity or id'],
    ['t', 'choose a team: type to find it'],
    ['s', 'only one status, then the next'],
    ['o  O  r', 'order by the next column, the one before; turn it round'],
    ['T', "today's runs of the team"],
    ['y', 'copy the id of the session'],
    ['Esc', 'show everything'],
  ],
};
