// Promises of the `read_file` tool.
import { expect, test } from 'vitest';
import type { DocumentText } from '../../../src/agent/port/services.ts';
import { readFile } from '../../../src/agent/tools/read-file.ts';
import { makeWorkspace } from './tool-context.ts';

const read = async (content: string | Uint8Array, input: { offset?: number; limit?: number } = {}) =>
  makeWorkspace({ file: content }).run(readFile, { path: 'file', ...input });

test('a text file is returned as it is', async () => {
  for (const text of ['one\ntwo\n', 'no end', 'crlf\r\n', '\u00e4\u{1f600}\n', '\n']) {
    expect(await read(text)).toEqual({ ok: true, output: text });
  }
});

test('a range of lines can be requested, and the reply says where to continue', async () => {
  const text = Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`).join('');
  const { output } = await read(text, { offset: 3, limit: 2 });
  expect(output).toBe(`line 3\nline 4\n[Lines 3-4 of a file of ${text.length} bytes; continue with offset 5.]`);
  expect((await read(text, { offset: 9, limit: 2 })).output).toBe('line 9\nline 10\n');
  expect((await read(text, { offset: 10 })).output).toBe('line 10\n');
  expect(await read(text, { offset: 11 })).toEqual({
    ok: false,
    output: 'The file ends before line 11 (it has 10 lines).',
  });
  expect((await read('a\nb', { offset: 3 })).output).toContain('it has 2 lines');
});

test('reading on by the offsets given yields the whole of a large file', async () => {
  const text = Array.from({ length: 40_000 }, (_, index) => `${index} ${'x'.repeat(index % 60)}\n`).join('');
  const workspace = makeWorkspace({ file: text });
  let whole = '';
  let offset = 1;
  for (let turn = 0; offset > 0 && turn < 20; turn += 1) {
    const { output } = await workspace.run(readFile, { path: 'file', offset });
    expect(Buffer.byteLength(output)).toBeLessThan(257 * 1024);
    const next = /\n\[Lines .* continue with offset (\d+)\.\]$/.exec(output);
    whole += next === null ? output : output.slice(0, next.index + 1);
    offset = Number(next?.[1] ?? 0);
  }
  expect(whole === text).toBe(true);
});

test('a line that is too long is cut and said to be', async () => {
  const { ok, output } = await read(`${'\u00e4'.repeat(400_000)}\nnext\n`);
  expect(ok).toBe(true);
  expect(output).toMatch(/Line 1 is too long and was truncated at 256 KB\. .* continue with offset 2\.\]$/);
  expect(output).not.toContain('\ufffd');
});

test('binary files are described, not shown', async () => {
  const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13]);
  expect(await read(png)).toEqual({ ok: false, output: '"file" is a binary file (PNG image, 12 bytes).' });
  expect((await read(Buffer.from([1, 2, 0, 3]))).output).toBe('"file" is a binary file (unknown kind, 4 bytes).');
});

test('text that is not UTF-8 is read with a note', async () => {
  expect((await read(Buffer.from('caf\xe9\n', 'latin1'))).output).toBe(
    'caf\u00e9\n[The file is not UTF-8; it was read as windows-1252.]',
  );
  const wide = Buffer.from('\ufeffwide\n', 'utf16le');
  expect((await read(wide)).output).toBe('wide\n[The file is not UTF-8; it was read as utf-16le.]');
});

test('no NUL reaches the model, from any position', async () => {
  const { output } = await read(`${'x'.repeat(10_000)}\u0000end`);
  expect(output.endsWith('\ufffdend')).toBe(true);
});

test('an empty file and a missing one are distinguished', async () => {
  expect(await read('')).toEqual({ ok: true, output: '[The file is empty.]' });
  expect(await makeWorkspace().run(readFile, { path: 'none' })).toEqual({
    ok: false,
    output: '"none" does not exist.',
  });
});

const PDF = '%PDF-1.4\n\u0000';
const TEXT = Array.from({ length: 10 }, (_, index) => `line ${index + 1}`).join('\n');

/** Reads `tides.pdf`, of which the process for documents says this. */
async function readPdf(says: DocumentText | null, input: { offset?: number; limit?: number } = {}) {
  const asked: unknown[] = [];
  const workspace = makeWorkspace(
    { 'tides.pdf': PDF },
    {
      readDocument: async (file) => {
        asked.push(file);
        return says;
      },
    },
  );
  return { result: await workspace.run(readFile, { path: '/tides.pdf', ...input }), asked, root: workspace.path };
}

test('the text of a document is returned by lines, as of any file', async () => {
  const whole = await readPdf({ text: TEXT });
  expect(whole.asked).toEqual([{ root: whole.root, path: '/tides.pdf', version: expect.stringMatching(/^\d+ 10 /) }]);
  expect(whole.result).toEqual({
    ok: true,
    output: `${TEXT}\n[This is the text of a PDF document of 10 bytes.]`,
  });
  expect((await readPdf({ text: TEXT }, { offset: 3, limit: 2 })).result.output).toBe(
    'line 3\nline 4\n[This is the text of a PDF document of 10 bytes. Lines 3-4 of 10; continue with offset 5.]',
  );
  expect((await readPdf({ text: TEXT }, { offset: 10 })).result.output).toMatch(/^line 10\n\[This/);
  expect((await readPdf({ text: TEXT }, { offset: 11 })).result).toEqual({
    ok: false,
    output: 'The text of the file ends before line 11 (it has 10 lines).',
  });
});

test('reading on by the offsets given yields the whole text of a document, however long its lines', async () => {
  const lines = Array.from({ length: 300 }, (_, index) => `${index} ${'x'.repeat(index === 7 ? 150_000 : 900)}`);
  const seen: string[] = [];
  for (let offset = 1; offset > 0 && seen.length <= 300; ) {
    const { output } = (await readPdf({ text: lines.join('\n') }, { offset })).result;
    const note = output.lastIndexOf('\n[');
    seen.push(...output.slice(0, note).split('\n'));
    offset = Number(/continue with offset (\d+)/.exec(output.slice(note))?.[1] ?? 0);
  }
  expect(seen).toEqual(lines);
});

test('a document without text, or whose text cannot be read, says why', async () => {
  const { result } = await readPdf({ fault: 'is protected by a password' });
  const file = '"/tides.pdf" is a binary file (PDF document, 10 bytes).';
  expect(result).toEqual({ ok: false, output: `${file} It is protected by a password.` });
  expect((await readPdf(null)).result).toEqual({ ok: false, output: `${file} Its text could not be read now.` });
});
