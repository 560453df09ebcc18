// The whole state of the view, and the actions that change it.
import type { EntityWire, LastHourWire } from '../../client/office.ts';
import type { ClientError } from '../../client/transport/client-error.ts';
import type { OfficeEvent } from '../../client/office-stream.ts';
import { type Connection, NOT_CONNECTED } from './connection.ts';
import { EMPTY_OFFICE, type Office } from './office.ts';
import type { ScreenName, Screens } from './screens.ts';
import type { SnapshotTaken } from './take-snapshot.ts';

export type ScreenState = Screens[ScreenName];

/** What was asked for on the command line. */
export interface Preferences {
  /** IANA name of the time zone whose day "today" is. */
  readonly tz: string;
  readonly intervalMs: number;
}

export interface AppState {
  readonly preferences: Preferences;
  readonly office: Office;
  /** The office as it was when the view was paused. */
  readonly frozen: Office | null;
  readonly connection: Connection;
  /** The last one is on the screen; Esc goes back to the one before. */
  readonly screens: readonly ScreenState[];
  readonly isHelpOpen: boolean;
  /** A line of news at the bottom, until a point in time. */
  readonly notice: { readonly text: string; readonly until: number } | null;
  /** Events since a snapshot was asked for, which it may have missed; null while none is awaited. */
  readonly sinceAsked: readonly OfficeEvent[] | null;
  /** This machine's clock, at the last tick. */
  readonly now: number;
}

/** `at` is this machine's clock. */
export type Action =
  | { readonly type: 'tick'; readonly at: number }
  | { readonly type: 'events'; readonly events: readonly OfficeEvent[]; readonly at: number }
  | { readonly type: 'snapshot-asked'; readonly at: number }
  | ({ readonly type: 'snapshot' } & SnapshotTaken)
  | { readonly type: 'snapshot-failed'; readonly failure: ClientError }
  | { readonly type: 'live-runs'; readonly entities: readonly EntityWire[]; readonly at: number }
  | { readonly type: 'last-hour'; readonly lastHour: LastHourWire }
  | { readonly type: 'stream-open' }
  | { readonly type: 'stream-reset' }
  | { readonly type: 'stream-lost'; readonly failure: ClientError; readonly retryAt: number }
  | { readonly type: 'open'; readonly screen: ScreenState }
  | { readonly type: 'back' }
  | { readonly type: 'pause' }
  | { readonly type: 'help' }
  | { readonly type: 'notice'; readonly text: string; readonly at: number }
  | UpdateOf<ScreenName>;

/** Changes the newest open screen of a name; does nothing when it has been left. */
type UpdateOf<N extends ScreenName> = N extends ScreenName
  ? { readonly type: 'update'; readonly name: N; readonly update: (screen: Screens[N]) => Screens[N] }
  : never;

export type Dispatch = (action: Action) => void;

/** The state to begin with. */
export function initialState(preferences: Preferences, screens: readonly ScreenState[], now: number): AppState {
  return {
    preferences,
    office: EMPTY_OFFICE,
    frozen: null,
    connection: NOT_CONNECTED,
    screens,
    isHelpOpen: false,
    notice: null,
    sinceAsked: null,
    now,
  };
}

/** The office to draw: as it is, or as it was when the view was paused. */
export function officeShown({ frozen, office }: AppState): Office {
  return frozen ?? office;
}
