// The desk's lines: which session, its tabs, and what the chosen one has in sight.
import { compact } from '../../domain/figures.ts';
import { stopwatch } from '../../terminal/durations.ts';
import { money } from '../../terminal/money.ts';
import { exactly, frameOf, type KeyHint, type Size } from '../frame/frame.ts';
import { standingOf } from '../state/connection.ts';
import { rowOfDesk } from '../state/desk-row.ts';
import type { DeskState, Reading } from '../state/desk-state.ts';
import { emptyWords } from '../state/desk-words.ts';
import { hasNodes, type Row } from '../state/office.ts';
import { runStyleOf } from '../state/run-style.ts';
import { type AppState, officeShown } from '../state/state.ts';
import { fit, GUARD, hasRightToLeft, shownWidth } from '../text/fit.ts';
import {
  cell,
  EMPTY,
  type Line,
  lineByWorth,
  lineOf,
  type Part,
  partsWithin,
  type Role,
  type Span,
  span,
  textOf,
  widthOfSpans,
} from '../text/line.ts';
import { tabOf, TABS } from './tabs.ts';
import { type Items, type View, viewOf } from '../transcript/viewport.ts';

const HINTS: readonly KeyHint[] = [
  ['↑↓', 'scroll'],
  ['1-7', 'tabs'],
  ['⏎', 'unfold'],
  ['v', 'pager'],
  ['G', 'newest'],
  ['Esc', 'back'],
  ['q', 'quit'],
];
const CALL_HINT: KeyHint = ['n', 'call'];
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

/** What the tab read last. */
function readingOf({ tab, readings }: DeskState): Reading | undefined {
  return readings[tabOf(tab).source?.name ?? ''];
}

export function itemsOf({ preferences: { tz } }: AppState, screen: DeskState, size: Size): Items {
  return tabOf(screen.tab).items(screen, readingOf(screen)?.data, { width: roomOf(size).columns, tz });
}

/** All that the tab has, as text. */
export function textOfDesk(state: AppState, screen: DeskState, size: Size): Iterable<string> {
  const { text } = tabOf(screen.tab);
  if (text !== undefined) return text(screen, readingOf(screen)?.data);
  return linesText(itemsOf(state, { ...screen, isUnfolded: true }, size));
}

function* linesText(items: Items): Iterable<string> {
  for (let at = 0; at < items.count; at += 1) {
    const lines = items.linesAt(at);
    if (lines.length > 0) yield `${textOf(lines).replaceAll(GUARD, ' ').replace(/ +$/gm, '')}\n`;
  }
}

export function viewOfDesk(state: AppState, screen: DeskState, size: Size): View {
  return viewOf(itemsOf(state, screen, size), screen.positions[screen.tab], roomOf(size).rows);
}

export function deskFrame(state: AppState, screen: DeskState, size: Size): readonly Line[] {
  const body = ({ columns, rows }: Size): readonly Line[] => {
    const view = viewOfDesk(state, screen, size);
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
  return frameOf(state, size, body, hintsOf(screen));
}

function hintsOf({ tab }: DeskState): readonly KeyHint[] {
  if (tab === 'files') return FILE_HINTS;
  return tab === 'live' ? [...HINTS.slice(0, 2), CALL_HINT, ...HINTS.slice(2)] : HINTS;
}

/** Why there is nothing to show. */
function emptyLine(screen: DeskState, width: number): Line {
  const { text, role } = emptyWords(screen, readingOf(screen));
  return { spans: [cell(` ${text}`, width - 2, role)] };
}

/** A title has so much of the line before anything else is left out for it. */
const TITLE_SHARE = 0.4;

function titleLine(state: AppState, screen: DeskState, width: number): Line {
  const { sessionId } = screen;
  const office = officeShown(state);
  const row = rowOfDesk(state, screen);
  const stands = { worth: 100, span: standing(screen, state) };
  if (row === undefined) {
    const room = width - 4 - widthOfSpans([stands.span]);
    return lineByWorth([span(' '), cell(`Session ${sessionId}`, Math.min(44, room), 'strong')], width, [stands]);
  }
  const { glyph, role } = runStyleOf(row);
  const at = state.now + office.skewMs;
  const about = [
    ...waitOf(row, at),
    { worth: 90, span: aside('  ', row.fullName || row.username) },
    { worth: 60, span: aside(' · ', row.teamName ?? '') },
    { worth: 55, span: aside(' · on ', hasNodes(office) ? (row.node ?? '') : '') },
  ];
  const figures = figuresOf(row, at);
  const title = row.sessionTitle === '' ? row.title : row.sessionTitle;
  // Terminals would draw what follows within a title that is written from right to left.
  const guard = hasRightToLeft(title) ? [span(GUARD)] : [];
  const share = Math.min(shownWidth(title), Math.floor(width * TITLE_SHARE)) + guard.length;
  const kept = partsWithin(width - 5 - share, [...about, ...figures, stands]);
  const spansOf = (parts: readonly Part[]) => kept.filter((part) => parts.includes(part)).map((part) => part.span);
  const room = width - 4 - guard.length - widthOfSpans(kept.map((part) => part.span));
  const own = cell(title, Math.min(shownWidth(title), room), 'strong');
  return lineOf([span(` ${glyph} `, role), own, ...guard, ...spansOf(about)], spansOf([...figures, stands]), width);
}

/** Foreign text behind a gap, or nothing. */
const aside = (gap: string, text: string, role: Role = 'dim') =>
  span(text === '' ? '' : `${gap}${fit(text, shownWidth(text))}${hasRightToLeft(text) ? GUARD : ''}`, role);

/** For which model the run waits, and for how long. */
function waitOf({ modelWait }: Row, now: number): readonly Part[] {
  if (modelWait === null) return [];
  const text = `${modelWait.model} ${modelWait.why}, ${stopwatch(now - modelWait.since)}`;
  return [{ worth: 95, span: aside('  ', text, 'waiting') }];
}

function figuresOf({ startedAt, finishedAt, tokens, cost }: Row, now: number): readonly Part[] {
  const time = startedAt === null ? '' : `  ${stopwatch((finishedAt ?? now) - startedAt)}`;
  return [
    { worth: 70, span: span(time, 'dim') },
    { worth: 50, span: span(`  ${compact(tokens)}`, 'dim') },
    { worth: 80, span: span(`  ${money(cost)}`, 'money') },
  ];
}

function standing({ stream: { kind, failure }, log }: DeskState, { connection, now }: AppState): Span {
  if (kind === 'deleted') return span(log.events.length > 0 ? '  ✗ deleted ' : '  ✗ not there ', 'failed');
  if (!log.isAtEnd) return span('  ◌ the past ', 'waiting');
  if (kind === 'live') return span('  ● live ', 'running');
  const { glyph, text, role } = standingOf(
    { ...connection, stream: 'connecting', streamFailure: failure, readFailure: null, retryAt: null, askedAt: null },
    now,
  );
  return span(`  ${glyph} ${text} `, role);
}

function tabLine(screen: DeskState, view: View, width: number): Line {
  const spansOf = (name: 'title' | 'shortTitle') => [
    span(' '),
    ...TABS.flatMap((tab, at): Span[] => {
      const isChosen = tab.name === screen.tab;
      const gap = at === 0 ? '' : name === 'title' && width >= ROOMY_COLUMNS ? '  ' : ' ';
      return [span(`${gap}${at + 1} `, isChosen ? 'accent' : 'dim'), span(tab[name], isChosen ? 'strong' : 'dim')];
    }),
  ];
  const long = spansOf('title');
  const isBack = screen.positions[screen.tab] !== undefined && !view.isAtEnd;
  const right = isBack && itemsAreGrowing(screen) ? [span('↓ G: newest ', 'waiting')] : [];
  return lineOf(widthOfSpans(long) + 14 <= width ? long : spansOf('shortTitle'), right, width);
}

const itemsAreGrowing = ({ tab }: DeskState) => tab === 'live' || tab === 'events' || tab === 'messages';
