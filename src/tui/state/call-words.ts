// What every view says of a tool call that is unfolded, beside what it changes.
import type { JsonObject } from '../../domain/json.ts';

/** Where events have only the beginning of an input or a result. */
export const CUT = '… only the beginning; Messages has all of it';

/** What a call was given: a text for each value, with its name. */
export function inputTexts(input: JsonObject): readonly string[] {
  return Object.entries(input).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
}
