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
import { teamsInOrder } from '../state/teams.ts';
import { indexOfChoice, moveChoice, visibleRows } from '../state/visible.ts';
import { floorFrame } from './floor-frame.ts';

function Floor({ state, screen, size, theme, dispatch }: ScreenProps<'floor'>) {
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

function chosenRow({ state, screen }: Pressed<'floor'>) {
  const rows = visibleRows(officeShown(state), screen);
  return rows[
    indexOfChoice(
      rows.map(({ runId }) => runId),
      screen.chosen,
    )
  ];
}

/** All, then each team in turn, then all again. */
const nextTeam: Press = ({ state, screen }) => {
  const ids = [null, ...teamsInOrder(officeShown(state)).map(({ id }) => id)];
  return set({ teamId: nextOf(ids, screen.teamId), chosen: FIRST });
};

/** Of the chosen team; without one, of the chosen run's. */
const openToday: Press = (pressed) => {
  const { state, screen } = pressed;
  const office = officeShown(state);
  const row = chosenRow(pressed);
  const teamId = screen.teamId ?? (row === undefined ? office.teams[0]?.id : (row.teamId ?? UNASSIGNED_TEAM_ID));
  const team = office.teams.find(({ id }) => id === teamId);
  return team === undefined ? undefined : { type: 'open', screen: today(team.id, team.name) };
};

const PRESSES: Readonly<Record<string, Press>> = {
  ...moveKeys(move, ({ size }) => Math.max(1, size.rows - 10)),
  '/': () => set({ isFinding: true }),
  t: nextTeam,
  s: ({ screen }) => set({ status: nextOf(STATUS_FILTERS, screen.status), chosen: FIRST }),
  o: ({ screen }) => set({ order: nextOf(ORDERS, screen.order) }),
  escape: () => set({ find: '', teamId: null, status: 'all' }),
  T: openToday,
  enter: (pressed) => {
    const row = chosenRow(pressed);
    return row && { type: 'open', screen: desk(row.sessionId) };
  },
  y: (pressed) => {
    const row = chosenRow(pressed);
    return row && { type: 'copy', what: 'session', text: row.sessionId };
  },
};

export const floorScreen: Screen<'floor'> = {
  Component: Floor,
  press: (pressed) => PRESSES[pressed.key]?.(pressed),
  type: ({ name, text }) => {
    if (name === 'enter') return whileFinding(KEEP);
    if (name === 'escape') return whileFinding(FORGET);
    return whileFinding(({ find }) => ({ find: find + text, chosen: FIRST }));
  },
  help: [
    ['↑ ↓  j k', 'choose a run; g and G: the first and the last'],
    ['Enter', 'open the session'],
    ['/', 'find by title, person, team, activity or id'],
    ['t', 'only one team, then the next'],
    ['s', 'only one status, then the next'],
    ['o', 'order: newest, longest, cost, tokens'],
    ['T', "today's runs of the team"],
    ['y', 'copy the id of the session'],
    ['Esc', 'show everything'],
  ],
};
