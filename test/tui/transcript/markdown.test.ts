import { expect, test } from 'vitest';
import { widthOf } from '../../../src/tui/text/fit.ts';
import { textOf } from '../../../src/tui/text/line.ts';
import { markdownText } from '../../../src/tui/transcript/markdown.ts';

const shown = (text: string, width = 40) => textOf(markdownText(text, width, 2));
const roles = (text: string) =>
  markdownText(text, 60, 0).map(({ spans }) =>
    spans.filter(({ text }) => text.trim() !== '').map(({ text, role }) => `${role}:${text.trim()}`),
  );

test('headings, lists, quotes and rules are dressed, and wrap behind their marks', () => {
  expect(shown('## Tides\n\n- the first one is a long one that wraps\n  - *inner*\n10. ten\n> said\n---', 30)).toBe(
    [
      '  Tides',
      '',
      '  • the first one is a long',
      '    one that wraps',
      '    • *inner*',
      '  10. ten',
      '  │ said',
      `  ${'─'.repeat(28)}`,
    ].join('\n'),
  );
});

test('bold and code lose their marks; what does not close keeps them', () => {
  expect(roles('a **b c** and `d`.')).toEqual([['plain:a', 'strong:b', 'strong:c', 'plain:and', 'code:d', 'plain:.']]);
  expect(roles('2 * 3 ** 4 and `open')).toEqual([
    ['plain:2', 'plain:*', 'plain:3', 'plain:**', 'plain:4', 'plain:and', 'plain:`open'],
  ]);
});

test('between two fences everything is code', () => {
  expect(roles('```sh\n# no heading\n```\n# one')).toEqual([
    ['dim:```sh'],
    ['code:# no heading'],
    ['dim:```'],
    ['strong:one'],
  ]);
});

test.each([4, 7, 20, 33])('no line is wider than %d columns, whatever the text', (width) => {
  const text =
    '- **売上データを分析** of `averyveryverylongwordwithoutblanks` and \u001b[31mred\u202e\u0007\n> ' +
    'x'.repeat(100);
  for (const { spans } of markdownText(text, width + 2, 2)) {
    const line = spans.map((span) => span.text).join('');
    // oxlint-disable-next-line no-control-regex
    expect(line).not.toMatch(/[\u001b\u202e\u0007]/);
    expect(widthOf(line.trimEnd())).toBeLessThanOrEqual(width + 2);
  }
});
