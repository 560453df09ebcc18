// The first tab: the session as it happens.
import { type Entries, entriesOf, type Entry } from '../../tui/feed/entries.ts';
import { shownEvents } from '../../tui/feed/event-log.ts';
import { nextRounds, type Round, roundsByRun } from '../../tui/feed/rounds.ts';
import { type Rounds, roundSource } from '../../tui/feed/sources.ts';
import { h, setClass, setShown, setText } from '../page/element.ts';
import { glyphView } from '../page/glyph.ts';
import { type ItemView, keyedList } from '../page/keyed.ts';
import { markdownView } from '../page/markdown-view.ts';
import { safeLine } from '../page/safe-text.ts';
import { type LiveBlock, liveBlocksOf } from './blocks.ts';
import { callView } from './call.ts';
import type { TabInput } from './sight.ts';
import type { Tab, TabView } from './tab-view.ts';

/** What blocks are drawn with, beside themselves. */
interface Around {
  readonly rounds: ReadonlyMap<string, Round>;
  readonly isUnfolded: boolean;
}

const NOTHING: Around = { rounds: new Map(), isUnfolded: false };

function liveTab(): TabView {
  const element = h('div', { class: 'blocks' });
  let made: Entries | null = null;
  let known: { readonly list: readonly Entry[]; readonly blocks: readonly LiveBlock[] } | null = null;
  let around = NOTHING;
  const blocks = keyedList<LiveBlock>(
    element,
    ({ key }) => key,
    (block) => (block.kind === 'text' ? textView() : entryView(block.entry, () => around)),
  );

  return {
    element,
    draw({ screen, data }: TabInput) {
      made = entriesOf(shownEvents(screen), made);
      const isSame = known?.list === made.list;
      known = isSame && known !== null ? known : { list: made.list, blocks: liveBlocksOf(made.list) };
      around = { rounds: roundsByRun(data as Rounds | undefined), isUnfolded: screen.isUnfolded };
      blocks.draw(known.blocks);
    },
  };
}

function textView(): ItemView<LiveBlock> {
  const element = h('div', { class: 'block said' });
  let drawn = '';
  return {
    element,
    draw(block) {
      if (block.kind !== 'text' || block.text === drawn) return;
      drawn = block.text;
      element.replaceChildren(...markdownView(drawn));
    },
  };
}

type Other = Exclude<Entry, { readonly kind: 'text' }>;

function entryView(first: Other, around: () => Around): ItemView<LiveBlock> {
  if (first.kind === 'tool') return toolView(around);
  return first.kind === 'asked' ? askedView(around) : newsView();
}

function toolView(around: () => Around): ItemView<LiveBlock> {
  const call = callView();
  let isUnfolded = false;
  return {
    element: call.element,
    draw(block) {
      if (block.kind !== 'entry' || block.entry.kind !== 'tool') return;
      call.draw(block.entry);
      if (isUnfolded === around().isUnfolded) return;
      ({ isUnfolded } = around());
      call.unfold(isUnfolded);
    },
  };
}

/** What the user asked in a run begins it. */
function askedView(around: () => Around): ItemView<LiveBlock> {
  const element = h('div', { class: 'block asked' });
  let drawn: string | null = null;
  return {
    element,
    draw(block) {
      if (block.kind !== 'entry' || block.entry.kind !== 'asked') return;
      const text = around().rounds.get(block.entry.runId)?.user_message?.trim() ?? '';
      setShown(element, text !== '');
      if (text === drawn) return;
      drawn = text;
      element.replaceChildren(...markdownView(text));
    },
  };
}

function newsView(): ItemView<LiveBlock> {
  const glyph = glyphView();
  const text = h('bdi');
  const element = h('p', { class: 'block news' }, glyph, ' ', text);
  return {
    element,
    draw(block) {
      if (block.kind !== 'entry' || block.entry.kind !== 'news') return;
      const { entry } = block;
      setText(glyph, entry.glyph);
      setText(text, safeLine(entry.text, 2000));
      setClass(element, `block news is-${entry.role}`);
    },
  };
}

export const live: Tab = {
  name: 'live',
  startsAtEnd: true,
  source: { ...roundSource, changesWith: (type) => type === 'run.queued' },
  next: ({ screen, data }, { isAtEnd }) => nextRounds(screen, data as Rounds | undefined, isAtEnd),
  make: liveTab,
};
