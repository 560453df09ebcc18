import { expect, test } from 'vitest';
import { type Block, blocksOf, type Cell } from '../../../src/browser/page/markdown.ts';

const wordsOf = ({ text }: Cell) => text.map((node) => (typeof node === 'string' ? node : '?')).join('');
const kinds = (text: string) => blocksOf(text).map(({ kind }) => kind);

test('each kind of block is found', () => {
  const text =
    '# Title\n\nA paragraph\nof two lines\n\n- one\n- two\n\n1. first\n2. second\n\n> said\n\n```ts\nlet a;\n```\n\n---';
  expect(kinds(text)).toEqual(['heading', 'paragraph', 'list', 'list', 'quote', 'code', 'rule']);
});

test('a table has its cells, and knows which are numbers', () => {
  const [table] = blocksOf('| City | People |\n|---|---:|\n| Ulm | 126,000 |\n| a \\| b | 1 |') as [
    Block & { kind: 'table' },
  ];
  expect(table.head.map(wordsOf)).toEqual(['City', 'People']);
  expect(table.rows.map((row) => row.map(wordsOf))).toEqual([
    ['Ulm', '126,000'],
    ['a | b', '1'],
  ]);
  expect(table.rows[0]?.map(({ isNumeric }) => isNumeric)).toEqual([false, true]);
});

test('lists are nested, and go on at their numbers', () => {
  const [list] = blocksOf('3. three\n   - a\n   - b\n4. four') as [Block & { kind: 'list' }];
  expect(list.start).toBe(3);
  expect(list.items.map((item) => item.map(({ kind }) => kind))).toEqual([['paragraph', 'list'], ['paragraph']]);
});

test('code that has not ended yet is code, and nothing in it is a mark', () => {
  expect(blocksOf('```\n# no heading\n**no**')).toEqual([{ kind: 'code', text: '# no heading\n**no**' }]);
});

test('tasks show whether they are done', () => {
  expect(JSON.stringify(blocksOf('- [ ] open\n- [x] done'))).toMatch(/☐ open.*☑ done/);
});

test.each(['- ', '> ', '  - a\n', '| a ', '|', '# ', ' ', '```\n', '1. ', '-', '|-'])(
  'a hundred thousand characters of %j are taken in a moment',
  (text) => {
    expect(blocksOf(text.repeat(100_000 / text.length))).toBeDefined();
    expect(blocksOf(`a|b\n${text.repeat(100_000 / text.length)}`)).toBeDefined();
  },
);

test('a heading has no closing marks, and keeps a mark of its own', () => {
  expect(blocksOf('## Plan  ##\n# About C#\n# #')).toEqual([
    { kind: 'heading', level: 2, text: ['Plan'] },
    { kind: 'heading', level: 1, text: ['About C#'] },
    { kind: 'heading', level: 1, text: [] },
  ]);
});

test.each([
  ['a heading', `#${' '.repeat(990)}a\u2028b\n`],
  ['an item', `-${' '.repeat(999_000)}a\u2028b\n`],
  ['a divider', `a|b\n${' '.repeat(450)}-${' '.repeat(450)}x|\n\n`],
])('blanks of %s that goes on are taken in a moment', (_, text) => {
  // It would take minutes if it were slow: the test would not end.
  expect(blocksOf(text.repeat(Math.ceil(1_000_000 / text.length)))).toBeDefined();
});
