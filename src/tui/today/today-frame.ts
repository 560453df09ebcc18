// Today's runs of a team as lines.
import type { TodayItemWire } from '../../client/office.ts';
import { compact } from '../../domain/figures.ts';
import { stopwatch } from '../../terminal/durations.ts';
import { clockOf } from '../../terminal/moments.ts';
import { money } from '../../terminal/money.ts';
import { frameOf, type KeyHint, type Size } from '../frame/frame.ts';
import { runStyleOf } from '../state/run-style.ts';
import type { TodayState } from '../state/screens.ts';
import type { AppState } from '../state/state.ts';
import { indexOfChoice, windowStart } from '../state/visible.ts';
import { cell, EMPTY, type Line, lineOf, type Role, span } from '../text/line.ts';
import { type Column, layOut } from '../text/table.ts';

const HINTS: readonly KeyHint[] = [
  ['↑↓', 'move'],
  ['⏎', 'open'],
  ['← →', 'page'],
  ['s', 'source'],
  ['Esc', 'back'],
  ['q', 'quit'],
];

/** How many rows a page has. */
export const PAGE_LIMIT = 50;

/** Lines for the whole screen. */
export function todayFrame(state: AppState, screen: TodayState, size: Size): readonly Line[] {
  return frameOf(state, size, (inner) => body(state, screen, inner), HINTS);
}

function body(state: AppState, screen: TodayState, { columns, rows }: Size): readonly Line[] {
  return [...titles(screen, columns), EMPTY, ...table(state, screen, columns, rows - 2)];
}

const SOURCES = { normal_session: 'conversations', scheduled_task: 'scheduled tasks' } as const;

function titles({ teamName, source, runs, page }: TodayState, width: number): readonly Line[] {
  const left = [
    span('  '),
    cell(teamName, Math.min(teamName.length, Math.floor(width / 3)), 'strong'),
    span('  today', 'dim'),
    ...(source === null ? [] : [span(` · ${SOURCES[source]}`, 'accent')]),
  ];
  if (runs === null) return [lineOf(left, [], width)];
  const pages = Math.max(1, Math.ceil(runs.item_total / runs.limit));
  const right = [
    span(`${compact(runs.total)} active`, 'dim'),
    span(` · ${compact(runs.item_total)} with runs`, 'dim'),
    span(pages === 1 ? ' ' : ` · page ${page} of ${pages} `, 'dim'),
  ];
  return [lineOf(left, right, width)];
}

function table(
  { now, preferences, office }: AppState,
  screen: TodayState,
  width: number,
  height: number,
): readonly Line[] {
  const { runs, failure, chosen } = screen;
  const message = (text: string, role: Role): readonly Line[] => [{ spans: [span('  '), cell(text, width - 2, role)] }];
  if (failure !== null && runs === null) return message(failure.message, 'failed');
  if (runs === null) return message('Reading…', 'dim');
  if (runs.items.length === 0) return message('No runs today.', 'dim');
  const { heading, row } = layOut(columnsFor(now + office.skewMs, preferences.tz), width - 3);
  const at = indexOfChoice(
    runs.items.map(({ id }) => id),
    chosen,
  );
  const start = windowStart(runs.items.length, at, height - 1);
  return [
    { spans: [span('  '), ...heading.spans] },
    ...runs.items.slice(start, start + height - 1).map((item, offset): Line => {
      const selected = start + offset === at;
      return { spans: [span(selected ? '❯ ' : '  ', 'accent'), ...row(item), span(' ')], selected };
    }),
  ];
}

function columnsFor(now: number, tz: string): readonly Column<TodayItemWire>[] {
  const elapsed = ({ started_at: from, finished_at: to }: TodayItemWire) =>
    from === null ? '' : stopwatch((to === null ? now : Date.parse(to)) - Date.parse(from));
  const look = ({ status }: TodayItemWire) => runStyleOf({ status });
  return [
    { title: '', width: 1, worth: 100, cell: (item) => span(look(item).glyph, look(item).role) },
    { title: 'STATUS', width: 9, worth: 10, isLuxury: true, cell: (item) => span(look(item).word, look(item).role) },
    {
      title: 'BEGAN',
      width: 5,
      worth: 60,
      cell: ({ started_at: at }) => span(at === null ? '' : clockOf(Date.parse(at), tz, false), 'dim'),
    },
    { title: 'TITLE', width: 18, ample: 30, most: 60, worth: 99, cell: title },
    { title: 'WHO', width: 10, most: 20, worth: 70, cell: ({ full_name: full, username }) => span(full || username) },
    {
      title: 'SOURCE',
      width: 9,
      worth: 20,
      cell: ({ source_type: type }) => span(type === 'scheduled_task' ? 'scheduled' : '', 'accent'),
    },
    { title: 'TIME', width: 7, worth: 80, align: 'end', cell: (item) => span(elapsed(item), 'dim') },
    {
      title: 'TOKENS',
      width: 6,
      worth: 50,
      align: 'end',
      cell: ({ total_tokens: count }) => span(compact(count), 'dim'),
    },
    {
      title: 'COST',
      width: 7,
      worth: 75,
      align: 'end',
      cell: ({ total_cost_usd: cost }) => span(money(cost), 'money'),
    },
    {
      title: 'NOW',
      width: 12,
      most: 500,
      worth: 30,
      cell: ({ detail, last_error: error }) => span(error ?? detail ?? '', error === null ? 'plain' : 'failed'),
    },
  ];
}

function title({ title: text, is_deleted: isDeleted }: TodayItemWire) {
  return isDeleted ? [span('deleted ', 'failed'), cell(text, 200, 'dim')] : span(text);
}
