// The application: the screen on top, and the keys that mean the same on every screen.
import { useInput, useWindowSize } from 'ink';
import { useEffect, useSyncExternalStore } from 'react';
import type { Client } from '../../client/client.ts';
import { h } from '../screen/element.ts';
import { type Stroke, strokesOf } from '../screen/keys.ts';
import { Lines } from '../screen/lines.ts';
import type { Effect, Screen } from '../screen/screen.ts';
import type { ScreenName } from '../state/screens.ts';
import type { Action, AppState, ScreenState } from '../state/state.ts';
import type { MouseWheel } from '../terminal/input.ts';
import type { Theme } from '../theme/theme.ts';
import { helpFrame } from './help.ts';
import { SCREENS } from './screen-table.ts';
import type { Store } from './store.ts';

export interface AppProps {
  readonly client: Client;
  readonly store: Store;
  readonly theme: Theme;
  readonly wheel: MouseWheel;
  readonly now: () => number;
  readonly quit: () => void;
  /** Puts text on the terminal's clipboard. */
  readonly copy: (text: string) => void;
  /** Leaves the screen to the user's pager; the application ends, and another one goes on from the same state. */
  readonly page: (text: Iterable<string>) => void;
}

export function App({ client, store, theme, wheel, now, quit, copy, page }: AppProps) {
  const state = useSyncExternalStore(store.subscribe, store.get);
  const { columns, rows } = useWindowSize();
  const size = { columns, rows };
  const { dispatch } = store;

  const perform = (done: Action | Effect | undefined) => {
    if (done === undefined) return;
    if (done.type === 'quit') return quit();
    if (done.type === 'page') return page(done.text);
    if (done.type !== 'copy') return dispatch(done);
    copy(done.text);
    dispatch({ type: 'notice', text: `Copied the id of the ${done.what}: ${done.text}`, at: now() });
  };
  // Keys that come before the next frame act on what the keys before them did, among the rows that are on the screen.
  const current = () => ({ ...store.latest(), office: store.get().office });
  const strike = ({ name, text }: Stroke) => {
    const state = current();
    const { table } = top(state);
    if (name === 'quit') return quit();
    perform(typing(state) === null ? pressed(name, state, size) : table.type?.({ name, text }, state));
  };

  useInput((input, key) => {
    // The field takes what is typed once it is drawn, unless a key comes together with text.
    const isTyping = typing(store.latest()) === 'field' && typing(store.get()) === 'field';
    if (!isTyping || (input.length > 1 && input.includes('\r'))) strokesOf(input, key).forEach(strike);
  });
  useEffect(() => wheel.listen((direction) => strike({ name: `wheel-${direction}`, text: '' })));

  const { screen, table } = top(state);
  if (state.isHelpOpen) return h(Lines, { lines: helpFrame(state, table.help, size), theme });
  return h(table.Component, { client, state, screen, size, theme, dispatch });
}

/** What a key does: on every screen, or on the one on top. */
export function pressed(
  key: string,
  state: AppState,
  size: { readonly columns: number; readonly rows: number },
): Action | Effect | undefined {
  if (key === 'q' || key === 'quit') return { type: 'quit' };
  if (key === '?' || (state.isHelpOpen && key === 'escape')) return { type: 'help' };
  if (state.isHelpOpen) return undefined;
  if (key === 'p') return { type: 'pause' };
  const { screen, table } = top(state);
  const done = table.press({ key, state, screen, size });
  return done === undefined && key === 'escape' && state.screens.length > 1 ? { type: 'back' } : done;
}

function top({ screens }: AppState): { readonly screen: ScreenState; readonly table: Screen<ScreenName> } {
  const screen = screens.at(-1);
  if (screen === undefined) throw new Error('There is always a screen.');
  return { screen, table: SCREENS[screen.name] as unknown as Screen<ScreenName> };
}

/** While somebody types, letters are letters: those of a field that takes them itself once it is drawn, or of a list to choose from. */
function typing(state: AppState): 'field' | 'list' | null {
  const { screen } = top(state);
  if (screen.name !== 'floor' || state.isHelpOpen) return null;
  return screen.picker !== null ? 'list' : screen.isFinding ? 'field' : null;
}
