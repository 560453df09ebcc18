import { expect, test } from 'vitest';
import { backgroundFrom, backgroundInReply, depthFrom } from '../../../src/tui/theme/choose.ts';
import { paintLine, themeFor } from '../../../src/tui/theme/theme.ts';
import { lookOf } from '../../../src/tui/state/looks.ts';
import { span } from '../../../src/tui/text/line.ts';

test.each([
  [{ TERM: 'xterm-256color' }, 'sixteen'],
  [{ TERM: 'xterm-256color', COLORTERM: 'truecolor' }, 'true'],
  [{ TERM: 'xterm-direct' }, 'true'],
  [{ COLORTERM: '24bit', NO_COLOR: '1' }, 'none'],
  [{ TERM: 'dumb' }, 'none'],
])('%o gives %s colours', (environment, depth) => {
  expect(depthFrom(environment)).toBe(depth);
});

test.each([
  ['15;0', 'dark'],
  ['0;15', 'light'],
  ['0;default;7', 'light'],
  ['12;8', 'dark'],
  ['default;default', undefined],
])('COLORFGBG %s is %s', (value, background) => {
  expect(backgroundFrom({ COLORFGBG: value })).toBe(background);
});

test.each([
  [']11;rgb:1c1c/1c1c/1c1c', 'dark'],
  [']11;rgb:ffff/ffff/f0f0', 'light'],
  [']11;rgba:ff/ff/ff/ff', 'light'],
  [']52;c;abc', undefined],
])('the reply %s is %s', (reply, background) => {
  expect(backgroundInReply(reply)).toBe(background);
});

test('without colours there are none, and the selection is still seen', () => {
  const theme = themeFor('none', 'dark');
  const line = { spans: [span('● ', 'running'), span('x', 'money')] };
  expect(paintLine(line, theme)).toBe('● x');
  expect(paintLine({ ...line, selected: true }, theme)).toBe('\u001b[7m● x\u001b[0m');
});

test('neighbours of one colour are drawn together', () => {
  const theme = themeFor('sixteen', 'dark');
  expect(paintLine({ spans: [span('a', 'dim'), span('b', 'dim'), span(' '), span('c', 'failed')] }, theme)).toBe(
    '\u001b[90mab\u001b[0m \u001b[31mc\u001b[0m',
  );
});

test('each state has a glyph of its own', () => {
  const looks = (['running', 'pending', 'completed', 'failed', 'idle'] as const).map(
    (status) => lookOf({ status }).glyph,
  );
  expect(new Set([...looks, lookOf({ status: 'running', isWaiting: true }).glyph]).size).toBe(6);
});
