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
  ['backspace', 'erase'],
  // What most terminals send for it.
  ['delete', 'erase'],
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
  '\r': 'enter',
  '\t': 'tab',
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

/** A key that was pressed: its name, and the text that it writes while somebody types. */
export interface Stroke {
  /** What has no name is its own text. */
  readonly name: string;
  readonly text: string;
}

/** The keys that were pressed. */
export function strokesOf(input: string, key: Key): readonly Stroke[] {
  const special = SPECIAL.find(([name]) => key[name]);
  if (special !== undefined) return [{ name: special[1], text: '' }];
  if (key.ctrl) return [{ name: WITH_CONTROL[input] ?? '', text: '' }];
  if (input.length > MAX_TOGETHER) return [];
  return Array.from(input, (character) => ({
    name: SAME[character] ?? character,
    text: isControl(character) ? '' : character,
  }));
}

const isControl = (character: string) => /\p{Cc}/u.test(character);
