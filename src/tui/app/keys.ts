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

/** The name of a pressed key; what has none is its own text. */
export function keyName(input: string, key: Key): string {
  const special = SPECIAL.find(([name]) => key[name]);
  if (special !== undefined) return special[1];
  if (key.ctrl) return WITH_CONTROL[input] ?? '';
  return SAME[input] ?? input;
}
