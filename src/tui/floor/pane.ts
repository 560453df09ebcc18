// Beside the list, where there is room: the chosen run, with what its agent writes and does as it happens.
import { compact } from '../../domain/figures.ts';
import { money } from '../../terminal/money.ts';
import { type Entries, entriesOf } from '../feed/entries.ts';
import type { Size } from '../frame/frame.ts';
import { doingOf, timeOf } from '../state/doing.ts';
import type { Row } from '../state/office.ts';
import { runStyleOf } from '../state/run-style.ts';
import type { FloorState } from '../state/screens.ts';
import { type AppState, officeShown } from '../state/state.ts';
import { cell, clip, EMPTY, type Line, type Role, type Span, span } from '../text/line.ts';
import { wrapAll } from '../text/wrap.ts';
import { lastLines } from '../transcript/entry-lines.ts';

/** From here on there is room for it. */
const WIDE = 160;
const SHARE = 0.38;
const MOST = 110;
/** Lines of what the run was asked. */
const ASKED = 3;

/** Columns, with the line at its left; 0: there is no room. */
export function paneWidth(columns: number): number {
  return columns < WIDE ? 0 : Math.min(MOST, Math.floor(columns * SHARE));
}

/** As many lines as there are rows, each with the line at its left, one column in. */
export function paneLines(state: AppState, floor: FloorState, row: Row | undefined, size: Size): readonly Line[] {
  const width = size.columns - 4;
  const head = row === undefined ? [] : headLines(state, row, width);
  const body = row === undefined ? [] : bodyLines(state, floor, row, { columns: width, rows: size.rows - head.length });
  const lines = [...head, ...body];
  return Array.from({ length: size.rows }, (_, at) => ({
    spans: [span('│ ', 'faint'), ...clip((lines[at] ?? EMPTY).spans, width), span(' ')],
  }));
}

function headLines(state: AppState, row: Row, width: number): readonly Line[] {
  const at = state.now + officeShown(state).skewMs;
  const { glyph, word, role } = runStyleOf(row);
  const asked = wrapAll(row.title, width).slice(0, ASKED);
  const team = row.teamName === null ? '' : ` · ${row.teamName}`;
  const figures = `  ${timeOf(row, at)}  ${compact(row.tokens)} tokens  ${money(row.cost)}`;
  return [
    ...asked.map((text): Line => ({ spans: [span(text, 'strong')] })),
    { spans: [span(`${glyph} ${word}`, role), span(figures, 'dim')] },
    { spans: [cell(`${row.fullName || row.username}${team}`, width, 'dim')] },
    { spans: [span('─'.repeat(width), 'faint')] },
  ];
}

/** Entries continue from those of the frame before. */
let made: Entries | null = null;

function bodyLines(state: AppState, { pane, chosen }: FloorState, row: Row, { columns, rows }: Size): readonly Line[] {
  const said = (text: string, role: Role): readonly Line[] =>
    wrapAll(text, columns)
      .slice(0, rows)
      .map((line) => ({ spans: [span(line, role)] }));
  if (pane?.runId !== row.runId) return chosen.id === null ? waitingLines(state, row, said) : said('Reading…', 'dim');
  const { log, stream } = pane.desk;
  if (log.events.length === 0) {
    if (stream.failure !== null) return said(stream.failure.message, 'failed');
    return said(stream.kind === 'live' ? 'Nothing yet.' : 'Reading…', 'dim');
  }
  made = entriesOf(log.events, made);
  return lastLines(made.list, { width: columns, tz: state.preferences.tz }, rows);
}

/** Before one was chosen: what the list says of the first one, whole. */
function waitingLines(
  state: AppState,
  row: Row,
  said: (text: string, role: Span['role']) => readonly Line[],
): readonly Line[] {
  const { text, after, role, isTail } = doingOf(row, state.now + officeShown(state).skewMs);
  return [...said(`${isTail ? '…' : ''}${text}${after}`, role), EMPTY, ...said('↑↓ reads along with a run', 'dim')];
}
