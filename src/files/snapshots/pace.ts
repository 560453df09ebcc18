// The pace of one order of the snapshot thread: ends it by deadline or cancellation, and yields to other orders.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ErrandError } from '../../domain/errors.ts';

export interface Pace {
  /** Aborts when the order must end. */
  readonly signal: AbortSignal;
  /** Throws when the order must end. */
  check(): void;
  /** As `check`, and yields to the other orders of the thread when this one has used its turn. */
  rest(): Promise<void>;
  end(error: ErrandError): void;
  /** Call it when the order has ended. */
  stop(): void;
}

const TURN_MS = 20;

/** The pace of an order that starts now. */
export function makePace(deadlineMs: number): Pace {
  const controller = new AbortController();
  const { signal } = controller;
  const late = () => controller.abort(new ErrandError('unavailable', 'It exceeded its time limit.'));
  const timer = setTimeout(late, deadlineMs);
  const lateAt = performance.now() + deadlineMs;
  let turnEndsAt = performance.now() + TURN_MS;

  function check(): void {
    // The timer can't fire while this thread is busy.
    if (performance.now() >= lateAt) late();
    signal.throwIfAborted();
  }

  return {
    signal,
    check,
    rest: async () => {
      check();
      if (performance.now() < turnEndsAt) return;
      await nextTurn();
      turnEndsAt = performance.now() + TURN_MS;
    },
    end: (error) => controller.abort(error),
    stop: () => clearTimeout(timer),
  };
}
