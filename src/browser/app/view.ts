// The office on the page, from the login to its end: its screens, what feeds them, and the keys.
import type { ClientError } from '../../client/transport/client-error.ts';
import { type Feed, startFeed } from '../../tui/feed/feed.ts';
import type { Reads } from '../../tui/feed/reads.ts';
import { desk } from '../../tui/state/desk-state.ts';
import { floor, type FloorState } from '../../tui/state/screens.ts';
import { type AppState, initialState, officeShown, type ScreenState } from '../../tui/state/state.ts';
import { type DeskView, deskView } from '../desk/desk.ts';
import { titleOfDesk } from '../desk/head.ts';
import { type FloorView, floorView } from '../floor/floor.ts';
import { h, setShown, setText } from '../page/element.ts';
import type { ScreenView } from '../page/screen-view.ts';
import { watchAttention } from './attention.ts';
import { copyText } from './copy-text.ts';
import { type Header, headerView } from './header.ts';
import { type Help, helpView } from './help.ts';
import { makeHistory } from './history.ts';
import { keyOf } from './keys.ts';
import { makeStore, type Store } from './store.ts';
import { stillInText } from './why.ts';

export interface ViewParts {
  readonly root: string;
  readonly client: Reads;
  /** Called once, when the daemon turns the page away. */
  readonly refused: (failure: ClientError, hasSeen: boolean) => void;
  /** Logs out; returns what came in between, and null when the page is left. */
  readonly leave: () => Promise<ClientError | null>;
}

export interface View {
  readonly element: HTMLElement;
  readonly close: () => void;
}

const INTERVAL_MS = 5000;
/** What needs its user to do something stays so much longer than other notices. */
const WARNING_MS = 10_000;

/** Opens it, with the screens of the page's address. */
export function openView({ root, client, refused, leave }: ViewParts): View {
  const history = makeHistory(window, root, (screens) => go(screens));
  const tz = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const initial = initialState({ tz, intervalMs: INTERVAL_MS }, history.screens(), Date.now());
  const store = makeStore(initial, (state) => drawing.draw(state));
  const { act, dispatch, redraw, get } = store;
  const go = (screens: readonly ScreenState[]) => {
    // The desk that comes may be another one of the same session, without a floor drawn in between.
    deskPage.left();
    showScreens(store, screens);
  };
  const toFloor = () => go([floorIn(get())]);
  const say = (text: string, forMs = 0) => act({ type: 'notice', text, at: Date.now() + forMs });
  const copy = (text: string) =>
    void copyText(navigator.clipboard, text).then((isCopied) =>
      say(isCopied ? `Copied the id of the session: ${text}` : text),
    );
  const help = helpView();
  const header = headerView({
    root,
    pause: () => act({ type: 'pause' }),
    help: help.toggle,
    leave: () => void leave().then((failure) => failure !== null && say(stillInText(failure), WARNING_MS)),
  });
  const open = (sessionId: string) => {
    deskPage.left();
    act({ type: 'open', screen: desk(sessionId) });
  };
  const floorPage = floorView({
    addressOf: (id) => history.addressOf(desk(id)),
    act,
    redraw,
    open,
    copy,
  });
  const deskPage = deskView({ client, dispatch, act, redraw, addressOf: history.addressOf, root, back: toFloor, copy });
  const pages = { floor: floorPage, desk: deskPage };
  const drawing = makeDrawing({ header, help, pages, follow: history.follow, refused });
  const feeding = makeFeeding({ client, store, reached: floorPage.reached, rest: deskPage.rest });
  const unlisten = listen(drawing.element, { store, help, pages, open, toFloor });
  redraw();
  return {
    element: drawing.element,
    close() {
      drawing.end();
      feeding();
      unlisten();
      history.close();
      floorPage.close();
      deskPage.close();
    },
  };
}

interface Pages {
  readonly floor: FloorView;
  readonly desk: DeskView;
}

interface DrawingParts extends Pick<ViewParts, 'refused'> {
  readonly header: Header;
  readonly help: Help;
  readonly pages: Pages;
  /** Brings the address in line. */
  readonly follow: (state: AppState) => void;
}

function makeDrawing({ header, help, pages, follow, refused }: DrawingParts) {
  const main = h('main', {});
  const notice = h('p', { class: 'notice', role: 'status' });
  const element = h('div', { class: 'office' }, header.element, main, notice, help.element);
  let isOver = false;
  let shown: Pick<ScreenView<never>, 'left'> | null = null;

  function show<S>(page: ScreenView<S>, state: AppState, screen: S): void {
    if (shown !== page) {
      shown?.left();
      main.replaceChildren(page.element);
      page.enter();
      shown = page;
    }
    page.draw(state, screen);
  }

  return {
    element,
    end() {
      isOver = true;
    },
    draw(state: AppState): void {
      const failure = refusalIn(state);
      if (isOver) return;
      if (failure !== null) {
        isOver = true;
        return refused(failure, state.office.loadedAt !== null);
      }
      header.draw(state);
      follow(state);
      const screen = state.screens.at(-1);
      if (screen?.name === 'desk') show(pages.desk, state, screen);
      else show(pages.floor, state, floorIn(state));
      setText(notice, state.notice?.text ?? '');
      setShown(notice, state.notice !== null);
      document.title = titleOf(state);
    },
  };
}

/** Feeds the state while somebody looks. Returns how to end that. */
function makeFeeding({
  client,
  store: { get, dispatch, take, redraw },
  reached,
  rest,
}: {
  client: Reads;
  store: Store;
  reached: (state: AppState) => AppState;
  rest: () => void;
}): () => void {
  const start = () => startFeed({ client, get: () => reached(get()), dispatch, take, now: Date.now });
  let feed: Feed | null = start();
  const stop = () => {
    feed?.stop();
    feed = null;
    rest();
  };
  const unwatch = watchAttention({ document, window }, stop, () => {
    feed ??= start();
    redraw();
  });
  return () => {
    unwatch();
    stop();
  };
}

interface Listening {
  readonly store: Store;
  readonly help: Help;
  readonly pages: Pages;
  readonly open: (sessionId: string) => void;
  readonly toFloor: () => void;
}

/** Keys and links. Returns how to end that. */
function listen(element: HTMLElement, { store, help, pages, open, toFloor }: Listening): () => void {
  const pressed = (event: KeyboardEvent) => {
    const key = keyOf(event);
    if (key === undefined || event.defaultPrevented) return;
    const state = store.get();
    const screen = state.screens.at(-1);
    if (key === '?') help.toggle();
    else if (help.isOpen()) return;
    else if (key === 'p') store.act({ type: 'pause' });
    else if (screen?.name === 'desk' && !pages.desk.press(key, state, screen)) return;
    else if (screen?.name === 'floor' && !pages.floor.press(key, state, screen)) return;
    event.preventDefault();
  };
  const clicked = (event: MouseEvent) => {
    const link = (event.target as Element).closest('a');
    if (link === null || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    const sessionId = link.closest('[data-session]')?.getAttribute('data-session');
    if (sessionId != null) open(sessionId);
    else if (link.hasAttribute('data-floor')) toFloor();
    else return;
    event.preventDefault();
  };
  document.addEventListener('keydown', pressed);
  element.addEventListener('click', clicked);
  return () => document.removeEventListener('keydown', pressed);
}

/** Leaves the screens that are open, and opens others. */
function showScreens({ get, act }: Store, screens: readonly ScreenState[]): void {
  while (get().screens.length > 1) act({ type: 'back' });
  const [first, ...rest] = screens;
  if (first?.name === 'floor') {
    act({ type: 'update', name: 'floor', update: ({ chosen }) => ({ ...first, chosen }) });
  }
  for (const screen of rest) act({ type: 'open', screen });
}

const floorIn = ({ screens }: AppState): FloorState =>
  screens.find((screen): screen is FloorState => screen.name === 'floor') ?? floor();

/** Whether the daemon turns this page away, and how. */
function refusalIn({ connection, screens }: AppState): ClientError | null {
  const screen = screens.at(-1);
  const ofDesk = screen?.name === 'desk' ? [screen.stream.failure] : [];
  const failures = [connection.readFailure, connection.streamFailure, ...ofDesk];
  return failures.find((failure) => failure !== null && isRefusal(failure)) ?? null;
}

const isRefusal = ({ failure }: ClientError) =>
  failure.kind === 'refused' && (failure.status === 401 || failure.status === 403);

function titleOf(state: AppState): string {
  const { overview, loadedAt } = officeShown(state);
  const screen = state.screens.at(-1);
  if (screen?.name === 'desk') return `${titleOfDesk(state, screen)} · Errand office`;
  return loadedAt === null ? 'Errand office' : `● ${overview.running} running · Errand office`;
}
