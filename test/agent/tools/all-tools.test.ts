// Properties that hold for every tool.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { TOOLS } from '../../../src/agent/tools/all-tools.ts';
import type { ExecutedTool } from '../../../src/agent/port/tool.ts';
import { READING_TOOLS, TOOL_NAMES, toolNamesFor } from '../../../src/agent/tools/tool-names.ts';
import type { JsonObject } from '../../../src/domain/json.ts';
import { makeWorkspace, SECRET } from './tool-context.ts';

const tool = (name: string): ExecutedTool => {
  const found = TOOLS.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`no tool ${name}`);
  return found;
};

/** The input of each file tool for a path. */
const ASKED: readonly (readonly [string, JsonObject])[] = [
  ['read_file', {}],
  ['write_file', { content: 'changed' }],
  ['edit_file', { old_text: 'not', new_text: 'now' }],
  ['list_files', {}],
  ['search_files', { pattern: 'not' }],
];

test('the names that are granted are those of the tools', () => {
  expect(TOOLS.map(({ name }) => name)).toEqual(TOOL_NAMES);
});

test('only a run with a sandbox has a shell', () => {
  expect(toolNamesFor({ sandbox: false })).toEqual([
    'read_file',
    'write_file',
    'edit_file',
    'list_files',
    'search_files',
    'web_fetch',
  ]);
  expect(toolNamesFor({ sandbox: true })).toEqual([...toolNamesFor({ sandbox: false }), 'shell']);
});

test.each(TOOLS.map((one) => [one.name, one] as const))(
  'the schema of %s is a closed object and valid JSON Schema',
  (_, one) => {
    const check = new Ajv({ strict: true }).compile(one.inputSchema);
    expect(one.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(check({ surprise: 1 })).toBe(false);
  },
);

test.each(ASKED)('%s does not leave the workspace, by link, by linked folder or by ..', async (name, input) => {
  const workspace = makeWorkspace();
  symlinkSync(workspace.secret, join(workspace.path, 'link'));
  symlinkSync('..', join(workspace.path, 'door'));
  symlinkSync('/etc/passwd', join(workspace.path, 'passwd'));
  for (const path of ['link', 'door/secret', 'door', '../secret', '/../secret', '/workspace/../../secret', 'passwd']) {
    const { ok, output } = await workspace.run(tool(name), { ...input, path });
    expect(ok, `${path}: ${output}`).toBe(false);
    expect(output).not.toContain(SECRET.trim());
    expect(output).not.toContain('root:');
  }
  expect(readFileSync(workspace.secret, 'utf8')).toBe(SECRET);
  expect(readdirSync(join(workspace.path, '..')).sort()).toEqual(['secret', 'workspace']);
});

test.each(ASKED)('%s hangs neither on a pipe nor on an invalid path', async (name, input) => {
  const workspace = makeWorkspace();
  execFileSync('/usr/bin/mkfifo', [join(workspace.path, 'pipe')]);
  for (const path of ['pipe', 'pipe/x', 'a\u0000b', 'x'.repeat(300), 'x/'.repeat(3000)]) {
    const { ok, output } = await workspace.run(tool(name), { ...input, path });
    expect(ok, `${path.slice(0, 20)}: ${output}`).toBe(false);
  }
});

test.each(['a/b.txt', '/a/b.txt', './a/b.txt', '/workspace/a/b.txt', 'a/../a//b.txt'])(
  '%s names the same file to every tool',
  async (path) => {
    const workspace = makeWorkspace({ 'a/b.txt': 'here\n' });
    expect(await workspace.run(tool('read_file'), { path })).toEqual({ ok: true, output: 'here\n' });
    expect((await workspace.run(tool('edit_file'), { path, old_text: 'here', new_text: 'there' })).ok).toBe(true);
    expect((await workspace.run(tool('search_files'), { path, pattern: 'there' })).output).toContain(':1: there');
    expect((await workspace.run(tool('write_file'), { path, content: 'new' })).ok).toBe(true);
    expect(readFileSync(join(workspace.path, 'a/b.txt'), 'utf8')).toBe('new');
    const folder = path.slice(0, path.lastIndexOf('/'));
    expect((await workspace.run(tool('list_files'), { path: folder })).output).toBe('a/b.txt 3');
  },
);

test('of the built-in tools, those that only read leave nothing in a workspace', () => {
  const reading = TOOLS.filter(({ readsOnly }) => readsOnly === true).map(({ name }) => name);
  expect(TOOL_NAMES.filter((name) => READING_TOOLS.includes(name))).toEqual(reading);
});
