// What tools do with texts of many short pieces fits into the heap of a thread: one that fills it at once ends the daemon (0007).
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/domain/json.ts';
import { MB } from '../../../src/domain/byte-units.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

const main = fileURLToPath(new URL('small-heap-main.ts', import.meta.url));

/** The end of what a tool says of a file, on a thread with 64 MB; throws where the thread or its process ends before. */
function call(name: string, content: Buffer, input: JsonObject) {
  const workspace = temporaryDirectory({ file: content });
  const args = [main, workspace, name, JSON.stringify({ path: 'file', ...input })];
  const said = execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return { said, bytes: () => readFileSync(join(workspace, 'file')) };
}

const of = (size: number, text: string, charset: BufferEncoding = 'latin1') => Buffer.alloc(size, text, charset);

test('an edit whose text would be too large is refused before the text is made', () => {
  const input = { old_text: 'a', new_text: 'b'.repeat(51), replace_all: true };
  const { said, bytes } = call('edit_file', of(10 * MB, 'a'), input);
  expect(said).toBe('The file would become larger than 10485760 bytes.');
  expect(bytes().equals(of(10 * MB, 'a'))).toBe(true);
});

test('an edit of millions of places is made', () => {
  const { said, bytes } = call('edit_file', of(6 * MB, 'ab'), { old_text: 'a', new_text: 'x', replace_all: true });
  expect(said).toBe('Replaced 3145728 occurrences in file.');
  expect(bytes().equals(of(6 * MB, 'xb'))).toBe(true);
});

test('an edit of a text of millions of words that does not occur in it says what may be wrong', () => {
  const { said } = call('edit_file', of(6 * MB, 'a '), { old_text: 'a\na', new_text: 'b' });
  expect(said).toBe(
    '`old_text` does not occur in file. It does except for white space: copy it exactly from the file.',
  );
});

test.each([
  ['lines', '\n', 'Lines 1-262144 of a file of 12582914 bytes; continue with offset 262145.'],
  ['NULs', '\u0000', 'Line 1 is too long and was truncated at 256 KB.'],
])('a part of millions of %s in UTF-16 is read', (_, text, note) => {
  const content = Buffer.concat([Buffer.from([0xff, 0xfe]), of(12 * MB, text, 'utf16le')]);
  expect(call('read_file', content, {}).said).toContain(`[The file is not UTF-8; it was read as utf-16le. ${note}]`);
});
