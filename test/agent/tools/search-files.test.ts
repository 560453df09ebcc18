// Promises of the `search_files` tool.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { searchFiles } from '../../../src/agent/tools/search-files.ts';
import type { JsonObject } from '../../../src/domain/json.ts';
import { makeWorkspace } from './tool-context.ts';

const search = async (files: Readonly<Record<string, string | Uint8Array>>, input: JsonObject) =>
  (await makeWorkspace(files).run(searchFiles, input)).output;

test('a pattern is plain text unless said otherwise', async () => {
  const files = { 'a.txt': 'one\nf(x) = [1-2]\r\nfx\n', 'b/c.txt': 'F(X)\n' };
  expect(await search(files, { pattern: 'f(x)' })).toBe('a.txt:2: f(x) = [1-2]');
  expect(await search(files, { pattern: '[1-2]' })).toBe('a.txt:2: f(x) = [1-2]');
  expect(await search(files, { pattern: 'f(x)', ignore_case: true })).toBe('a.txt:2: f(x) = [1-2]\nb/c.txt:1: F(X)');
  expect(await search(files, { pattern: '^f.$', regexp: true })).toBe('a.txt:3: fx');
  expect(await search(files, { pattern: '[0-9]{1}-[0-9]{1}', regexp: true })).toContain('a.txt:2:');
  expect(await search(files, { pattern: 'absent' })).toBe('[No matches.]');
});

test('each matching line is given once, with its number', async () => {
  const text = 'x x\n\nx\nno\nx at the end x';
  expect(await search({ a: text }, { pattern: 'x' })).toBe('a:1: x x\na:3: x\na:5: x at the end x');
});

test.each([
  ['(a', 'is not a regular expression'],
  ['(a)\\1', 'back-reference'],
  ['(?<n>a)\\k<n>', 'back-reference'],
  ['(?=a)b', 'look-ahead'],
  ['(?<!a)b', 'look-ahead'],
  ['a'.repeat(1001), 'longer than 1000'],
])('the regular expression %j is refused with a reason', async (pattern, reason) => {
  const { ok, output } = await makeWorkspace({ a: 'x' }).run(searchFiles, { pattern, regexp: true });
  expect(ok).toBe(false);
  expect(output).toContain(reason);
});

test.each(['[\\1(?=]', '\\\\1', '\\(?=', '[\\]\\1]', '(?:a|b)', '(?<name>x)'])(
  'the regular expression %j is taken for what it is',
  async (pattern) => {
    expect((await makeWorkspace({ a: 'x' }).run(searchFiles, { pattern, regexp: true })).ok).toBe(true);
  },
);

test('a pattern that would run forever is stopped, also in a worker thread', async () => {
  const workspace = makeWorkspace({ 'a.txt': `${'a'.repeat(50)}!\n` });
  const input = { pattern: '^(a+)+$', regexp: true };
  const { output } = await workspace.run(searchFiles, input);
  expect(output).toContain('takes too long on a.txt');
  const program = `const { parentPort } = require('node:worker_threads');
    import(${JSON.stringify(new URL('../../../src/agent/tools/search-files.ts', import.meta.url).href)}).then(async ({ searchFiles }) => {
      const context = { workspace: ${JSON.stringify(workspace.path)}, workspaceOwner: null, sandbox: null, skills: [], signal: new AbortController().signal };
      parentPort.postMessage(await searchFiles.execute(${JSON.stringify(input)}, context));
    });`;
  const worker = new Worker(program, { eval: true });
  const answer = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  await worker.terminate();
  expect(answer).toEqual({ ok: true, output });
});

test('binary and large files and folders of tools are passed over, unless one searches inside', async () => {
  const files = {
    'binary.dat': Buffer.from('\u0000needle'),
    'large.txt': `needle${'x'.repeat(2 * 1024 * 1024)}`,
    '.git/config': 'needle',
    'node_modules/m/index.js': 'needle',
    'deep/node_modules/n.js': 'needle',
    'seen.txt': 'needle',
  };
  expect(await search(files, { pattern: 'needle' })).toBe('seen.txt:1: needle\n[Files larger than 2 MB skipped: 1.]');
  expect(await search(files, { pattern: 'needle', path: 'node_modules' })).toBe('node_modules/m/index.js:1: needle');
});

test('no more than 200 matches are given, and long lines only around the match', async () => {
  const many = await search({ a: 'x\n'.repeat(1000) }, { pattern: 'x' });
  expect(many.split('\n')).toHaveLength(201);
  expect(many.endsWith('[Only the first 200 matches are shown.]')).toBe(true);
  const exact = await search({ a: 'x\n'.repeat(200) }, { pattern: 'x' });
  expect(exact.split('\n')).toHaveLength(200);
  const long = await search({ a: `${'a'.repeat(5000)}needle${'b'.repeat(5000)}` }, { pattern: 'needle' });
  expect(long).toMatch(/^a:1: …a{100}needleb{194}…$/);
});

test('a name that is not UTF-8 is counted, not lost without a word', async () => {
  const workspace = makeWorkspace();
  writeFileSync(Buffer.concat([Buffer.from(`${workspace.path}/z`), Buffer.from([0xff])]), 'needle');
  expect((await workspace.run(searchFiles, { pattern: 'needle' })).output).toBe(
    '[No matches. Files that could not be read: 1.]',
  );
});

test('a run that is stopped ends the search', async () => {
  const { context, path } = makeWorkspace({ a: 'x' });
  writeFileSync(join(path, 'b'), 'x');
  const searching = searchFiles.execute(
    { pattern: 'x' },
    { ...context, signal: AbortSignal.abort(new Error('stopped')) },
  );
  await expect(searching).rejects.toThrow('stopped');
});
