// The table of runs: those that match, in their order, as many as have been looked at.
import { emptyText, ORDER_WORDS } from '../../tui/state/floor-words.ts';
import { hasNodes, isLive, type Row } from '../../tui/state/office.ts';
import { ORDER_FACTS } from '../../tui/state/order.ts';
import { runStyleOf } from '../../tui/state/run-style.ts';
import type { FloorState } from '../../tui/state/screens.ts';
import { type AppState, officeShown } from '../../tui/state/state.ts';
import { indexOfChoice, liveCount, visibleRows } from '../../tui/state/visible.ts';
import { h, setAttribute, setClass, setShown, setText } from '../page/element.ts';
import { keyedList } from '../page/keyed.ts';
import { safeLine } from '../page/safe-text.ts';
import { COLUMNS, type RowContext, rowView } from './row.ts';

/** Rows that are drawn at first, and more each time their end is come to. */
const PAGE = 500;

export interface Runs {
  readonly element: HTMLElement;
  readonly draw: (state: AppState, floor: FloorState) => void;
  /** Moves the focus to the row of a run, if it is drawn; without one, to the first row. */
  readonly focus: (runId?: string | null) => void;
  /** Whether the end of the rows is in sight. */
  readonly isEndSeen: () => boolean;
  readonly close: () => void;
}

function makeParts() {
  const caption = h('h2', { id: 'runs' });
  const count = h('p', { class: 'count' });
  const headings = COLUMNS.map(({ name, title, order }) =>
    h(
      'th',
      { class: name, role: 'columnheader', scope: 'col' },
      order === undefined ? title : h('button', { type: 'button', 'data-order': order }, title),
    ),
  );
  const body = h('tbody', { role: 'rowgroup' });
  const table = h(
    'table',
    { class: 'runs', role: 'table', 'aria-labelledby': 'runs' },
    h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, ...headings)),
    body,
  );
  const [empty, end] = [h('p', { class: 'empty dim' }), h('div', { class: 'end' })];
  const line = h('div', { class: 'line' }, caption, count);
  const element = h('section', { 'aria-labelledby': 'runs' }, line, table, empty, end);
  return { element, caption, count, headings, body, table, empty, end };
}

export function runsView(addressOf: (sessionId: string) => string, redraw: () => void): Runs {
  const { element, caption, count, headings, body, table, empty, end } = makeParts();
  let context: RowContext = { now: 0, daemonNow: 0, chosenId: undefined, hasNodes: false };
  let shown = PAGE;
  let total = 0;
  let isEndSeen = false;
  const list = keyedList<Row>(
    body,
    ({ runId }) => runId,
    (row) => rowView(row, addressOf, () => context),
  );
  const observer = new IntersectionObserver((entries) => {
    isEndSeen = entries.at(-1)?.isIntersecting === true;
    if (!isEndSeen || shown >= total) return;
    shown += PAGE;
    redraw();
  });
  observer.observe(end);

  return {
    element,
    isEndSeen: () => isEndSeen,
    close: () => observer.disconnect(),
    focus(runId) {
      const row = runId === undefined ? body.firstElementChild : list.elementOf(runId ?? '');
      row?.querySelector('a')?.focus();
    },
    draw(state, floor) {
      const office = officeShown(state);
      const rows = visibleRows(office, floor);
      total = rows.length;
      shown = Math.max(PAGE, Math.min(shown, Math.ceil(total / PAGE) * PAGE));
      const ids = rows.map(({ runId }) => runId);
      const chosen = indexOfChoice(ids, floor.chosen);
      const chosenId = floor.chosen.id === null ? undefined : rows[chosen]?.runId;
      context = {
        now: state.now,
        daemonNow: state.now + office.skewMs,
        chosenId,
        hasNodes: hasNodes(office),
      };
      list.draw(rows.slice(0, shown));
      setClass(table, hasNodes(office) ? 'runs with-nodes' : 'runs');
      setShown(table, rows.length > 0);
      setText(empty, rows.length === 0 ? safeLine(emptyText(state, floor)) : '');
      setText(caption, captionOf(state, floor));
      setText(count, countOf(state, rows, floor.chosen.id === null ? null : chosen));
      headings.forEach((heading, at) => {
        setAttribute(heading, 'aria-sort', COLUMNS[at]?.order === floor.order ? directionOf(floor) : undefined);
      });
    },
  };
}

const directionOf = ({ order, isReversed }: FloorState) =>
  ORDER_FACTS[order].falls === isReversed ? 'ascending' : 'descending';

/** Which runs are listed, and in which order. */
function captionOf(state: AppState, { teamId, status, order, isReversed, find }: FloorState): string {
  const parts = [
    officeShown(state).teams.find(({ id }) => id === teamId)?.name,
    status === 'all' ? undefined : runStyleOf({ status }).word,
    find === '' ? undefined : `/${find}`,
  ].filter((part) => part !== undefined);
  return safeLine(
    `${parts.length === 0 ? 'All runs' : parts.join(' · ')} · ${ORDER_WORDS[order]}${isReversed ? ', reversed' : ''}`,
  );
}

/** The place of the chosen one, how many there are, and of how many. */
function countOf(state: AppState, rows: readonly Row[], chosen: number | null): string {
  const office = officeShown(state);
  // Runs of which only the ids are known have no row yet.
  const known = [...office.rows.values()].filter(({ title }) => title !== '');
  const live = known.filter(isLive).length;
  const total = known.length - live + Math.max(live, office.isFull ? liveCount(office) : 0);
  return `${chosen === null ? '' : `${chosen + 1}/`}${rows.length}${rows.length < total ? ` of ${total}` : ''}`;
}
