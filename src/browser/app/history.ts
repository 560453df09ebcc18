// The address of the page and its way back: each session has an address, and each view of the floor.
import type { AppState, ScreenState } from '../../tui/state/state.ts';
import type { FloorState } from '../../tui/state/screens.ts';
import type { DeskState } from '../../tui/state/desk-state.ts';
import { addressOf, screensOf } from './address.ts';

export interface PageHistory {
  /** The address of a screen. */
  readonly addressOf: (screen: FloorState | DeskState) => string;
  /** The screens of the address that the page has. */
  readonly screens: () => readonly ScreenState[];
  /** Brings the address in line with what is drawn. */
  readonly follow: (state: AppState) => void;
  readonly close: () => void;
}

/** What it needs of the window. */
interface Page extends EventTarget {
  readonly location: { readonly pathname: string; readonly search: string };
  readonly history: {
    scrollRestoration: 'auto' | 'manual';
    readonly pushState: (data: null, unused: '', address: string) => void;
    readonly replaceState: (data: null, unused: '', address: string) => void;
  };
}

/** What is typed is in the address once nothing was typed for so long. */
const SETTLED_MS = 300;

/** `go` is called when the user goes back or forth. */
export function makeHistory(page: Page, root: string, go: (screens: readonly ScreenState[]) => void): PageHistory {
  const { history, location } = page;
  const addressFor = (screen: FloorState | DeskState) => `${root}${addressOf(screen)}`;
  const screens = () => screensOf(location.pathname.slice(root.length), location.search);
  let shownName = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  let settling: string | null = null;
  const settle = () => {
    clearTimeout(timer);
    if (settling !== null) history.replaceState(null, '', settling);
    settling = null;
  };
  history.scrollRestoration = 'manual';
  const popped = () => {
    // What was still to be in the address belongs to the one that was left.
    clearTimeout(timer);
    settling = null;
    shownName = '';
    go(screens());
  };
  page.addEventListener('popstate', popped);
  return {
    addressOf: addressFor,
    screens,
    close() {
      clearTimeout(timer);
      page.removeEventListener('popstate', popped);
    },
    follow({ screens }) {
      const screen = screens.at(-1);
      if (screen === undefined || screen.name === 'today') return;
      const address = addressFor(screen);
      const name = screen.name === 'desk' ? screen.sessionId : screen.name;
      const isOther = shownName !== '' && shownName !== name;
      shownName = name;
      if (isOther) settle();
      // What happens meanwhile is drawn, and changes nothing of it.
      else if (address === settling) return;
      clearTimeout(timer);
      settling = null;
      if (address === `${location.pathname}${location.search}`) return;
      // Filters and tabs are no steps of the way; browsers refuse many changes a second.
      if (isOther) history.pushState(null, '', address);
      else {
        settling = address;
        timer = setTimeout(settle, SETTLED_MS);
      }
    },
  };
}
