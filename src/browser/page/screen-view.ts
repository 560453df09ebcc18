// What a screen of the office is to the page.
import type { AppState } from '../../tui/state/state.ts';

export interface ScreenView<S> {
  readonly element: HTMLElement;
  /** Called with each state while the screen is shown. */
  readonly draw: (state: AppState, screen: S) => void;
  /** Called before it is drawn when it comes on the page, and when it has left. */
  readonly enter: () => void;
  readonly left: () => void;
  /** Does what a key means here; returns whether it means something. */
  readonly press: (key: string, state: AppState, screen: S) => boolean;
  /** Ends whatever would go on. */
  readonly close: () => void;
}
