// A session on the page, as it happens. Its view and its keys.
import type { Reads } from '../../tui/feed/reads.ts';
import { headingSource } from '../../tui/feed/sources.ts';
import { lacksRow } from '../../tui/state/desk-row.ts';
import { type DeskState, TAB_NAMES, type TabName } from '../../tui/state/desk-state.ts';
import type { Dispatch } from '../../tui/state/state.ts';
import { emptyWords } from '../../tui/state/desk-words.ts';
import { h, setAttribute, setClass, setShown, setText } from '../page/element.ts';
import { safeLine } from '../page/safe-text.ts';
import type { ScreenView } from '../page/screen-view.ts';
import { makeDeskFeed } from './desk-feed.ts';
import { fetchFresh } from './fresh-file.ts';
import { headView } from './head.ts';
import { makeScrolling, type Scrolling } from './scrolling.ts';
import type { TabInput } from './sight.ts';
import type { TabView } from './tab-view.ts';
import { tabOf, TABS, titleOf } from './tabs.ts';

export interface DeskParts {
  readonly client: Reads;
  readonly dispatch: Dispatch;
  readonly act: Dispatch;
  readonly redraw: () => void;
  readonly addressOf: (screen: DeskState) => string;
  readonly root: string;
  readonly back: () => void;
  readonly copy: (text: string) => void;
}

export interface DeskView extends ScreenView<DeskState> {
  /** Ends what is followed, while nobody looks. */
  readonly rest: () => void;
}

export function deskView(parts: DeskParts): DeskView {
  const { client, dispatch, act, redraw, addressOf, root, back, copy } = parts;
  const head = headView(root);
  const nav = tabsView(addressOf);
  const newest = h('button', { type: 'button', class: 'newest' }, '↓ newest');
  const place = placeView();
  const element = h('div', { class: 'desk' }, head.element, nav.element, place.element, newest);
  const feed = makeDeskFeed(client, dispatch);
  const scrolling = makeScrolling(element, redraw);
  let views = new Map<TabName, TabView>();
  let isNew = true;
  let shown: { readonly sessionId: string; readonly tab: TabName } | null = null;

  const set = (change: (screen: DeskState) => Partial<DeskState>) =>
    act({ type: 'update', name: 'desk', update: (screen) => ({ ...screen, ...change(screen) }) });
  listen(element, (tab) => (tab === null ? redraw() : set(() => ({ tab }))));
  newest.addEventListener('click', () => scrolling.toEnd());
  element.addEventListener('click', (event) => void fetchFresh(event, client, () => shown?.sessionId ?? ''));

  const presses = makePresses({ set, scrolling, copy, back, place: place.element });

  return {
    element,
    rest: () => feed.rest(),
    left() {
      feed.rest();
      shown = null;
    },
    enter() {
      isNew = true;
    },
    close() {
      feed.rest();
      scrolling.close();
    },
    press(key, _state, screen) {
      presses[key]?.(screen);
      return presses[key] !== undefined;
    },
    draw(state, screen) {
      const { sessionId, tab: name } = screen;
      const tab = tabOf(name);
      const input = { screen, data: readingOf(screen)?.data, tz: state.preferences.tz };
      if (shown?.sessionId !== sessionId) views = new Map();
      const view = views.get(name) ?? tab.make();
      const isOther = shown?.sessionId !== sessionId || shown.tab !== name;
      views.set(name, view);
      head.draw(state, screen);
      nav.draw(screen);
      scrolling.around(tab.startsAtEnd, isOther, () => place.draw(view, input, isOther));
      shown = { sessionId, tab: name };
      if (isNew) head.focus();
      isNew = false;
      setShown(newest, tab.startsAtEnd && !scrolling.sight().isAtEnd);
      feed.look(input, lacksRow(state, screen) ? [tab, { source: headingSource }] : [tab], scrolling.sight());
    },
  };
}

/** What the tab read last. */
const readingOf = ({ readings, tab }: DeskState) => readings[tabOf(tab).source?.name ?? ''];

/** Where tabs are shown, each with why it has nothing. */
function placeView() {
  const element = h('section', { class: 'tab' });
  const empty = h('p');
  return {
    element,
    draw(view: TabView, input: TabInput, isOther: boolean) {
      const { screen } = input;
      if (isOther) element.replaceChildren(view.element, empty);
      setAttribute(element, 'aria-label', titleOf(screen.tab));
      view.draw(input);
      setShown(empty, !view.element.hasChildNodes());
      const { text, role } = emptyWords(screen, readingOf(screen));
      setText(empty, safeLine(text));
      setClass(empty, `empty is-${role}`);
    },
  };
}

/** Clicks on tabs, and on what shows more: null. */
function listen(element: Element, choose: (tab: TabName | null) => void): void {
  element.addEventListener('click', (event) => {
    const { target, ctrlKey, metaKey, shiftKey } = event as MouseEvent;
    const at = (target as Element).closest('[data-tab], [data-redraw]');
    if (at === null || ctrlKey || metaKey || shiftKey) return;
    event.preventDefault();
    choose(at.getAttribute('data-tab') as TabName | null);
  });
}

interface TabsView {
  readonly element: HTMLElement;
  readonly draw: (screen: DeskState) => void;
}

function tabsView(addressOf: DeskParts['addressOf']): TabsView {
  const links = TABS.map(({ name }, at) => {
    const digit = h('span', { class: 'digit', 'aria-hidden': 'true' }, String(at + 1));
    return { name, element: h('a', { href: '', 'data-tab': name }, digit, ` ${titleOf(name)}`) };
  });
  return {
    element: h('nav', { class: 'tabs', 'aria-label': 'Session' }, ...links.map(({ element }) => element)),
    draw(screen) {
      for (const { name, element } of links) {
        setAttribute(element, 'href', addressOf({ ...screen, tab: name }));
        setAttribute(element, 'aria-current', name === screen.tab ? 'page' : undefined);
      }
    },
  };
}

interface PressParts extends Pick<DeskParts, 'copy' | 'back'> {
  readonly set: (change: (screen: DeskState) => Partial<DeskState>) => void;
  readonly scrolling: Scrolling;
  readonly place: Element;
}

/** What keys do. */
function makePresses({
  set,
  scrolling,
  copy,
  back,
  place,
}: PressParts): Readonly<Record<string, (screen: DeskState) => void>> {
  const turn = (by: number) => () =>
    set(({ tab }) => ({ tab: TAB_NAMES[(TAB_NAMES.indexOf(tab) + by + TAB_NAMES.length) % TAB_NAMES.length] ?? tab }));
  return {
    ...Object.fromEntries(TAB_NAMES.map((tab, at) => [String(at + 1), () => set(() => ({ tab }))])),
    left: turn(-1),
    right: turn(1),
    up: () => scrolling.by(-1),
    down: () => scrolling.by(1),
    first: () => scrolling.toStart(),
    last: () => scrolling.toEnd(),
    n: () => moveCall(place, 1),
    N: () => moveCall(place, -1),
    enter: () => moveCall(place, 1),
    e: () => set(({ isUnfolded }) => ({ isUnfolded: !isUnfolded })),
    y: ({ sessionId }) => copy(sessionId),
    escape: back,
  };
}

/** To the next call, or the one before; at first to the last one that is above the end of the screen. */
function moveCall(place: Element, by: 1 | -1): void {
  const calls = [...place.querySelectorAll<HTMLElement>('.call > summary')];
  const at = calls.indexOf(document.activeElement as HTMLElement);
  const first = calls.findLastIndex((call) => call.getBoundingClientRect().top < innerHeight);
  const next = calls[at === -1 ? Math.max(0, first) : Math.min(Math.max(0, at + by), calls.length - 1)];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: 'nearest' });
}
