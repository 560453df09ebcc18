// The floor: every run of the office as a row, with the teams above. Its view and its keys.
import { FIRST } from '../../tui/state/desk-state.ts';
import { type FloorState, nextOf, type Order, ORDERS, STATUS_FILTERS } from '../../tui/state/screens.ts';
import { type Action, type AppState, type Dispatch, officeShown } from '../../tui/state/state.ts';
import { indexOfChoice, moveChoice, visibleRows } from '../../tui/state/visible.ts';
import { h } from '../page/element.ts';
import type { ScreenView } from '../page/screen-view.ts';
import { type Filters, filtersView } from './filters.ts';
import { type Runs, runsView } from './runs.ts';
import { teamsView } from './teams.ts';

export interface FloorParts {
  readonly addressOf: (sessionId: string) => string;
  readonly act: Dispatch;
  readonly redraw: () => void;
  readonly open: (sessionId: string) => void;
  readonly copy: (text: string) => void;
}

export interface FloorView extends ScreenView<FloorState> {
  /** The state as if its user had come to the rows that are in sight: more are read then. */
  readonly reached: (state: AppState) => AppState;
}

export function floorView({ addressOf, act, redraw, open, copy }: FloorParts): FloorView {
  const set = (over: Partial<FloorState>) =>
    act({ type: 'update', name: 'floor', update: (floor) => ({ ...floor, ...over }) });
  const teams = teamsView(redraw);
  const runs = runsView(addressOf, redraw);
  const filters = filtersView(
    (over) => set({ ...over, chosen: FIRST }),
    () => runs.focus(),
  );
  const element = h(
    'div',
    { class: 'floor' },
    h('h1', { class: 'unseen' }, 'Floor'),
    teams.element,
    filters.element,
    runs.element,
  );

  listen(element, act, open);

  const presses = makePresses({ set, open, copy, runs, filters });
  let isBack = false;
  let scrolledTo = 0;
  const scrolled = () => {
    if (element.isConnected && !isBack) scrolledTo = scrollY;
  };
  addEventListener('scroll', scrolled, { passive: true });

  return {
    element,
    close() {
      removeEventListener('scroll', scrolled);
      runs.close();
    },
    left() {
      // What took its place may be shorter already: the last place is that of the last drawing.
      isBack = true;
    },
    enter: () => undefined,
    press: (key, state, floor) => {
      const press = presses[key];
      press?.(state, floor);
      return press !== undefined;
    },
    draw(state, floor) {
      const office = officeShown(state);
      teams.draw(office, floor.teamId);
      filters.draw(office, floor);
      runs.draw(state, floor);
      if (isBack) {
        scrollTo(0, scrolledTo);
        runs.focus(floor.chosen.id);
      }
      isBack = false;
    },
    reached: (state) => {
      if (!runs.isEndSeen()) return state;
      const last = { id: null, index: Number.MAX_SAFE_INTEGER };
      const screens = state.screens.map((screen) => (screen.name === 'floor' ? { ...screen, chosen: last } : screen));
      return { ...state, screens };
    },
  };
}

/** Clicks on what is below, and the row that its user comes to in any way: it is chosen then. */
function listen(element: HTMLElement, act: Dispatch, open: (sessionId: string) => void): void {
  element.addEventListener('click', (event) => {
    const at = event.target as Element;
    const order = at.closest('[data-order]')?.getAttribute('data-order');
    const team = at.closest('[data-team]');
    const row = at.closest('[data-row]');
    if (order != null) {
      act(updateFloor((floor) => orderedBy(order as Order, floor)));
    } else if (team !== null) {
      const id = team.getAttribute('data-team');
      act(updateFloor((floor) => ({ teamId: floor.teamId === id ? null : id, chosen: FIRST })));
    } else if (row !== null && at.closest('a') === null && getSelection()?.isCollapsed !== false) {
      open(row.getAttribute('data-session') ?? '');
    }
  });
  element.addEventListener('focusin', (event) => {
    const row = (event.target as Element).closest('[data-row]');
    const id = row?.getAttribute('data-row');
    if (row == null || id == null) return;
    const index = [...(row.parentElement?.children ?? [])].indexOf(row);
    act(updateFloor(({ chosen }) => ({ chosen: chosen.id === id ? chosen : { id, index } })));
  });
}

interface PressParts extends Pick<FloorParts, 'open' | 'copy'> {
  readonly set: (over: Partial<FloorState>) => void;
  readonly runs: Runs;
  readonly filters: Filters;
}

/** What keys do. */
function makePresses({ set, open, copy, runs, filters }: PressParts) {
  const move = (by: number) => (state: AppState, floor: FloorState) => {
    const ids = visibleRows(officeShown(state), floor).map(({ runId }) => runId);
    const chosen =
      floor.chosen.id === null && by === 1 ? { id: ids[0] ?? null, index: 0 } : moveChoice(ids, floor.chosen, by);
    set({ chosen });
    runs.focus(chosen.id);
  };

  const presses: Readonly<Record<string, (state: AppState, floor: FloorState) => void>> = {
    up: move(-1),
    down: move(1),
    first: move(Number.MIN_SAFE_INTEGER),
    last: move(Number.MAX_SAFE_INTEGER),
    '/': () => filters.focusFind(),
    t: () => filters.pickTeam(),
    s: (_state, { status }) => set({ status: nextOf(STATUS_FILTERS, status), chosen: FIRST }),
    o: (_state, { order }) => set({ order: nextOf(ORDERS, order), isReversed: false }),
    O: (_state, { order }) => set({ order: nextOf(ORDERS, order, -1), isReversed: false }),
    r: (_state, { isReversed }) => set({ isReversed: !isReversed }),
    escape: () => {
      (document.activeElement as HTMLElement | null)?.blur();
      set({ find: '', teamId: null, status: 'all', chosen: FIRST });
    },
    enter: (state, floor) => {
      const row = chosenRow(state, floor);
      if (row !== undefined) open(row.sessionId);
    },
    y: (state, floor) => {
      const row = chosenRow(state, floor);
      if (row !== undefined) copy(row.sessionId);
    },
  };
  return presses;
}

const updateFloor = (change: (floor: FloorState) => Partial<FloorState>): Action => ({
  type: 'update',
  name: 'floor',
  update: (floor) => ({ ...floor, ...change(floor) }),
});

/** By a column; once more: the other way round. */
const orderedBy = (order: Order, floor: FloorState): Partial<FloorState> =>
  floor.order === order ? { isReversed: !floor.isReversed } : { order, isReversed: false };

function chosenRow(state: AppState, floor: FloorState) {
  const rows = visibleRows(officeShown(state), floor);
  return rows[
    indexOfChoice(
      rows.map(({ runId }) => runId),
      floor.chosen,
    )
  ];
}
