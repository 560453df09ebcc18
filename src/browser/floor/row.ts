// One run as a row of the table, or as a card on a narrow screen.
import { compact } from '../../domain/figures.ts';
import { money } from '../../terminal/money.ts';
import { doingOf, hasChanged, isNew, timeOf } from '../../tui/state/doing.ts';
import { isLive, type Row } from '../../tui/state/office.ts';
import type { Order } from '../../tui/state/order.ts';
import { runStyleOf } from '../../tui/state/run-style.ts';
import { h, setAttribute, setClass, setText } from '../page/element.ts';
import { glyphView } from '../page/glyph.ts';
import { bar } from '../page/graph.ts';
import type { ItemView } from '../page/keyed.ts';
import { safeLine } from '../page/safe-text.ts';

/** What a row is drawn for: this machine's clock, the daemon's, and what is chosen. */
export interface RowContext {
  readonly now: number;
  readonly daemonNow: number;
  readonly chosenId: string | undefined;
  readonly hasNodes: boolean;
}

export interface Column {
  readonly name: string;
  readonly title: string;
  /** The order that belongs to it. */
  readonly order?: Order;
}

export const COLUMNS: readonly Column[] = [
  { name: 'status', title: 'Status', order: 'status' },
  { name: 'progress', title: 'Progress', order: 'progress' },
  { name: 'title', title: 'Title', order: 'title' },
  { name: 'who', title: 'Who', order: 'who' },
  { name: 'team', title: 'Team', order: 'team' },
  { name: 'node', title: 'Node' },
  { name: 'time', title: 'Time', order: 'longest' },
  { name: 'tokens', title: 'Tokens', order: 'tokens' },
  { name: 'cost', title: 'Cost', order: 'cost' },
  { name: 'now', title: 'Now' },
];

/** The elements of a row that change. */
function makeParts(address: string) {
  const [glyph, word] = [glyphView(), h('span', { class: 'word' })];
  const [progress, percent] = [bar(), h('span', { class: 'percent' })];
  const title = h('bdi');
  const link = h('a', { href: address }, title);
  const [who, team, node] = [h('bdi'), h('bdi'), h('bdi')];
  const [time, tokens, cost] = [h('span'), h('span'), h('span')];
  const [now, after] = [h('bdi'), h('span', { class: 'after' })];
  const doing = h('span', {}, now);
  const contents: Readonly<Record<string, readonly Node[]>> = {
    status: [glyph, word],
    progress: [progress.element, percent],
    title: [link],
    who: [who],
    team: [team],
    node: [node],
    time: [time],
    tokens: [tokens],
    cost: [cost],
    now: [doing, after],
  };
  const cells = COLUMNS.map(({ name }) => h('td', { class: name, role: 'cell' }, ...(contents[name] ?? [])));
  return { cells, glyph, word, progress, percent, title, link, who, team, node, time, tokens, cost, now, after, doing };
}

/** Makes the row of a run; `addressOf` leads to its desk, `context` is asked for at each drawing. */
export function rowView(
  { runId, sessionId }: Row,
  addressOf: (sessionId: string) => string,
  context: () => RowContext,
): ItemView<Row> {
  const { cells, ...parts } = makeParts(addressOf(sessionId));
  const element = h('tr', { role: 'row', 'data-row': runId, 'data-session': sessionId }, ...cells);
  let drawn: Row | undefined;
  let drawnFor = '';
  let isOutOfSight = false;

  const draw = (row: Row) => {
    const { now: at, daemonNow, chosenId, hasNodes } = context();
    const live = isLive(row);
    // Of what is over, only how long ago that was changes, by minutes; nobody sees the clocks of rows that are out of sight.
    const moment = live ? Math.floor(daemonNow / 1000) : Math.floor(daemonNow / 10_000);
    const marks = `${isNew(row, at) ? ' fresh' : ''}${hasChanged(row, at) ? ' changed' : ''}${live ? '' : ' over'}`;
    const drawingFor = `${isOutOfSight ? '' : `${moment}${marks}`} ${row.runId === chosenId} ${hasNodes}`;
    if (row === drawn && drawingFor === drawnFor) return;
    [drawn, drawnFor] = [row, drawingFor];
    const style = runStyleOf(row);
    const { text, after, role, isTail } = doingOf(row, daemonNow);
    setClass(element, `run-${style.role}${marks}${row.runId === chosenId ? ' chosen' : ''}`);
    setText(parts.glyph, style.glyph);
    setText(parts.word, style.word);
    if (live) parts.progress.draw(row.progress / 100, style.role);
    setText(parts.percent, row.status === 'running' ? `${row.progress}%` : '');
    setText(parts.title, safeLine(row.title));
    setText(parts.who, safeLine(row.fullName || row.username));
    setText(parts.team, safeLine(row.teamName ?? '–'));
    setText(parts.node, hasNodes ? safeLine(row.node ?? '–') : '');
    setText(parts.time, timeOf(row, daemonNow));
    setText(parts.tokens, compact(row.tokens));
    setText(parts.cost, money(row.cost));
    setText(parts.now, isTail ? tailOf(text) : safeLine(text));
    setText(parts.after, after);
    setClass(parts.doing, `is-${role}${isTail ? ' tail' : ''}`);
    setAttribute(parts.link, 'aria-current', row.runId === chosenId ? 'true' : undefined);
  };
  element.addEventListener('contentvisibilityautostatechange', (event) => {
    isOutOfSight = (event as ContentVisibilityAutoStateChangeEvent).skipped;
    if (!isOutOfSight && drawn !== undefined) draw(drawn);
  });
  return { element, draw };
}

/** Of what is written, its end matters. */
const MOST_OF_A_TAIL = 240;
const tailOf = (text: string) => safeLine(text.slice(-MOST_OF_A_TAIL).toWellFormed());
