// The one function that changes the state: pure, and cheap for many events at once.
import { officeShown, type Action, type AppState, type ScreenState } from './state.ts';
import { takeEvents } from './take-events.ts';
import { takeLastHour, takeLiveRuns, takeSnapshot } from './take-snapshot.ts';

type Reducers = { readonly [T in Action['type']]: (state: AppState, action: Extract<Action, { type: T }>) => AppState };

const NOTICE_MS = 3000;
/** More events than this behind a snapshot that is slow are left to the next one. */
const MAX_SINCE_ASKED = 5000;

const REDUCERS: Reducers = {
  tick: (state, { at }) => ({
    ...state,
    now: at,
    notice: state.notice !== null && state.notice.until <= at ? null : state.notice,
  }),
  events: (state, { events, at }) => ({
    ...state,
    now: at,
    office: takeEvents(state.office, events, at),
    sinceAsked: state.sinceAsked === null ? null : [...state.sinceAsked, ...events].slice(-MAX_SINCE_ASKED),
  }),
  'snapshot-asked': (state, { at }) => ({
    ...state,
    sinceAsked: [],
    connection: { ...state.connection, askedAt: at },
  }),
  snapshot: (state, taken) => {
    const fresh = takeSnapshot(state.office, taken, state.connection.askedAt ?? taken.at);
    // What came while the snapshot was on its way is newer than it, or already in it, which changes nothing.
    const missed = state.sinceAsked ?? [];
    return {
      ...state,
      now: taken.at,
      office: missed.length === 0 ? fresh : { ...takeEvents(fresh, missed, taken.at), overview: fresh.overview },
      sinceAsked: null,
      connection: { ...state.connection, askedAt: null, readFailure: null },
    };
  },
  'snapshot-failed': (state, { failure }) => ({
    ...state,
    sinceAsked: null,
    connection: { ...state.connection, askedAt: null, readFailure: failure },
  }),
  'live-runs': (state, { entities, at }) => ({ ...state, office: takeLiveRuns(state.office, entities, at) }),
  'last-hour': (state, { lastHour }) => ({ ...state, office: takeLastHour(state.office, lastHour) }),
  'stream-reset': (state) => ({ ...state, office: { ...state.office, isStale: true } }),
  'stream-open': (state) => ({
    ...state,
    connection: { ...state.connection, stream: 'live', streamFailure: null, retryAt: null },
  }),
  'stream-lost': (state, { failure, retryAt }) => ({
    ...state,
    connection: { ...state.connection, stream: 'lost', streamFailure: failure, retryAt },
  }),
  open: (state, { screen }) => ({ ...state, screens: [...state.screens, screen] }),
  back: (state) => (state.screens.length > 1 ? { ...state, screens: state.screens.slice(0, -1) } : state),
  pause: (state) => {
    const isPaused = state.frozen === null;
    return {
      ...state,
      frozen: isPaused ? officeShown(state) : null,
      screens: state.screens.map((screen) =>
        screen.name === 'desk'
          ? { ...screen, pausedAt: isPaused ? (screen.log.events.at(-1)?.id ?? 0) : null }
          : screen,
      ),
    };
  },
  help: (state) => ({ ...state, isHelpOpen: !state.isHelpOpen }),
  notice: (state, { text, at }) => ({ ...state, notice: { text, until: at + NOTICE_MS } }),
  update: (state, { name, update }) => {
    const at = state.screens.findLastIndex((screen) => screen.name === name);
    const screen = state.screens[at];
    return screen === undefined
      ? state
      : { ...state, screens: state.screens.with(at, (update as (screen: ScreenState) => ScreenState)(screen)) };
  },
};

/** The state after an action. */
export function reduce(state: AppState, action: Action): AppState {
  return (REDUCERS[action.type] as (state: AppState, action: Action) => AppState)(state, action);
}
