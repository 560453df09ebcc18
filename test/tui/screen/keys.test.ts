import type { Key } from 'ink';
import { expect, test } from 'vitest';
import { strokesOf } from '../../../src/tui/screen/keys.ts';

const key = (over: Partial<Key> = {}) => over as Key;

test.each([
  ['k', {}, ['up']],
  ['', { upArrow: true }, ['up']],
  ['', { return: true }, ['enter']],
  ['c', { ctrl: true }, ['quit']],
  ['x', { ctrl: true }, ['']],
  [' ', {}, ['page-down']],
  ['jjG', {}, ['down', 'down', 'last']],
  ['x\r\t', {}, ['x', 'enter', 'tab']],
  ['T', { shift: true }, ['T']],
  ['something that was pasted', {}, []],
])('%j with %o is %j', (input, over, names) => {
  expect(strokesOf(input, key(over)).map(({ name }) => name)).toEqual(names);
});
