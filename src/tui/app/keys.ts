// Names for keys, one for each whichever way it is pressed: `up` for the arrow and for `k`.
import type { Key } from 'ink';

const SPECIAL = [
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['pageUp', 'page-up'],
  ['pageDown', 'page-down'],
  ['home', 'first'],
  ['end', 'last'],
  ['return', 'enter'],
  ['escape', 'escape'],
  ['tab', 'tab'],
] as const satisfies readonly (readonly [keyof Key, string])[];

const SAME: Readonly<Record<string, string>> = {
  k: 'up',
  j: 'down',
  h: 'left',
  l: 'right',
  g: 'first',
  G: 'last',
  ' ': 'page-down',
  b: 'page-up',
};

const WITH_CONTROL: Readonly<Record<string, string>> = {
  c: 'quit',
  f: 'page-down',
  b: 'page-up',
  d: 'page-down',
  u: 'page-up',
};

/** Keys pressed so fast that they came together; more than that was pasted, and means nothing. */
const MAX_TOGETHER = 16;

/** The names of the keys that were pressed; what has no name is its own text. */
export function keyNames(input: string, key: Key): readonly string[] {
  const special = SPECIAL.find(([name]) => key[name]);
  if (special !== undefined) return [special[1]];
  if (key.ctrl) return [WITH_CONTROL[input] ?? ''];
  return input.length > MAX_TOGETHER ? [] : Array.from(input, (character) => SAME[character] ?? character);
}
