// Holds the state, and notifies the screen of changes no more often than it can draw them.
import { reduce } from '../state/reduce.ts';
import type { OfficeEvent } from '../../client/office-stream.ts';
import type { AppState, Dispatch } from '../state/state.ts';

export interface Store {
  /** The state as it is drawn. */
  readonly get: () => AppState;
  /** The state after every action so far, drawn or not. */
  readonly latest: () => AppState;
  readonly dispatch: Dispatch;
  /** An event of the stream; events are reduced together, once a frame. */
  readonly take: (event: OfficeEvent) => void;
  /** Calls the listener when there is a new state to draw. */
  readonly subscribe: (listener: () => void) => () => void;
  readonly close: () => void;
}

export interface StoreOptions {
  /** The shortest time between two frames. */
  readonly frameMs: number;
  readonly now: () => number;
  /** While the terminal has not taken the last frame, no other is drawn. */
  readonly isBusy: () => boolean;
}

/** So many times as long as a frame takes passes until the next one: what is drawn must not cost what is watched. */
const IDLE_FOR_BUSY = 12;
const LONGEST_FRAME_MS = 300;

/** Makes the store. A first change after a pause is drawn at once. */
export function makeStore(initial: AppState, { frameMs, now, isBusy }: StoreOptions): Store {
  let state = initial;
  let drawn = initial;
  let waiting: OfficeEvent[] = [];
  let timer: NodeJS.Timeout | undefined;
  let nextFrameAt = Number.NEGATIVE_INFINITY;
  const listeners = new Set<() => void>();

  const settle = () => {
    if (waiting.length === 0) return;
    const events = waiting;
    waiting = [];
    state = reduce(state, { type: 'events', events, at: now() });
  };

  const frame = () => {
    timer = undefined;
    settle();
    if (state === drawn) return;
    if (isBusy()) return schedule();
    drawn = state;
    const startedAt = performance.now();
    nextFrameAt = startedAt + frameMs;
    for (const listener of listeners) listener();
    // The frame is drawn once this call has returned.
    setImmediate(() => {
      const cost = performance.now() - startedAt;
      nextFrameAt = startedAt + Math.min(LONGEST_FRAME_MS, Math.max(frameMs, cost * IDLE_FOR_BUSY));
    });
  };

  const schedule = () => {
    timer ??= setTimeout(frame, Math.max(0, nextFrameAt - performance.now()));
  };

  return {
    get: () => drawn,
    latest: () => state,
    dispatch(action) {
      settle();
      state = reduce(state, action);
      schedule();
    },
    take(event) {
      waiting.push(event);
      schedule();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      clearTimeout(timer);
      listeners.clear();
    },
  };
}
