// Turns of the loop for steps that take milliseconds and can't be divided: each such step has one of its own.
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Characters from which on rendering, parsing, reading or storing a text is such a step. */
export const LONG_TEXT = 262_144;

let last: Promise<unknown> = Promise.resolve();

/**
 * Does such a step in a turn of the loop that comes after the one before it has ended: steps that come together would otherwise all be
 * done in one turn, and make it long. A step that asks for another and waits for it would wait for ever.
 */
export async function inOwnTurn<Result>(step: () => Result | Promise<Result>): Promise<Result> {
  const done = last.then(async () => nextTurn()).then(step);
  last = done.catch(() => undefined);
  return done;
}
