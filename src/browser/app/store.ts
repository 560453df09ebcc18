// Holds the state, and draws it no more often than it must: what is pressed at the next frame, what is streamed a few times a second, and nothing while nobody looks.
import type { OfficeEvent } from '../../client/office-stream.ts';
import { reduce } from '../../tui/state/reduce.ts';
import type { AppState, Dispatch } from '../../tui/state/state.ts';

export interface Store {
  readonly get: () => AppState;
  readonly dispatch: Dispatch;
  /** What a user did: drawn at the next frame. */
  readonly act: Dispatch;
  /** An event of the stream; events are reduced together, once a frame. */
  readonly take: (event: OfficeEvent) => void;
  /** Draws at the next frame, whatever has changed. */
  readonly redraw: () => void;
}

/** Between two frames of what is streamed. */
const FRAME_MS = 100;
/** So many times as long as a frame takes passes until the next one. */
const IDLE_FOR_BUSY = 12;
const LONGEST_MS = 1000;
/** More events than that are reduced without a frame. */
const MOST_WAITING = 500;

/** Makes the store; `draw` is called with each state that is shown. */
export function makeStore(initial: AppState, draw: (state: AppState) => void): Store {
  let state = initial;
  let drawn: AppState | null = null;
  let waiting: OfficeEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isFrameDue = false;
  let nextFrameAt = 0;

  const settle = () => {
    if (waiting.length === 0) return;
    const events = waiting;
    waiting = [];
    state = reduce(state, { type: 'events', events, at: Date.now() });
  };

  const frame = () => {
    isFrameDue = false;
    settle();
    if (state === drawn) return;
    drawn = state;
    const startedAt = performance.now();
    draw(state);
    const cost = performance.now() - startedAt;
    nextFrameAt = startedAt + Math.min(LONGEST_MS, Math.max(FRAME_MS, cost * IDLE_FOR_BUSY));
  };

  /** A hidden page has no frames: the one that was asked for comes when it is shown again. */
  const ask = () => {
    clearTimeout(timer);
    timer = undefined;
    if (isFrameDue) return;
    isFrameDue = true;
    requestAnimationFrame(frame);
  };

  const askLater = () => {
    if (isFrameDue || document.hidden) return;
    timer ??= setTimeout(ask, Math.max(0, nextFrameAt - performance.now()));
  };

  const change: Dispatch = (action) => {
    settle();
    state = reduce(state, action);
  };

  return {
    get: () => state,
    dispatch(action) {
      change(action);
      // What was asked for is seldom, and awaited.
      if (action.type === 'snapshot') ask();
      else askLater();
    },
    act(action) {
      change(action);
      ask();
    },
    take(event) {
      waiting.push(event);
      if (waiting.length >= MOST_WAITING) settle();
      askLater();
    },
    redraw() {
      drawn = null;
      ask();
    },
  };
}
