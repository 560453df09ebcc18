// Skills: how they are listed, loaded, read, and seen by commands.
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { skillTools, withoutFrontMatter } from '../../src/agent/packs/skills.ts';
import { NO_EQUIPMENT, type SkillGrant } from '../../src/agent/port/grants.ts';
import { probeSandbox } from '../../src/agent/sandbox/sandbox.ts';
import type { ExecutedTool } from '../../src/agent/port/tool.ts';
import { editFile } from '../../src/agent/tools/edit-file.ts';
import { listFiles } from '../../src/agent/tools/list-files.ts';
import { readFile } from '../../src/agent/tools/read-file.ts';
import { searchFiles } from '../../src/agent/tools/search-files.ts';
import { shell } from '../../src/agent/tools/shell.ts';
import { writeFile } from '../../src/agent/tools/write-file.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { makeBrief, makeRun } from './play-main.ts';
import { makeWorkspace } from './tools/tool-context.ts';

const MIB = 1024 * 1024;
const probe = await probeSandbox({
  path: '/usr/local/bin:/usr/bin:/bin',
  privateFolders: [],
  timeoutMs: 120_000,
  maxOutputBytes: MIB,
  memoryBytes: 512 * MIB,
  maxProcesses: 64,
});
if (!probe.ok) console.warn(`\n*** SKIPPED: skills in the sandbox. ${probe.why} ***\n`);

const SKILL = '---\nname: letters\ndescription: Writes letters.\n---\n\nUse the template.\n---\nNot front matter.\n';

function makeSkill(files: Readonly<Record<string, string>> = {}, name = 'letters'): SkillGrant {
  const base = temporaryDirectory();
  const folder = join(base, name);
  mkdirSync(folder);
  writeFileSync(join(base, 'secret'), 'outside of the skill');
  for (const [path, text] of Object.entries({ 'SKILL.md': SKILL, ...files })) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return { name, description: 'Writes\n letters.', folder };
}

async function open(skills: readonly SkillGrant[]) {
  const brief = await makeBrief({ equipment: { ...NO_EQUIPMENT, skills } });
  const opened = await skillTools(makeRun(brief, undefined as never));
  return { ...opened, tool: opened.tools[0] as ExecutedTool };
}

test.each([
  { text: SKILL, body: 'Use the template.\n---\nNot front matter.' },
  { text: '---\r\nname: a\r\n---\r\nBody.\r\n', body: 'Body.' },
  { text: '---\n---\nBody.', body: 'Body.' },
  { text: '\uFEFF---\nname: a\n---\nBody.', body: 'Body.' },
  { text: 'No front matter.\n---\nx', body: 'No front matter.\n---\nx' },
  { text: '---\nnever closed\n', body: '---\nnever closed' },
])('the front matter is left out: $text', ({ text, body }) => {
  expect(withoutFrontMatter(text)).toBe(body);
});

test('a run without skills has no list of skills and no tool for them', async () => {
  expect(await open([])).toMatchObject({ tools: [], notes: [] });
});

test('skills are listed by name and description, and loaded with their files', async () => {
  const { tool, notes } = await open([makeSkill({ 'templates/a.txt': 'Dear', 'run.sh': 'echo hi' })]);
  expect(notes.join('\n')).toContain('letters: Writes letters.');
  const { context } = makeWorkspace();
  const { ok, output } = await tool.execute({ name: 'letters' }, context);
  expect(ok).toBe(true);
  expect(output).toContain('Use the template.');
  expect(output).not.toContain('description:');
  expect(output).toContain('/skills/letters/run.sh 7');
  expect(output).toContain('/skills/letters/templates/a.txt 4');
});

test('a skill that does not exist, has vanished or is a link is reported', async () => {
  const gone: SkillGrant = { name: 'gone', description: 'x', folder: join(temporaryDirectory(), 'gone') };
  const linked = makeSkill({}, 'linked');
  const without = join(temporaryDirectory(), 'without');
  mkdirSync(without);
  symlinkSync(join(linked.folder, 'SKILL.md'), join(without, 'SKILL.md'));
  const { tool } = await open([gone, { name: 'without', description: 'x', folder: without }]);
  const { context } = makeWorkspace();
  const ask = (name: string) => tool.execute({ name }, context);
  expect(await ask('other')).toMatchObject({ ok: false, output: expect.stringContaining('gone, without') });
  expect(await ask('gone')).toMatchObject({ ok: false, output: expect.stringContaining('does not exist') });
  expect(await ask('without')).toMatchObject({ ok: false, output: expect.stringContaining('symbolic link') });
});

describe('files of a skill', () => {
  function workspaceOf() {
    const skill = makeSkill({ 'templates/a.txt': 'Dear you\n' });
    symlinkSync('../secret', join(skill.folder, 'link'));
    return makeWorkspace({ 'skills/letters/mine.txt': 'mine' }, { skills: [skill, makeSkill({}, 'other')] });
  }

  test('are read, listed and searched under /skills', async () => {
    const { run } = workspaceOf();
    expect(await run(readFile, { path: '/skills/letters/templates/a.txt' })).toEqual({
      ok: true,
      output: 'Dear you\n',
    });
    expect((await run(listFiles, { path: '/skills/letters' })).output).toContain('/skills/letters/templates/a.txt 9');
    expect((await run(searchFiles, { pattern: 'Dear', path: '/skills/letters' })).output).toBe(
      '/skills/letters/templates/a.txt:1: Dear you',
    );
    expect((await run(readFile, { path: '/skills/letters/../other/SKILL.md' })).ok).toBe(true);
  });

  test.each([
    '/skills/letters/../../secret',
    '/skills/letters/../../../etc/passwd',
    '/skills/letters/link',
    '/skills/nope/x',
    '/skills',
  ])('%s leads nowhere', async (path) => {
    const { run } = workspaceOf();
    const { ok, output } = await run(readFile, { path });
    expect(ok).toBe(false);
    expect(output).not.toContain('outside of the skill');
  });

  test('are never written', async () => {
    const { run } = workspaceOf();
    for (const path of ['/skills/letters/new.txt', '/skills/letters/../other/SKILL.md', '//skills/letters/SKILL.md']) {
      expect(await run(writeFile, { path, content: 'x' })).toMatchObject({
        ok: false,
        output: expect.stringContaining('read-only'),
      });
    }
    expect(
      await run(editFile, { path: '/skills/letters/SKILL.md', old_text: 'Use', new_text: 'Do not use' }),
    ).toMatchObject({ ok: false });
    expect((await run(readFile, { path: '/skills/letters/SKILL.md' })).output).toBe(SKILL);
  });

  test('a folder of the workspace with that name is reached by its relative path, or when the run has no skills', async () => {
    const { run } = workspaceOf();
    expect((await run(readFile, { path: 'skills/letters/mine.txt' })).output).toBe('mine');
    const without = makeWorkspace({ 'skills/letters/mine.txt': 'mine' });
    expect((await without.run(readFile, { path: '/skills/letters/mine.txt' })).output).toBe('mine');
  });
});

describe.skipIf(!probe.ok)('a command in the sandbox', () => {
  const sandbox = probe.ok ? probe.grant : null;

  test('sees the skill read-only, also one in a folder that only the daemon may enter', async () => {
    const skill = makeSkill({ 'run.sh': 'echo from the skill' });
    const closed = join(skill.folder, '..');
    chmodSync(closed, 0o700);
    if (sandbox?.owner != null) chownSync(closed, 0, 0);
    const { run } = makeWorkspace({}, { skills: [skill], sandbox, workspaceOwner: sandbox?.owner ?? null });
    const command = 'sh /skills/letters/run.sh; ls /skills; touch /skills/letters/x 2>&1; ls -d /skills/../secret 2>&1';
    const { output } = await run(shell, { command });
    expect(output).toContain('from the skill\nletters\n');
    expect(output).toContain('Read-only file system');
    expect(output).toContain("cannot access '/skills/../secret'");
  });

  test('still runs when a skill has vanished', async () => {
    const gone: SkillGrant = { name: 'gone', description: 'x', folder: join(temporaryDirectory(), 'gone') };
    const { run } = makeWorkspace({}, { skills: [gone], sandbox, workspaceOwner: sandbox?.owner ?? null });
    expect(await run(shell, { command: 'echo here' })).toMatchObject({
      ok: true,
      output: expect.stringContaining('here'),
    });
  });

  test.skipIf(process.getuid?.() !== 0)('sees it too when the daemon is not root', async () => {
    const skill = makeSkill();
    // The same walls as an ordinary user's daemon builds them.
    const { planSandbox } = await import('../../src/agent/sandbox/walls.ts');
    const mounts = [{ source: skill.folder, target: '/skills/letters' }];
    const task = { kind: 'command', command: 'true', timeoutMs: 1_000 } as const;
    const { program, papers } = await planSandbox({ ...sandbox!, owner: null }, { workspace: '/w', mounts, task });
    expect(program).toBe('/bin/sh');
    expect([...papers.values()].join('')).toContain(`--ro-bind\0${skill.folder}\0/skills/letters`);
  });
});
