import { expect, test } from 'vitest';
import { backgroundFrom, backgroundInReply, depthFrom } from '../../../src/tui/theme/choose.ts';
import { channelsOf, nearestCodes } from '../../../src/tui/theme/palette.ts';
import { paintLine, themeFor } from '../../../src/tui/theme/theme.ts';
import { runStyleOf } from '../../../src/tui/state/run-style.ts';
import { span } from '../../../src/tui/text/line.ts';

test.each([
  [{ TERM: 'xterm' }, 'sixteen'],
  [{ TERM: 'screen-256color' }, '256'],
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
    (status) => runStyleOf({ status }).glyph,
  );
  looks.push(runStyleOf({ status: 'running', isWaiting: true }).glyph);
  looks.push(
    runStyleOf({ status: 'running', modelWait: { model: 'big', why: 'refuses connections', since: 0 } }).glyph,
  );
  expect(new Set(looks).size).toBe(7);
});

type Channels = readonly number[];

function channelsIn(codes: string): Channels | undefined {
  const rgb = /[34]8;2;(\d+);(\d+);(\d+)/.exec(codes);
  const indexed = /[34]8;5;(\d+)/.exec(codes);
  return rgb?.slice(1).map(Number) ?? (indexed === null ? undefined : channelsOf(Number(indexed[1])));
}

/** As WCAG 2.2 defines it, from 1 to 21. */
function contrast(one: Channels, other: Channels): number {
  const luminance = (channels: Channels) => {
    const [red = 0, green = 0, blue = 0] = channels.map((channel) => {
      const share = channel / 255;
      return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

test.each([
  ['true', 'light', [255, 255, 255]],
  ['true', 'dark', [30, 30, 30]],
  ['256', 'light', [255, 255, 255]],
  ['256', 'dark', [30, 30, 30]],
] as const)('%s colours can be read on a %s background, and in the selection', (depth, background, paper) => {
  const { roles, selection } = themeFor(depth, background);
  const chosen = channelsIn(selection)!;
  for (const [role, codes] of Object.entries(roles)) {
    const ink = channelsIn(codes);
    if (ink === undefined) continue;
    // Bars, graphs and glyphs alone are faint.
    const least = role === 'faint' ? 3 : 4.5;
    expect([role, contrast(ink, paper) >= least]).toEqual([role, true]);
    if (role !== 'faint') expect([role, contrast(ink, chosen) >= least]).toEqual([role, true]);
  }
});

test('a colour of 256 is the nearest of those that all terminals agree on', () => {
  expect(nearestCodes('1;38;2;255;255;255')).toBe('1;38;5;231');
  expect(nearestCodes('48;2;40;47;49')).toBe('48;5;236');
  expect(nearestCodes('7')).toBe('7');
  expect(channelsOf(67)).toEqual([95, 135, 175]);
});
