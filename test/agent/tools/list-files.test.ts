// Promises of the `list_files` tool.
import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listFiles } from '../../../src/agent/tools/list-files.ts';
import { makeWorkspace } from './tool-context.ts';

test('files, folders, links and others are distinguished, one a line', async () => {
  const workspace = makeWorkspace({ 'b.txt': '12345', 'a/c.txt': '' });
  symlinkSync('/etc', join(workspace.path, 'etc'));
  execFileSync('/usr/bin/mkfifo', [join(workspace.path, 'pipe')]);
  expect((await workspace.run(listFiles, {})).output.split('\n')).toEqual([
    'a/',
    'a/c.txt 0',
    'b.txt 5',
    'etc (symbolic link, not followed)',
    'pipe (pipe, socket or device)',
  ]);
});

test('a listing goes as deep as asked and says when there is more', async () => {
  const workspace = makeWorkspace({ 'a/b/c/d/e': '' });
  expect((await workspace.run(listFiles, {})).output).toBe(
    'a/\na/b/\na/b/c/\n[Folders at level 3 were not opened; use `path` or `depth` to list their contents.]',
  );
  expect((await workspace.run(listFiles, { depth: 5 })).output).toBe('a/\na/b/\na/b/c/\na/b/c/d/\na/b/c/d/e 0');
  expect((await workspace.run(listFiles, { path: 'a/b/c/d' })).output).toBe('a/b/c/d/e 0');
});

test('at most a thousand entries are shown, the shallow ones first', async () => {
  const many = Object.fromEntries(Array.from({ length: 1200 }, (_, index) => [`a/${index}`, '']));
  const lines = (await makeWorkspace({ ...many, 'z.txt': '' }).run(listFiles, {})).output.split('\n');
  expect(lines).toHaveLength(1001);
  expect(lines).toContain('z.txt 0');
  expect(lines.at(-1)).toBe('[Only the first 1000 entries are shown; list a subfolder for more.]');
});

test('names that would break the listing are escaped', async () => {
  const workspace = makeWorkspace({ 'two\nlines': '', 'esc\u001b[31m': '' });
  writeFileSync(Buffer.concat([Buffer.from(`${workspace.path}/z`), Buffer.from([0xff])]), '');
  expect((await workspace.run(listFiles, {})).output.split('\n')).toEqual([
    'esc\\u001b[31m 0',
    'two\\u000alines 0',
    'z\ufffd (its name is not UTF-8) 0',
  ]);
});

test('an empty folder is said to be empty, a file and a missing folder are not listed', async () => {
  const workspace = makeWorkspace({ file: '' });
  expect((await makeWorkspace().run(listFiles, {})).output).toBe('[The folder is empty.]');
  expect(await workspace.run(listFiles, { path: 'file' })).toEqual({ ok: false, output: '"file" is not a folder.' });
  expect((await workspace.run(listFiles, { path: 'none' })).ok).toBe(false);
});

test('a run that is stopped ends the listing', async () => {
  const { context } = makeWorkspace({ file: '' });
  const listing = listFiles.execute({}, { ...context, signal: AbortSignal.abort(new Error('stopped')) });
  await expect(listing).rejects.toThrow('stopped');
});
