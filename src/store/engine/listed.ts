// Values of a condition `IN (…)`, filled up to one of a few lengths, so that there are few statements to prepare.
import type { Value } from './statement.ts';

/** How many values one list has at most. */
export const MOST_LISTED = 64;
const LENGTHS = [1, 4, 16, MOST_LISTED];

/** The parameters in words, and their values: 1 to `MOST_LISTED` given ones, and the first again where there are fewer. */
export function listed<Each extends Value>(
  given: readonly Each[],
): { readonly marks: string; readonly values: readonly Each[] } {
  const length = LENGTHS.find((one) => one >= given.length)!;
  return {
    marks: Array(length).fill('?').join(', '),
    values: [...given, ...Array<Each>(length - given.length).fill(given[0]!)],
  };
}
