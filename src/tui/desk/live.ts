// The first tab: the session as it happens.
import { type Entries, entriesOf, type Entry } from '../feed/entries.ts';
import { shownEvents } from '../feed/event-log.ts';
import { nextRounds, type Round, roundsByRun } from '../feed/rounds.ts';
import { type Rounds, roundSource } from '../feed/sources.ts';
import type { DeskState } from '../state/desk-state.ts';
import { EMPTY, type Line, span } from '../text/line.ts';
import { folded, rememberLines, textLines } from '../transcript/blocks.ts';
import type { CallManner } from '../transcript/call-lines.ts';
import { entryLines, MARGIN } from '../transcript/entry-lines.ts';
import { entryText } from '../transcript/plain-text.ts';
import type { Tab } from './tab.ts';

/** Lines of what the user asked while it is folded. */
const ASKED = 6;

/** What the user asked in a run begins it. */
const askedLines = rememberLines(({ user_message: text }: Round, { width }, isUnfolded: boolean) => {
  if (text === null || text.trim() === '') return [];
  const lines = textLines(text.trim(), width, 'strong', MARGIN);
  return [EMPTY, ...(isUnfolded ? lines : folded(lines, ASKED, width, MARGIN)).map(marked)];
});

const marked = (line: Line, at: number): Line =>
  at === 0 ? { spans: [span('❯ ', 'accent'), ...line.spans.slice(1)] } : line;

/** One session is shown at a time; entries continue from those of the frame before. */
let made: Entries | null = null;

/** What happened, of the events that are shown. */
export function liveEntries(screen: DeskState): readonly Entry[] {
  made = entriesOf(shownEvents(screen), made);
  return made.list;
}

/** Only calls have one. */
function mannerOf(entry: Entry, { isUnfolded, call }: DeskState): CallManner {
  if (entry.kind !== 'tool') return 'folded';
  const isChosen = entry.id === call?.id;
  const isOpen = isUnfolded || (isChosen && call.isUnfolded);
  if (isChosen) return isOpen ? 'chosen-unfolded' : 'chosen';
  return isOpen ? 'unfolded' : 'folded';
}

export const live: Tab = {
  name: 'live',
  title: 'Live',
  shortTitle: 'Live',
  source: { ...roundSource, changesWith: (type) => type === 'run.queued' },
  readNext: (screen, data) => nextRounds(screen, data as Rounds | undefined, screen.positions.live === undefined),
  items: (screen, data, room) => {
    const list = liveEntries(screen);
    const rounds = roundsByRun(data as Rounds | undefined);
    return {
      count: list.length,
      keyAt: (at) => list[at]?.key ?? 0,
      linesAt: (at) => {
        const entry = list[at];
        if (entry === undefined) return [];
        if (entry.kind !== 'asked') return entryLines(entry, room, mannerOf(entry, screen));
        const round = rounds.get(entry.runId);
        const lines = round === undefined ? [] : askedLines(round, room, screen.isUnfolded);
        return at === 0 ? lines.slice(1) : lines;
      },
      startsAtEnd: true,
    };
  },
  text: function* (screen, data) {
    const rounds = roundsByRun(data as Rounds | undefined);
    const chosen = screen.call?.id;
    for (const entry of liveEntries(screen)) {
      // A call that is chosen is all that is wanted.
      if (chosen !== undefined && !(entry.kind === 'tool' && entry.id === chosen)) continue;
      yield* entryText(entry, entry.kind === 'asked' ? (rounds.get(entry.runId)?.user_message ?? null) : null);
    }
  },
};
