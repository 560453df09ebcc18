// Turns of the loop for steps that take milliseconds and can't be divided: each such step has one of its own.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../clock.ts';

/** Characters from which on rendering, parsing, reading or storing a text is such a step. */
export const LONG_TEXT = 262_144;

/** Milliseconds from which on work is long: a turn of the loop has no two pieces of it. */
const LONG_WORK_MS = 5;

/** How many pieces of long work were done in this turn of the loop or in the one before it. */
let longWork = 0;

/** Whether this turn of the loop may be long already: other long work waits for a later one. */
export const isTurnTaken = (): boolean => longWork > 0;

/** Says that long work is done in this turn, also where that is known only afterwards. */
export function takeTurn(): void {
  longWork += 1;
  // The first of them may come in this very turn, before others that wait in it.
  setImmediate(() => setImmediate(() => (longWork -= 1)));
}

/** Does work of which nobody knows before how long it takes. */
export function timed<Result>({ monotonic }: Pick<Clock, 'monotonic'>, work: () => Result): Result {
  const startedAt = monotonic();
  const result = work();
  if (monotonic() - startedAt >= LONG_WORK_MS) takeTurn();
  return result;
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Does such a step in a turn of the loop that comes after the one before it has ended: steps that come together would otherwise all be
 * done in one turn, and make it long. A step that asks for another and waits for it would wait for ever.
 */
export async function inOwnTurn<Result>(step: () => Result | Promise<Result>): Promise<Result> {
  const done = last.then(ownTurn).then(step);
  last = done.catch(() => undefined);
  return done;
}

/** Resolves in a turn for one such step, which has to be done at once. */
export async function ownTurn(): Promise<void> {
  do await nextTurn();
  while (isTurnTaken());
  takeTurn();
}
