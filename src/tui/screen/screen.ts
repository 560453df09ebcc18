// What a screen is: a component, the keys that it knows, and its lines of help.
import type { FunctionComponent } from 'react';
import type { Client } from '../../client/client.ts';
import type { KeyHint, Size } from '../frame/frame.ts';
import type { Screens, ScreenName } from '../state/screens.ts';
import type { Action, AppState, Dispatch } from '../state/state.ts';
import type { Theme } from '../theme/theme.ts';
import type { Stroke } from './keys.ts';

/** What every screen's component gets. It reads through the client and changes the state by dispatching. */
export interface ScreenProps<N extends ScreenName = ScreenName> {
  readonly client: Client;
  readonly state: AppState;
  readonly screen: Screens[N];
  readonly size: Size;
  readonly theme: Theme;
  readonly dispatch: Dispatch;
}

/** A key pressed on a screen. */
export interface Pressed<N extends ScreenName> {
  /** One of the names that `strokesOf` gives. */
  readonly key: string;
  readonly state: AppState;
  readonly screen: Screens[N];
  readonly size: Size;
}

/** What a key does besides changing the state: the application does it. */
export type Effect =
  | { readonly type: 'quit' }
  | { readonly type: 'copy'; readonly what: string; readonly text: string }
  /** Shows a text in the user's pager. */
  | { readonly type: 'page'; readonly text: Iterable<string> };

export interface Screen<N extends ScreenName> {
  readonly Component: FunctionComponent<ScreenProps<N>>;
  /** Undefined: the key means nothing here. Never called for the keys that mean the same on every screen. */
  readonly press: (pressed: Pressed<N>) => Action | Effect | undefined;
  /** What is typed while the screen finds something, and no field takes it. */
  readonly type?: (stroke: Stroke, state: AppState) => Action | undefined;
  readonly help: readonly KeyHint[];
}
