// The first tab: the session as it happens.
import { spokenMs } from '../../domain/figures.ts';
import type { DeskState } from '../state/desk-state.ts';
import { fit, widthOf } from '../text/fit.ts';
import { EMPTY, type Line, span } from '../text/line.ts';
import { wrap } from '../text/wrap.ts';
import { type Entries, entriesOf, type Entry } from '../feed/entries.ts';
import { shownEvents } from '../feed/event-log.ts';
import { type Rounds, roundSource } from '../feed/sources.ts';
import { folded, rememberLines, type Tab, textLines } from './tab.ts';

const MARGIN = 2;
/** Lines of a result that is folded: errors show why. */
const FOLDED = { ok: 0, failed: 3 };
const UNFOLDED = 200;

const linesOf = rememberLines<Exclude<Entry, { kind: 'asked' }>>((entry, { width }, isUnfolded) => {
  if (entry.kind === 'text') return entry.text === '' ? [EMPTY] : textLines(entry.text, width, 'plain', MARGIN);
  if (entry.kind === 'news') return newsLines(entry, width);
  return toolLines(entry, width, isUnfolded);
});

function newsLines({ glyph, role, text }: Entry & { readonly kind: 'news' }, width: number): readonly Line[] {
  return wrap(text, width - 4).map((line, at) => ({
    spans: [span(at === 0 ? `${glyph} ` : '  ', role), span(line, role)],
  }));
}

function toolLines({ text, result }: Entry & { readonly kind: 'tool' }, width: number, isUnfolded: boolean): Line[] {
  const [glyph, role] =
    result === null
      ? (['▸', 'running'] as const)
      : result.ok
        ? (['▸', 'completed'] as const)
        : (['✗', 'failed'] as const);
  const right = result === null ? ' …' : ` ${spokenMs(result.durationMs)}`;
  const room = Math.max(1, width - 4 - widthOf(right));
  const head: Line = {
    spans: [
      span('  '),
      span(`${glyph} `, role),
      span(fit(text, room), 'accent'),
      span(right, result === null ? 'running' : 'dim'),
    ],
  };
  if (result === null || result.output.trim() === '') return [head];
  const most = isUnfolded ? UNFOLDED : result.ok ? FOLDED.ok : FOLDED.failed;
  if (most === 0) return [head];
  const all = textLines(result.output.trimEnd(), width, result.ok ? 'dim' : 'failed', 6);
  return [head, ...folded(all, most, width, 6)];
}

/** Lines of what the user asked while it is folded. */
const ASKED = 6;

/** What the user asked in a run begins it. */
const askedLines = rememberLines<Rounds['items'][number]>(({ user_message: text }, { width }, isUnfolded) => {
  if (text === null || text.trim() === '') return [];
  const lines = textLines(text.trim(), width, 'strong', MARGIN);
  return [EMPTY, ...(isUnfolded ? lines : folded(lines, ASKED, width, MARGIN)).map(marked)];
});

const marked = (line: Line, at: number): Line =>
  at === 0 ? { spans: [span('❯ ', 'accent'), ...line.spans.slice(1)] } : line;

const byRuns = new WeakMap<Rounds, ReadonlyMap<string, Rounds['items'][number]>>();

function roundsByRun(pages: Rounds | undefined): ReadonlyMap<string, Rounds['items'][number]> {
  if (pages === undefined) return new Map();
  const known = byRuns.get(pages) ?? new Map(pages.items.map((round) => [round.run_id, round]));
  byRuns.set(pages, known);
  return known;
}

/** The rounds of the past, where runs begin whose rounds are older than those that are known. */
function readNext(screen: DeskState, data: unknown): 'older' | 'newest' | undefined {
  const pages = data as Rounds | undefined;
  const first = shownEvents(screen).find(({ type }) => type === 'run.queued')?.run_id;
  if (pages === undefined || first === undefined || first === null) return undefined;
  const known = roundsByRun(pages);
  const oldest = pages.items[0]?.run_id;
  const isOlder = !screen.log.isAtEnd || screen.log.events.some(({ run_id: id }) => id === oldest);
  if (!known.has(first) && isOlder && pages.hasOlder) return 'older';
  return !pages.isAtEnd && screen.log.isAtEnd && screen.positions.live === undefined ? 'newest' : undefined;
}

/** One session is shown at a time; entries continue from those of the frame before. */
let made: Entries | null = null;

export const live: Tab = {
  name: 'live',
  title: 'Live',
  shortTitle: 'Live',
  source: { ...roundSource, changesWith: (type) => type === 'run.queued' },
  readNext,
  items: (screen, data, room) => {
    made = entriesOf(shownEvents(screen), made);
    const { list } = made;
    const rounds = roundsByRun(data as Rounds | undefined);
    return {
      count: list.length,
      keyAt: (at) => list[at]?.key ?? 0,
      linesAt: (at) => {
        const entry = list[at];
        if (entry === undefined) return [];
        if (entry.kind !== 'asked') return linesOf(entry, room, screen.isUnfolded);
        const round = rounds.get(entry.runId);
        const lines = round === undefined ? [] : askedLines(round, room, screen.isUnfolded);
        return at === 0 ? lines.slice(1) : lines;
      },
      startsAtEnd: true,
    };
  },
};
