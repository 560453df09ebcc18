// Links, and definitions that are left out alone: what is broken takes as little with it as possible.
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { loadDefinitions } from '../../src/catalog/load-definitions.ts';
import { formatProblem } from '../../src/catalog/reading/problem.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { CLERK, type Files, KNOWN, load, read, skill } from '../support/files/definitions.ts';

test('files that the operator linked are read; a link to nothing is a problem', () => {
  const elsewhere = temporaryDirectory({ 'clerk.md': CLERK });
  const configDir = temporaryDirectory();
  mkdirSync(path.join(configDir, 'experts'));
  symlinkSync(path.join(elsewhere, 'clerk.md'), path.join(configDir, 'experts/clerk.md'));
  const loaded = read(configDir);
  expect(loaded.ok && [...loaded.definitions.experts.keys()]).toEqual(['clerk']);
  symlinkSync(path.join(elsewhere, 'gone.md'), path.join(configDir, 'experts/gone.md'));
  const broken = read(configDir);
  expect(broken.ok ? [] : broken.problems.map(formatProblem)).toEqual(['experts/gone.md is a broken link']);
});

test('a link in place of a skill, its SKILL.md or a plugin is not followed, and only that is left out', () => {
  const elsewhere = temporaryDirectory({
    'shared/SKILL.md': skill('shared'),
    'half.md': skill('half'),
    'office/plugin.yaml': 'description: Office\n',
  });
  const configDir = temporaryDirectory({
    'skills/tides/SKILL.md': skill('tides'),
    'skills/half/a': '',
    'plugins/p': '',
  });
  symlinkSync(path.join(elsewhere, 'shared'), path.join(configDir, 'skills/shared'));
  symlinkSync(path.join(elsewhere, 'half.md'), path.join(configDir, 'skills/half/SKILL.md'));
  symlinkSync(path.join(elsewhere, 'office'), path.join(configDir, 'plugins/office'));
  const loaded = read(configDir);
  expect(loaded.ok && [...loaded.definitions.skills.keys(), ...loaded.definitions.plugins.keys()]).toEqual(['tides']);
  const words = 'is a link, and links are not followed here: replace it with what it points to';
  expect(loaded.problems.map(formatProblem)).toEqual([
    `plugins/office ${words} (the plugin office is left out)`,
    `skills/half/SKILL.md ${words} (the skill half is left out)`,
    `skills/shared ${words} (the skill shared is left out)`,
  ]);
});

test('a link that leads to itself takes nothing else with it', () => {
  const configDir = temporaryDirectory({
    'skills/tides/SKILL.md': skill('tides'),
    'skills/half/a': '',
    'plugins/p': '',
  });
  for (const link of ['skills/loop', 'skills/half/SKILL.md', 'plugins/loop'])
    symlinkSync(path.basename(link), path.join(configDir, link));
  const loaded = read(configDir);
  expect(loaded.ok && [...loaded.definitions.skills.keys(), ...loaded.definitions.plugins.keys()]).toEqual(['tides']);
  expect(loaded.problems.map(formatProblem)).toEqual([
    expect.stringMatching(/^plugins\/loop is a link,/),
    expect.stringMatching(/^skills\/half\/SKILL\.md is a link,/),
    expect.stringMatching(/^skills\/loop is a link,/),
  ]);
});

const LONG = skill('claude-api').replace('About claude-api', 'x'.repeat(1_077));

test('a skill that breaks the format is left out by itself, and references to it are valid', () => {
  const configDir = temporaryDirectory({
    ...EQUIPPED,
    'skills/claude-api/SKILL.md': LONG,
    'plugins/office/skills/claude-api/SKILL.md': LONG,
  });
  const loaded = read(configDir);
  expect(loaded.problems.map(formatProblem)).toEqual([
    'plugins/office/skills/claude-api/SKILL.md:3:14 description: must be a description, at most 1024 characters (the skill office:claude-api is left out)',
    'skills/claude-api/SKILL.md:3:14 description: must be a description, at most 1024 characters (the skill claude-api is left out)',
  ]);
  if (!loaded.ok) throw new Error('refused');
  const { skills, experts, plugins } = loaded.definitions;
  expect([...skills.keys()]).toEqual(['tides']);
  expect(experts.get('a')?.skills).toEqual(['claude-api', 'tides']);
  expect([...plugins.keys()]).toEqual(['office']);
});

const EQUIPPED: Files = {
  'experts/a.md': '---\ndescription: A\nskills: [claude-api, tides]\nplugins: [office]\n---\nDo it.\n',
  'skills/tides/SKILL.md': skill('tides'),
  'plugins/office/plugin.yaml': 'description: Office\n',
  'plugins/office/experts/typist.md': CLERK,
  'plugins/office/mcp-servers.yaml': 'servers: { printer: { command: printerd } }\n',
};

test.each<[string, Files, string]>([
  [
    'an expert that names nothing',
    { 'plugins/office/experts/typist.md': CLERK.replace('---\nFile', 'skills: [nope]\n---\nFile') },
    'skills.0',
  ],
  ['a broken server', { 'plugins/office/mcp-servers.yaml': 'servers: { printer: {} }\n' }, 'servers.printer'],
  ['a broken plugin.yaml', { 'plugins/office/plugin.yaml': 'version: "1"\n' }, 'description'],
])('a plugin with %s is left out alone with all that it brings', (_, files, place) => {
  const loaded = read(temporaryDirectory({ ...EQUIPPED, 'skills/claude-api/SKILL.md': skill('claude-api'), ...files }));
  expect(loaded.problems.map(formatProblem)).toEqual([expect.stringContaining(place)]);
  expect(loaded.problems[0]!.message).toContain('(the plugin office is left out)');
  if (!loaded.ok) throw new Error('refused');
  const { experts, mcpServers, plugins } = loaded.definitions;
  expect([...experts.keys(), ...mcpServers.keys(), ...plugins.keys()]).toEqual(['a']);
});

test('what was valid before it broke stays as it was, and a problem elsewhere still rejects everything', () => {
  const files = { ...EQUIPPED, 'skills/claude-api/SKILL.md': skill('claude-api') };
  const good = load(files);
  const broken = { ...files, 'skills/claude-api/SKILL.md': LONG, 'plugins/office/plugin.yaml': 'x: 1\n' };
  const locations = { configDir: temporaryDirectory(broken), credentialsDirectory: null };
  const loaded = loadDefinitions(locations, KNOWN, good);
  if (!loaded.ok) throw new Error('refused');
  expect(loaded.definitions.skills.get('claude-api')).toEqual(good.skills.get('claude-api'));
  expect(loaded.definitions.plugins).toEqual(good.plugins);
  expect(loaded.definitions.experts.get('office:typist')).toEqual(good.experts.get('office:typist'));
  expect(read(temporaryDirectory({ ...broken, 'mcp-servers.yaml': 'servers: { s: {} }\n' })).ok).toBe(false);
});
