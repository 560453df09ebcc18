// Turns of work that blocks its thread: after each, everything else of the thread has its own.
import { setImmediate as nextTurn } from 'node:timers/promises';

const TURN_MS = 4;

/** The turns of one piece of work; the first begins now. Ask after each small part whether the turn is over. */
export function makeTurns(): { isOver(): boolean; next(): Promise<void> } {
  let endsAt = performance.now() + TURN_MS;
  return {
    isOver: () => performance.now() >= endsAt,
    next: async () => {
      await nextTurn();
      endsAt = performance.now() + TURN_MS;
    },
  };
}
