// What the floor is narrowed by, as fields; each has its key, too.
import type { FloorState } from '../../tui/state/screens.ts';
import { ORDERS, STATUS_FILTERS } from '../../tui/state/screens.ts';
import { ORDER_WORDS } from '../../tui/state/floor-words.ts';
import type { Office } from '../../tui/state/office.ts';
import { runStyleOf } from '../../tui/state/run-style.ts';
import { teamsInOrder } from '../../tui/state/teams.ts';
import { h, setShown } from '../page/element.ts';
import { redrawOn } from '../page/keyed.ts';
import { safeLine } from '../page/safe-text.ts';

export interface Filters {
  readonly element: HTMLElement;
  readonly draw: (office: Office, floor: FloorState) => void;
  readonly focusFind: () => void;
  /** Opens the list of teams. */
  readonly pickTeam: () => void;
}

/** `change` is called with what its user has chosen, `done` when they have found what they typed. */
export function filtersView(change: (over: Partial<FloorState>) => void, done: () => void): Filters {
  const find = h('input', { type: 'search', id: 'find', autocomplete: 'off', spellcheck: 'false', maxlength: '200' });
  const team = h('select', { id: 'team' });
  const status = h('select', { id: 'status' }, ...STATUS_FILTERS.map((value) => h('option', { value }, wordOf(value))));
  const order = h('select', { id: 'order' }, ...ORDERS.map((value) => h('option', { value }, ORDER_WORDS[value])));
  const all = h('button', { type: 'button', class: 'quiet' }, 'Show everything');
  const element = h(
    'form',
    { class: 'filters', role: 'search', 'aria-label': 'Runs' },
    field('Find', find),
    field('Team', team),
    field('Status', status),
    field('Order', order),
    all,
  );
  find.addEventListener('input', () => change({ find: find.value }));
  team.addEventListener('change', () => change({ teamId: team.value === '' ? null : team.value }));
  status.addEventListener('change', () => change({ status: status.value as FloorState['status'] }));
  order.addEventListener('change', () => change({ order: order.value as FloorState['order'], isReversed: false }));
  all.addEventListener('click', () => change({ find: '', teamId: null, status: 'all' }));
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    done();
  });
  const drawTeams = redrawOn(team);

  return {
    element,
    pickTeam() {
      team.focus();
      try {
        team.showPicker();
      } catch {
        // Not every browser has it: the field has the focus, and takes keys.
      }
    },
    focusFind() {
      find.focus();
      find.select();
    },
    draw(office, floor) {
      const teams = teamsInOrder(office);
      drawTeams(`${teams.map(({ id, name }) => `${id} ${name}`).join('\n')}\n${floor.teamId ?? ''}`, () => {
        const isKnown = floor.teamId === null || teams.some(({ id }) => id === floor.teamId);
        return [
          h('option', { value: '' }, 'all teams'),
          ...teams.map(({ id, name }) => h('option', { value: id }, safeLine(name, 60))),
          ...(isKnown ? [] : [h('option', { value: floor.teamId ?? '' }, safeLine(floor.teamId ?? '', 60))]),
        ];
      });
      if (document.activeElement !== find && find.value !== floor.find) find.value = floor.find;
      if (team.value !== (floor.teamId ?? '')) team.value = floor.teamId ?? '';
      if (status.value !== floor.status) status.value = floor.status;
      if (order.value !== floor.order) order.value = floor.order;
      setShown(all, floor.find !== '' || floor.teamId !== null || floor.status !== 'all');
    },
  };
}

const wordOf = (status: FloorState['status']) => (status === 'all' ? 'all' : runStyleOf({ status }).word);

function field(name: string, control: HTMLElement): HTMLElement {
  return h('div', { class: 'field' }, h('label', { for: control.id }, name), control);
}
