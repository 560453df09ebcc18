// When colours are wanted.
import { expect, test } from 'vitest';
import { paint, wantsColours } from '../../src/terminal/colours.ts';

test.each([
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: '1' }, false],
  [true, { NO_COLOR: '' }, true],
  [true, { TERM: 'dumb' }, false],
  [false, { FORCE_COLOR: '1' }, true],
  [true, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
  [true, { FORCE_COLOR: '0' }, false],
  [true, { FORCE_COLOR: 'false' }, false],
  [false, { FORCE_COLOR: '' }, false],
])('on a terminal: %j, with %j: %j', (isTerminal, environment, expected) => {
  expect(wantsColours(isTerminal, environment)).toBe(expected);
});

test('coloured text ends with its own end', () => {
  expect(paint('failed', 'red')).toBe('\u001b[31mfailed\u001b[39m');
});
