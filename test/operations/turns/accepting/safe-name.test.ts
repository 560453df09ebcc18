import { expect, test } from 'vitest';
import { safeName } from '../../../../src/operations/turns/accepting/safe-name.ts';

test.each([
  ['data.csv', 'text/csv', 'data.csv'],
  ['../../etc/passwd', 'text/plain', 'passwd'],
  ['C:\\Users\\x\\report.pdf', 'application/pdf', 'report.pdf'],
  ['..', 'text/plain', 'attachment.txt'],
  ['.bashrc', 'text/plain', 'bashrc'],
  [null, 'image/png', 'attachment.png'],
  ['', 'application/x-unknown', 'attachment.bin'],
  ['a\u202egnp.exe', 'image/png', 'agnp.exe'],
  ['two\nlines\u0007.txt', 'text/plain', 'twolines.txt'],
  ['a  b?.txt', 'text/plain', 'a b.txt'],
  ['潮汐.md', 'text/markdown', '潮汐.md'],
])('%j (%s) becomes %j', (name, mimeType, expected) => {
  expect(safeName(name, mimeType)).toBe(expected);
});

test('a long name is cut to 120 bytes, whole characters, with its extension', () => {
  const name = safeName(`${'潮'.repeat(300)}.md`, 'text/markdown');
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(120);
  expect(name).toMatch(/^潮+\.md$/);
});
