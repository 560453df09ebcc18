// Tables of values as HTML: what is a row, a cell and a heading, and what is left out.
import { expect, test } from 'vitest';
import { cellsOf, tableOf } from '../../support/rendering/rendered.ts';

test('quoted cells, lines in them, and rows of any length', async () => {
  const html = await tableOf('Name,Note\r\nAda,"one, ""two""\r\nthree"\r\nBo\r\nCy,x,more\r\n\r\n');
  expect(cellsOf(html)).toEqual([
    ['Name', 'Note', 'C'],
    ['Ada', 'one, &quot;two&quot;\nthree', ''],
    ['Bo', '', ''],
    ['Cy', 'x', 'more'],
  ]);
  expect(html).toContain('<p class="facts">3 rows</p>');
});

test.each([
  ['a.csv', 'a,b\n"1;5","2"\n'],
  ['a.csv', 'a;b\n1,5;2,5\n3,5;4,5\n'],
  ['a.csv', '1,5;2,5\n3,5;4,5\n'],
  ['a.csv', 'a\tb\n1\t2\n'],
  ['a.csv', 'a|b\n1|2\n'],
  ['a.csv', 'sep=;\na;b\n1;2\n'],
  ['a.tsv', 'a\tb\n1, 2, 3\t4\n'],
  ['a.tab', 'a\tb\n"1"\t2\n'],
])('%s with %j has two columns', async (name, text) => {
  for (const row of cellsOf(await tableOf(text, { name }))) expect(row).toHaveLength(2);
});

test('one column of sentences is one column', async () => {
  expect(cellsOf(await tableOf('Words\nfirst, then\nlast\nend\n'))[1]).toEqual(['first, then']);
});

test.each([
  ['UTF-8 with a mark', Buffer.from('\uFEFFStraße,1\nÄ,2\n')],
  ['UTF-16', Buffer.from('\uFEFFStraße,1\nÄ,2\n', 'utf16le')],
  ['Windows-1252', Buffer.from('Straße,1\nÄ,2\n', 'latin1')],
])('%s is read', async (_charset, bytes) => {
  expect(cellsOf(await tableOf(bytes))).toEqual([
    ['Straße', '1'],
    ['Ä', '2'],
  ]);
});

test('formulas, markup and marks of direction are texts', async () => {
  const html = await tableOf('a,b\n=HYPERLINK("x"),<script>alert(1)</script>\n@SUM(1),\u202Efdp.exe\n');
  expect(cellsOf(html).slice(1)).toEqual([
    ['=HYPERLINK(&quot;x&quot;)', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    ['@SUM(1)', '<span class="missing">U+202E</span>fdp.exe'],
  ]);
});

test('a quote that never ends is a character', async () => {
  expect(cellsOf(await tableOf('a,b\n"1,2\n3,4\n'))).toEqual([
    ['a', 'b'],
    ['&quot;1', '2'],
    ['3', '4'],
  ]);
});

test('rows without a heading get letters, and a heading without a name, too', async () => {
  expect(cellsOf(await tableOf('1,2026-03-01\n2,2026-03-02\n'))[0]).toEqual(['A', 'B']);
  expect(cellsOf(await tableOf('Station,,2026\nx,1,2\n'))[0]).toEqual(['Station', 'B', '2026']);
  const wide = cellsOf(await tableOf(`${'1,'.repeat(28)}1\n`))[0]!;
  expect(wide.slice(24)).toEqual(['Y', 'Z', 'AA', 'AB', 'AC']);
});

test('the first thousand rows and hundred columns are shown, and the beginning of long cells', async () => {
  const rows = Array.from({ length: 2_500 }, (_, n) => `${n}${',x'.repeat(149)}`);
  const html = await tableOf(['head,', ...rows].join('\n'));
  const cells = cellsOf(html);
  expect(cells).toHaveLength(1_001);
  expect(cells[1_000]![0]).toBe('999');
  for (const row of cells) expect(row).toHaveLength(100);
  expect(html).toContain('The first 1,000 of 2,500 rows, and 100 of 150 columns');
  const [, [long = ''] = []] = cellsOf(await tableOf(`a,b\n${'y'.repeat(10_000)},1\n`));
  expect(long).toBe(`${'y'.repeat(499)}…`);
});

test('of a part of a file, whole rows are shown', async () => {
  const cut = await tableOf('a,b\n1,2\n3,"4\n', { isCut: true });
  expect(cellsOf(cut)).toEqual([
    ['a', 'b'],
    ['1', '2'],
  ]);
  expect(cut).toContain('The first 1 rows');
  expect(cellsOf(await tableOf('a,b\n1,2\n3,4', { isCut: true }))).toHaveLength(2);
});

test('as many rows are shown as a page has room for', async () => {
  const html = await tableOf(
    `a,b\n${`${'"'.repeat(3)}${'&'.repeat(500)}${'"'.repeat(3)},`.repeat(2)}x\n`.repeat(1_000).slice(0, 1_000_000),
  );
  expect(html.length).toBeLessThan(4 * 1024 * 1024);
  expect(html).toMatch(/The first \d+ of \d+ rows|rows/);
});

test('nothing is a table of nothing', async () => {
  expect(await tableOf('')).toBe('<p class="facts">0 rows</p>');
  expect(cellsOf(await tableOf('a,b\n'))).toEqual([['a', 'b']]);
});
