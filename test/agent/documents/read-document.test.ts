// The text of documents, from real bytes of each kind.
import { expect, test } from 'vitest';
import { readDocument } from '../../../src/agent/documents/read-document.ts';
import { aPdf, aRow, aWordDocument, aWorkbook, aZip, paragraph } from '../../support/files/documents.ts';

const read = (bytes: Buffer, name: string, mimeType = 'application/octet-stream') =>
  readDocument({ bytes, name, mimeType });

test('a PDF is read page by page, also under the name of a text', async () => {
  const pdf = aPdf(['The tide turns\nat noon.', 'Then it ebbs.']);
  const text = '[Page 1 of 2]\nThe tide turns\nat noon.\n\n[Page 2 of 2]\nThen it ebbs.';
  expect(await read(pdf, 'tides.pdf', 'application/pdf')).toEqual({ text });
  expect(await read(pdf, 'tides.txt', 'text/plain')).toEqual({ text });
});

test('a PDF has something before its mark: what makes no text of it, or what its name or type explains', async () => {
  const pdf = aPdf(['The tide turns.']);
  const after = (before: string) => Buffer.concat([Buffer.from(before, 'latin1'), pdf]);
  const text = 'The tide turns.';
  for (const before of ['\xef\xbb\xbf', '\r\n\0 ']) expect(await read(after(before), 'tides')).toEqual({ text });
  const headers = after('Content-Type: application/pdf\r\n\r\n');
  expect(await read(headers, 'tides.pdf')).toEqual({ text });
  expect(await read(headers, 'tides', 'application/pdf')).toEqual({ text });
  const binary = Buffer.concat([Buffer.from('junk\n'), pdf, Buffer.alloc(64)]);
  expect(await read(binary, 'tides')).toEqual({ text });
});

test('a text that mentions the mark of a PDF is a text', async () => {
  const note = '# PDF\n\nA file begins with `%PDF-1.7`.';
  expect(await read(Buffer.from(note), 'note.md', 'text/markdown')).toEqual({ text: note });
  expect(await read(Buffer.from(note), 'note')).toEqual({ text: note });
  const page = `<html><body><p>It begins with %PDF-1.7</p></body></html>`;
  expect(await read(Buffer.from(page), 'note.html', 'text/html')).toEqual({ text: 'It begins with %PDF-1.7' });
});

test('a Word document is read with its paragraphs and tables', async () => {
  const cell = (text: string) => `<w:tc>${paragraph(text)}</w:tc>`;
  const table = `<w:tbl><w:tr>${cell('Port')}${cell('High')}</w:tr><w:tr>${cell('Brest')}${cell('7.1')}</w:tr></w:tbl>`;
  const result = await read(aWordDocument(paragraph('Tides &amp; ports') + table), 'tides.docx');
  expect(result).toMatchObject({ text: expect.stringMatching(/^Tides & ports\n+ ?Port \| High\n+ ?Brest \| 7\.1$/) });
});

test('a workbook is read as comma-separated lines under the name of each sheet', async () => {
  const workbook = aWorkbook(aRow(1, ['port', 'height']) + aRow(2, ['Brest, "Rade"', 7.1]));
  expect(await read(workbook, 'tides.xlsx')).toEqual({
    text: '[Sheet "Tides", 2 rows]\nport,height\n"Brest, ""Rade""",7.1',
  });
});

test('a web page is read as text, in the character set that it names', async () => {
  const page = Buffer.from(
    '<html><head><title>Ports</title><meta charset="windows-1252"><style>p{}</style></head><body><h1>Mar\xe9es</h1><ul><li>haute<li>basse</ul><script>x()</script><a href="https://tides.example/">more</a></body></html>',
    'latin1',
  );
  const { text } = (await read(page, 'page.html', 'text/html')) as { text: string };
  expect(text).toMatch(/^Ports\n\n# Marées/);
  expect(text).toContain('- haute');
  expect(text).toContain('more (https://tides.example/)');
  expect(text).not.toContain('x()');
  expect(text.endsWith(`\n${readAs('windows-1252')}`)).toBe(true);
});

test('the mark of a page comes before what it names', async () => {
  const page = Buffer.from('\ufeff<meta charset=gb2312><p>Marées');
  expect(await read(page, 'page.html')).toEqual({ text: 'Marées' });
});

const readAs = (charset: string) => `[The file is not UTF-8; it was read as ${charset}.]`;

test.each([
  ['a.csv', 'text/csv', Buffer.from('port,height\nBrest,7.1\n'), 'port,height\nBrest,7.1\n'],
  ['a.json', 'application/json', Buffer.from('{"a":1}'), '{"a":1}'],
  ['a.md', 'text/markdown', Buffer.from('# Tides'), '# Tides'],
  ['a.xml', 'application/xml', Buffer.from('<a>b</a>'), '<a>b</a>'],
  ['a.txt', 'text/plain', Buffer.from('mar\xe9e \x80', 'latin1'), `marée €\n${readAs('windows-1252')}`],
  ['a', 'application/octet-stream', Buffer.from('mar\xe9e \x80', 'latin1'), `marée €\n${readAs('windows-1252')}`],
  [
    'b.txt',
    'text/plain',
    Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('marée', 'utf16le')]),
    `marée\n${readAs('utf-16le')}`,
  ],
  ['c.csv', '', Buffer.from('a;b\n1;2\n', 'utf16le'), `a;b\n1;2\n\n${readAs('utf-16le')}`],
  ['d.txt', 'text/plain', Buffer.from('\uFEFFport'), 'port'],
  ['c.bin', 'application/octet-stream', Buffer.from('plain after all'), 'plain after all'],
])('%s of type %s is taken as the text it is', async (name, mimeType, bytes, text) => {
  expect(await read(bytes, name, mimeType)).toEqual({ text });
});

const NOISE = Buffer.from(Array.from({ length: 4000 }, (_, index) => 128 + ((index * 97) % 127)));

test.each([
  ['a.pdf', 'application/pdf', NOISE, 'could not be read: it is not a PDF document'],
  [
    'a.pdf',
    'application/pdf',
    Buffer.from('%PDF-1.7\nnothing more'),
    'could not be read: it is damaged, or not a PDF document',
  ],
  ['a.pdf', 'application/pdf', aPdf(['']), 'contains no text; its pages may be images'],
  ['a.docx', 'application/octet-stream', NOISE, 'could not be read: it is not a Word document'],
  [
    'a.docx',
    'application/octet-stream',
    aWordDocument(paragraph('x')).subarray(0, 300),
    'could not be read: it is not a Word document',
  ],
  [
    'a.docx',
    'application/octet-stream',
    aZip({ 'word/document.xml': '<w:' }),
    'could not be read: it is damaged, or not a Word document',
  ],
  [
    'a.xlsx',
    'application/octet-stream',
    aZip({ 'xl/workbook.xml': '<' }),
    'could not be read: it is damaged, or not an Excel workbook',
  ],
  ['a.xlsx', 'application/octet-stream', aWorkbook(''), 'contains no cells'],
  [
    'a.zip',
    'application/zip',
    aZip({ 'a.txt': 'x' }),
    'contains no readable text (zip archive (or an Office document))',
  ],
  ['a.bin', 'application/octet-stream', NOISE, 'contains no readable text (unknown kind)'],
  ['a.txt', 'text/plain', Buffer.from(' \n'), 'is empty'],
])('%s of type %s that cannot be read says so', async (name, mimeType, bytes, fault) => {
  expect(await read(bytes, name, mimeType)).toEqual({ fault });
});

test('the first 200,000 characters of a long text are kept', async () => {
  const { text } = (await read(Buffer.alloc(300_000, 'x'), 'long.txt', 'text/plain')) as { text: string };
  expect(text).toMatch(/^x{200000}\n\[The text continues; it was read up to here\.\]$/);
});
