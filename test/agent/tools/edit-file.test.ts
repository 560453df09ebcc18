// Promises of the `edit_file` tool.
import { lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { editFile } from '../../../src/agent/tools/edit-file.ts';
import type { JsonObject } from '../../../src/domain/json.ts';
import { makeWorkspace } from './tool-context.ts';

async function edit(content: string | Uint8Array, input: JsonObject) {
  const workspace = makeWorkspace({ file: content });
  const result = await workspace.run(editFile, { path: 'file', ...input });
  return { ...result, bytes: readFileSync(join(workspace.path, 'file')) };
}

test('text that occurs once is replaced, to the letter', async () => {
  const { ok, output, bytes } = await edit('\ufeffa $x b\r\n', { old_text: '$x', new_text: "$& $1 $' \\n" });
  expect([ok, output]).toEqual([true, 'Replaced 1 occurrence in file.']);
  expect(bytes.toString()).toBe("\ufeffa $& $1 $' \\n b\r\n");
});

test('text that occurs more than once is replaced only when all are meant', async () => {
  const refused = await edit('x x x', { old_text: 'x', new_text: 'y' });
  expect(refused.ok).toBe(false);
  expect(refused.output).toContain('occurs 3 times');
  expect(refused.bytes.toString()).toBe('x x x');
  const all = await edit('x x x', { old_text: 'x', new_text: '', replace_all: true });
  expect([all.ok, all.bytes.toString()]).toEqual([true, '  ']);
});

test.each([
  ['other', 'does not occur in file. Read the file again.'],
  ['a\nb', 'lines end in CRLF'],
  ['a  b', 'except for white space'],
])('when %j is missing the answer says what may be wrong', async (oldText, words) => {
  const { ok, output } = await edit(oldText === 'a\nb' ? 'a\r\nb\r\n' : 'a b\n', { old_text: oldText, new_text: 'x' });
  expect(ok).toBe(false);
  expect(output).toContain(words);
});

test('nothing is changed in binary files, in text that cannot be written back as it was, and for an edit that changes nothing', async () => {
  for (const content of [Buffer.from([1, 0, 2, 97]), Buffer.from(`${'\u00e9'.repeat(9)} \u0000a`)]) {
    const { ok, bytes } = await edit(content, { old_text: 'a', new_text: 'b' });
    expect(ok).toBe(false);
    expect(bytes).toEqual(content);
  }
  const late = Buffer.from(`${'x'.repeat(9000)}\u0000 a`);
  expect((await edit(late, { old_text: ' a', new_text: ' b' })).bytes).toEqual(late);
  expect((await edit('a', { old_text: 'a', new_text: 'a' })).output).toContain('nothing would change');
});

test('an edit that would make the file too large is refused', async () => {
  const { ok, output } = await edit('x'.repeat(1000), {
    old_text: 'x',
    new_text: 'y'.repeat(20_000),
    replace_all: true,
  });
  expect([ok, output]).toEqual([false, 'The file would become larger than 10485760 bytes.']);
});

test('an edited script stays executable', async () => {
  const workspace = makeWorkspace();
  writeFileSync(join(workspace.path, 'run.sh'), 'echo a', { mode: 0o755 });
  await workspace.run(editFile, { path: 'run.sh', old_text: 'a', new_text: 'b' });
  expect(lstatSync(join(workspace.path, 'run.sh')).mode & 0o777).toBe(0o755);
});
