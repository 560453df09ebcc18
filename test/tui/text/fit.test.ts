import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { fit, fitTail, safeLine, widthOf } from '../../../src/tui/text/fit.ts';

test.each([
  ['plain', 'Plot the sales'],
  ['wide', '売上データを分析してグラフを作成'],
  ['emoji that are joined', '👩‍💻👨‍👩‍👧‍👦 family'],
  ['a key cap and a heart', '1️⃣ ❤️ ok'],
  ['skin tones and flags', '👍🏽 🇩🇪🇫🇷'],
  ['right to left', 'تقرير المبيعات للربع الثالث'],
  ['a stack of marks', `Z${'\u0301'.repeat(400)}algo`],
  ['ANSI', '\u001b[31mred\u001b[0m \u001b]0;title\u0007end'],
  ['an override of direction', 'abc\u202edef\u2066ghi'],
  ['controls', 'a\u0000b\u0007c\rd\ne\tf\u009bg\u007f'],
  ['a lone surrogate', 'a\ud800b'],
  ['invisible', '\u200b\u200c\u200d\ufeff\u00ad\u2060\u{e0041}'],
  ['long', '長'.repeat(10_000)],
])('%s text is exactly as wide as its column, and obeys nobody', (_what, text) => {
  for (const [width, fitted] of [0, 1, 2, 3, 7, 20, 41].flatMap((width) => [
    [width, fit(text, width)] as const,
    [width, fitTail(text, width)] as const,
  ])) {
    expect(widthOf(fitted)).toBe(width);
    expect(stringWidth(fitted)).toBe(width);
    // oxlint-disable-next-line no-control-regex
    expect(fitted).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ud800-\udfff]/u);
  }
});

test('what is cut ends with an ellipsis, and never within a character', () => {
  expect(fit('Plot the sales', 8)).toBe('Plot th…');
  expect(fit('売上データ', 6)).toBe('売上… ');
  expect(fit('café au lait', 5)).toBe('café…');
  expect(fit('ok', 6, 'end')).toBe('    ok');
});

test('of joined emoji the first is left, which every terminal draws alike', () => {
  expect(safeLine('👩‍💻 works')).toBe('👩 works');
  expect(safeLine('👍🏽 fine')).toBe('👍 fine');
});

test.each([
  ['and so the tide comes in', 14, '…tide comes in'],
  ['and so the tide comes in', 13, '…comes in    '],
  ['averyveryverylongword', 10, '…ylongword'],
  ['short', 10, 'short     '],
  ['売上データを分析', 9, '…タを分析'],
])('of "%s", the end stands in %d columns, from a whole word on', (text, width, tail) => {
  expect(fitTail(text, width)).toBe(fit(tail, width));
});
