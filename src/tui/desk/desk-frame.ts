// The desk's lines: which session, its tabs, and what the chosen one has in sight.
import { exactly, frameOf, type KeyHint, type Size } from '../frame/frame.ts';
import type { DeskState } from '../state/desk-state.ts';
import { isLive, type Row } from '../state/house.ts';
import { lookOf } from '../state/looks.ts';
import { type AppState, houseShown } from '../state/state.ts';
import { standingOf } from '../state/connection.ts';
import { money, short, span as spanOf } from '../text/figures.ts';
import { cell, EMPTY, type Line, lineOf, type Span, span, widthOfSpans } from '../text/line.ts';
import { tabOf, TABS } from './tabs.ts';
import { type Items, type View, viewOf } from './viewport.ts';

const HINTS: readonly KeyHint[] = [
  ['↑↓', 'scroll'],
  ['1-7', 'tabs'],
  ['⏎', 'unfold'],
  ['G', 'newest'],
  ['Esc', 'back'],
  ['q', 'quit'],
];
const FILE_HINTS: readonly KeyHint[] = [
  ['↑↓', 'choose'],
  ['d', 'download'],
  ['1-7', 'tabs'],
  ['Esc', 'back'],
];

/** From here on, the tabs have air around them. */
const ROOMY_ROWS = 20;
const ROOMY_COLUMNS = 100;
const MARGIN = 1;

/** Columns and rows of what a tab shows. */
export function roomOf({ columns, rows }: Size): Size {
  const isRoomy = rows >= 24;
  const inner = rows - (isRoomy ? 4 : 3);
  return { columns: columns - 2 * MARGIN, rows: Math.max(1, inner - (inner >= ROOMY_ROWS ? 3 : 2)) };
}

export function itemsOf(screen: DeskState, size: Size): Items {
  return tabOf(screen.tab).items(screen, screen.readings[screen.tab]?.data, roomOf(size).columns);
}

export function viewOfDesk(screen: DeskState, size: Size): View {
  return viewOf(itemsOf(screen, size), screen.places[screen.tab], roomOf(size).rows);
}

export function deskFrame(state: AppState, screen: DeskState, size: Size): readonly Line[] {
  const body = ({ columns, rows }: Size): readonly Line[] => {
    const view = viewOfDesk(screen, size);
    const lines = view.lines.length === 0 ? [emptyLine(screen, columns)] : view.lines;
    return exactly(
      [
        titleLine(state, screen, columns),
        tabLine(screen, view, columns),
        ...(rows >= ROOMY_ROWS ? [EMPTY] : []),
        ...lines.map(({ spans, ...line }) => ({ ...line, spans: [span(' '), ...spans] })),
      ],
      rows,
    );
  };
  return frameOf(state, size, body, screen.tab === 'files' ? FILE_HINTS : HINTS);
}

/** Nothing to show: says why. */
function emptyLine({ tab, readings, stream }: DeskState, width: number): Line {
  const reading = readings[tab];
  const needsReading = tabOf(tab).read !== undefined;
  const failure = needsReading ? (reading?.failure ?? null) : stream.failure;
  if (failure !== null) return { spans: [cell(` ${failure.message}`, width - 2, 'failed')] };
  const isReading = needsReading ? reading === undefined : stream.kind === 'connecting';
  return { spans: [cell(isReading ? ' Reading…' : ' Nothing yet.', width - 2, 'dim')] };
}

function titleLine(state: AppState, screen: DeskState, width: number): Line {
  const { sessionId } = screen;
  const house = houseShown(state);
  const rows = [...house.rows.values()].filter((row) => row.sessionId === sessionId && row.title !== '');
  const row = rows.find(isLive) ?? rows[0];
  const right = [...(row === undefined ? [] : figures(row, state.now + house.skewMs)), standing(screen, state)];
  const room = width - widthOfSpans(right) - 5;
  if (row === undefined)
    return lineOf([span('  '), cell(`Session ${sessionId}`, Math.max(10, room), 'strong')], right, width);
  const { glyph, role } = lookOf(row);
  const who = `  ${row.fullName || row.username}${row.teamName === null ? '' : ` · ${row.teamName}`}`;
  const title = Math.max(10, Math.min(room - 2, row.title.length * 2));
  return lineOf([span(`${glyph} `, role), ...titled(row.title, who, title)], right, width);
}

/** The title whole where it fits, and as much of who it is as fits behind it. */
function titled(title: string, who: string, room: number): readonly Span[] {
  const own = cell(title, room, 'strong');
  const trimmed = own.text.trimEnd();
  const rest = room - widthOfSpans([span(trimmed)]);
  return rest < 8 ? [own] : [span(trimmed, 'strong'), cell(who, rest, 'dim')];
}

function figures({ startedAt, finishedAt, tokens, cost }: Row, now: number): readonly Span[] {
  const time = startedAt === null ? '' : `${spanOf((finishedAt ?? now) - startedAt)}  `;
  return [span(`${time}${short(tokens)}  `, 'dim'), span(`${money(cost)}  `, 'money')];
}

function standing({ stream: { kind, failure }, log }: DeskState, { connection, now }: AppState): Span {
  if (kind === 'deleted') return span(log.events.length > 0 ? '✗ deleted ' : '✗ not there ', 'failed');
  if (!log.isAtEnd) return span('◌ the past ', 'waiting');
  if (kind === 'live') return span('● live ', 'running');
  const { glyph, text, role } = standingOf(
    { ...connection, stream: 'connecting', streamFailure: failure, readFailure: null, retryAt: null, askedAt: null },
    now,
  );
  return span(`${glyph} ${text} `, role);
}

function tabLine(screen: DeskState, view: View, width: number): Line {
  const spansOf = (name: 'title' | 'shortTitle') => [
    span(' '),
    ...TABS.flatMap((tab, at): Span[] => {
      const isChosen = tab.name === screen.tab;
      const gap = at > 0 && name === 'title' && width >= ROOMY_COLUMNS ? '  ' : ' ';
      return [span(`${gap}${at + 1} `, isChosen ? 'accent' : 'faint'), span(tab[name], isChosen ? 'strong' : 'dim')];
    }),
  ];
  const long = spansOf('title');
  const isBack = screen.places[screen.tab] !== undefined && !view.isAtEnd;
  const right = isBack && itemsAreGrowing(screen) ? [span('↓ G: newest ', 'waiting')] : [];
  return lineOf(widthOfSpans(long) + 14 <= width ? long : spansOf('shortTitle'), right, width);
}

const itemsAreGrowing = ({ tab }: DeskState) => tab === 'live' || tab === 'events' || tab === 'messages';
