// Turns of the loop for steps that take milliseconds and can't be divided: each such step has one of its own.
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Characters from which on rendering or parsing a text as JSON is such a step. */
export const LONG_TEXT = 262_144;

let last: Promise<void> = Promise.resolve();

/** To be awaited before such a step. Steps that come together would otherwise all be done in one turn, and make it long. */
export async function ownTurn(): Promise<void> {
  last = last.then(async () => nextTurn());
  await last;
}
