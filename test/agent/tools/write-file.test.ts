// Promises of the `write_file` tool.
import { lstatSync, readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeFile } from '../../../src/agent/tools/write-file.ts';
import { makeWorkspace } from './tool-context.ts';

test('a file is written with the folders on its way, and the bytes are counted', async () => {
  const workspace = makeWorkspace();
  const result = await workspace.run(writeFile, { path: '/a/b/c.txt', content: '\u00e4\n' });
  expect(result).toEqual({ ok: true, output: 'Wrote 3 bytes to a/b/c.txt.' });
  expect(readFileSync(join(workspace.path, 'a/b/c.txt'), 'utf8')).toBe('\u00e4\n');
  expect(readdirSync(join(workspace.path, 'a/b'))).toEqual(['c.txt']);
});

test('a link that leads nowhere is not written through', async () => {
  const workspace = makeWorkspace();
  symlinkSync('../planted', join(workspace.path, 'link'));
  const result = await workspace.run(writeFile, { path: 'link', content: 'x' });
  expect(result).toEqual({ ok: false, output: '"link" is a symbolic link, and links are not followed.' });
  expect(readdirSync(join(workspace.path, '..')).sort()).toEqual(['secret', 'workspace']);
});

test('more than ten megabytes, a folder and the workspace itself are refused', async () => {
  const workspace = makeWorkspace({ 'folder/file': 'x' });
  const large = await workspace.run(writeFile, { path: 'large', content: 'x'.repeat(10 * 1024 * 1024 + 1) });
  expect(large).toEqual({ ok: false, output: 'The content is larger than 10485760 bytes.' });
  expect((await workspace.run(writeFile, { path: 'folder', content: '' })).output).toBe('"folder" is a folder.');
  expect((await workspace.run(writeFile, { path: '/', content: '' })).ok).toBe(false);
  expect(readdirSync(workspace.path)).toEqual(['folder']);
});

test.runIf(process.getuid?.() === 0)('what is written belongs to the owner of the workspace', async () => {
  const owner = { uid: 61000, gid: 61000 };
  const workspace = makeWorkspace({}, { workspaceOwner: owner });
  await workspace.run(writeFile, { path: 'a/b', content: 'x' });
  expect(lstatSync(join(workspace.path, 'a'))).toMatchObject(owner);
  expect(lstatSync(join(workspace.path, 'a/b'))).toMatchObject(owner);
});
