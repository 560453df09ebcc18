// How long a commit waits for verbs that share it.
import { expect, test } from 'vitest';
import { makePauses } from '../../../../../src/store/engine/sqlite/commits/pauses.ts';

/** The pauses after commits of so many verbs for which the disk took so long. */
function pausesAfter(verbs: number, tookMs: readonly number[]): number[] {
  const pauseAfter = makePauses();
  return tookMs.map((ms) => pauseAfter(ms, verbs));
}

test.each([
  ['under load, a quick disk gets the shortest pause', 9, [0.3, 0.3, 0.9], [2, 2, 2]],
  ['under load, a slow disk gets twice the time it took', 9, [5, 5, 6], [2, 10, 10]],
  ['one slow commit among quick ones delays nothing more', 9, [1, 40, 1, 1], [2, 2, 2, 2]],
  ['a disk that has stalled twice delays for no longer than its limit', 9, [300, 300], [2, 20]],
  ['without load, a quick disk gets none', 3, [0.3, 1.9, 1.9], [0, 0, 0]],
  ['without load, a slow disk gets the time it took', 3, [5, 5, 60, 60], [0, 5, 5, 20]],
])('%s', (_, verbs, tookMs, pauses) => {
  expect(pausesAfter(verbs, tookMs)).toEqual(pauses);
});
