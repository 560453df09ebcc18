import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Definitions } from '../../src/catalog/definitions.ts';
import { loadDefinitions } from '../../src/catalog/load-definitions.ts';
import { formatProblem } from '../../src/catalog/reading/problem.ts';
import { defaultConfigFiles } from '../../src/config/default-config-files.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

type Files = Readonly<Record<string, string>>;

const KNOWN = { models: new Set(['qwen', 'opus']), tools: new Set(['read_file', 'shell']) };

function read(configDir: string, credentialsDirectory: string | null = null) {
  return loadDefinitions({ configDir, credentialsDirectory }, KNOWN);
}

function load(files: Files): Definitions {
  const loaded = read(temporaryDirectory(files));
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('\n'));
  return loaded.definitions;
}

function problemsOf(files: Files, credentials: string | null = null): string[] {
  const loaded = read(temporaryDirectory(files), credentials);
  return loaded.problems.map(formatProblem);
}

const LAWYER = `---
description: Knows the law
model: opus
tools: [read_file]
skills: [contracts]
mcp_servers: [wiki]
connectors: [crm]
plugins: [office]
subagents: [clerk, "office:typist"]
browser: true
---

Read every clause.

---
Then say what it means.
`;
const CLERK = '---\ndescription: Files things\n---\nFile it.\n';
const CONTRACTS = `---
name: contracts
description: How to read a contract
license: MIT
compatibility: needs pandoc
allowed-tools: Read shell
metadata: { author: mara, version: 2, enabled_by_default: "true" }
---
# Contracts
`;
const skill = (name: string) => `---\nname: ${name}\ndescription: About ${name}\n---\nDo it.\n`;

const EVERYTHING: Files = {
  'experts/lawyer.md': LAWYER,
  'experts/clerk.md': CLERK,
  'experts/README.md': 'not an expert',
  'experts/notes.txt': 'nor is this',
  'expert-teams/chambers.yaml': 'description: A law firm\nlead: lawyer\nmembers: [clerk]\ninstructions: Be brief.\n',
  'skills/contracts/SKILL.md': CONTRACTS,
  'skills/contracts/scripts/run.py': 'print(1)',
  'plugins/office/plugin.yaml': 'description: Office work\nversion: "1.2"\n',
  'plugins/office/skills/memo/SKILL.md': skill('memo'),
  'plugins/office/experts/typist.md': '---\ndescription: Types\nskills: [memo, contracts]\n---\nType.\n',
  'plugins/office/mcp-servers.yaml':
    'servers: { printer: { command: printerd, args: [./lib/main, lib], folders: [lib] } }\n',
  'mcp-servers.yaml': `servers:
  files: { command: mcp-files, args: [--root, --root], env: { LEVEL: "1" }, env_files: { TOKEN: files.token }, network: true }
  wiki:
    url: https://wiki.example.com/mcp?k=1
    headers: { X-Team: law }
    header_files: { Authorization: wiki.token }
    start_timeout_seconds: 5
    call_timeout_seconds: 9
    tools: [search]
    enabled_by_default: true
`,
  'files.token': 'tok\nen\n',
  'wiki.token': 'Bearer abc\n',
  'connectors.yaml': `connectors:
  crm:
    description: Customers
    base_url: https://crm.example.com/api/
    auth: { kind: oauth2_refresh_token, token_url: https://crm.example.com/token, client_id: errand, client_secret_file: crm.secret, scopes: [read] }
    methods: [GET, POST]
    paths: ["/v1/*"]
  plain: { description: Plain, base_url: "http://127.0.0.1:9", auth: { kind: token } }
`,
  'crm.secret': 's3cret',
};

test('every kind of definition is read, and references to a plugin resolve to full names', () => {
  const { experts, teams, skills, plugins, mcpServers, connectors } = load(EVERYTHING);
  expect([...experts.keys()]).toEqual(['clerk', 'lawyer', 'office:typist']);
  expect(experts.get('lawyer')).toEqual({
    name: 'lawyer',
    file: 'experts/lawyer.md',
    plugin: null,
    description: 'Knows the law',
    instructions: 'Read every clause.\n\n---\nThen say what it means.',
    model: 'opus',
    tools: ['read_file'],
    skills: ['contracts'],
    mcpServers: ['wiki'],
    connectors: ['crm'],
    plugins: ['office'],
    subagents: ['clerk', 'office:typist'],
    browser: true,
  });
  expect(experts.get('clerk')).toMatchObject({ model: null, tools: null, skills: [], browser: false });
  expect(experts.get('office:typist')).toMatchObject({
    plugin: 'office',
    file: 'plugins/office/experts/typist.md',
    skills: ['office:memo', 'contracts'],
  });
  expect(teams.get('chambers')).toEqual({
    name: 'chambers',
    file: 'expert-teams/chambers.yaml',
    description: 'A law firm',
    lead: 'lawyer',
    members: ['clerk'],
    instructions: 'Be brief.',
  });
  expect(skills.get('contracts')).toMatchObject({
    license: 'MIT',
    compatibility: 'needs pandoc',
    allowedTools: ['Read', 'shell'],
    metadata: { author: 'mara', version: '2', enabled_by_default: 'true' },
    enabledByDefault: true,
  });
  expect(path.basename(skills.get('contracts')!.folder)).toBe('contracts');
  expect(path.isAbsolute(skills.get('contracts')!.folder)).toBe(true);
  expect(skills.get('office:memo')).toMatchObject({ plugin: 'office', enabledByDefault: false });
  expect(plugins.get('office')).toEqual({
    name: 'office',
    file: 'plugins/office/plugin.yaml',
    description: 'Office work',
    version: '1.2',
    skills: ['office:memo'],
    mcpServers: ['office:printer'],
    experts: ['office:typist'],
  });
  expect(mcpServers.get('files')).toMatchObject({
    transport: {
      kind: 'stdio',
      command: 'mcp-files',
      args: ['--root', '--root'],
      env: { LEVEL: '1' },
      envFiles: { TOKEN: 'files.token' },
      folders: [],
      network: true,
    },
    startTimeoutMs: 30_000,
    callTimeoutMs: 120_000,
    tools: null,
    enabledByDefault: false,
  });
  expect(mcpServers.get('wiki')).toMatchObject({
    transport: { kind: 'http', headers: { 'X-Team': 'law' }, headerFiles: { Authorization: 'wiki.token' } },
    startTimeoutMs: 5_000,
    callTimeoutMs: 9_000,
    tools: ['search'],
    enabledByDefault: true,
  });
  const { transport } = mcpServers.get('office:printer')!;
  expect(transport).toMatchObject({
    args: [expect.stringMatching(/^\/.*\/plugins\/office\/lib\/main$/), 'lib'],
    folders: [expect.stringMatching(/^\/.*\/plugins\/office\/lib$/)],
  });
  expect(connectors.get('crm')).toMatchObject({
    baseUrl: 'https://crm.example.com/api',
    auth: { kind: 'oauth2_refresh_token', header: 'Authorization', prefix: 'Bearer ', clientSecretFile: 'crm.secret' },
    methods: ['GET', 'POST'],
    paths: ['/v1/*'],
  });
  expect(connectors.get('plain')).toMatchObject({ methods: ['GET'], paths: ['/*'], auth: { tokenUrl: null } });
});

test('no secret is kept among the definitions', () => {
  const read = JSON.stringify(Object.values(load(EVERYTHING)).flatMap((map) => [...map.values()]));
  expect(read).not.toMatch(/Bearer abc|s3cret|tok\\nen/);
});

test('an empty directory, and the commented files of a new one, define nothing', () => {
  const nothing = { experts: 0, teams: 0, skills: 0, plugins: 0, mcpServers: 0, connectors: 0 };
  const commented = Object.fromEntries(defaultConfigFiles().map(({ name, text }) => [name, text]));
  for (const files of [{}, commented]) {
    const sizes = Object.entries(load(files)).map(([kind, map]) => [kind, map.size]);
    expect(Object.fromEntries(sizes)).toEqual(nothing);
  }
});

test('the commented files are valid without their comments', () => {
  const uncommented = defaultConfigFiles()
    .filter(({ name }) => name === 'mcp-servers.yaml' || name === 'connectors.yaml')
    .map(({ name, text }) => [name, text.replaceAll(/^#(?=\S|  )/gm, '')]);
  const secrets = { 'files.token': 'x', 'wiki.token': 'x', 'crm.secret': 'x' };
  const problems = problemsOf({ ...Object.fromEntries(uncommented), ...secrets });
  // The kind there is a plain token, which has no address to ask for one.
  expect(problems.filter((problem) => !problem.includes('kind token does not use it'))).toEqual([]);
});

const EXPERT = (keys: string, body = 'Work.') => ({ 'experts/a.md': `---\ndescription: A\n${keys}\n---\n${body}\n` });
const SERVER = (keys: string, more: Files = {}) => ({ 'mcp-servers.yaml': `servers:\n  s:\n    ${keys}\n`, ...more });
const CONNECTOR = (auth: string, keys = '') => ({
  'connectors.yaml': `connectors:\n  c:\n    description: C\n    base_url: https://c.example\n    auth: ${auth}\n${keys}`,
});

test.each<[string, Files, string[]]>([
  [
    'no front matter',
    { 'experts/a.md': 'Just text.\n' },
    ['experts/a.md:1:1 must begin with front matter: a line ---, keys and values, and another line ---'],
  ],
  [
    'front matter that never ends',
    { 'experts/a.md': '---\ndescription: A\n' },
    ['experts/a.md:1:1 must begin with front matter: a line ---, keys and values, and another line ---'],
  ],
  ['no instructions', EXPERT('model: qwen', ''), ['experts/a.md has no instructions below its front matter']],
  [
    'an unknown key, counted from the top of the file',
    EXPERT('skils: []'),
    ['experts/a.md:3:1 skils: is not a known key (did you mean "skills"?)'],
  ],
  [
    'a missing description',
    { 'experts/a.md': '---\nbrowser: false\n---\nWork.\n' },
    ['experts/a.md:2:1 description: is missing'],
  ],
  ['a wrong type', EXPERT('browser: 1'), ['experts/a.md:3:10 browser: must be true or false, not a number']],
  [
    'broken YAML',
    EXPERT('tools: [a'),
    ['experts/a.md:3:10 Flow sequence in block collection must be sufficiently indented and end with a ]'],
  ],
  [
    'an unknown model',
    EXPERT('model: qwem'),
    ['experts/a.md:3:8 model: refers to a model that does not exist in models.yaml: "qwem" (did you mean "qwen"?)'],
  ],
  [
    'an unknown tool',
    EXPERT('tools: [shell, read_fle]'),
    [
      'experts/a.md:3:16 tools.1: refers to a built-in tool that does not exist: "read_fle" (did you mean "read_file"?)',
    ],
  ],
  [
    'a skill that does not exist',
    EXPERT('skills:\n  - none'),
    ['experts/a.md:4:5 skills.0: refers to a skill that does not exist: "none"'],
  ],
  ['itself as a sub-agent', EXPERT('subagents: [a]'), ['experts/a.md:3:13 subagents.0: refers to the expert itself']],
  [
    'a name twice',
    EXPERT('tools: [shell, shell]'),
    ['experts/a.md:3:8 tools: must be a list of at most 100 names, without duplicates'],
  ],
  [
    'a bad file name',
    { 'experts/My Expert.md': CLERK },
    [
      'experts/My Expert.md must be a name: up to 64 characters of a-z and 0-9, with single hyphens between them, not "My Expert"',
    ],
  ],
  ['a folder in place of a file', { 'experts/a.md/x': '' }, ['experts/a.md is a directory, not a file']],
  ['a file in place of the folder', { experts: '' }, ['experts must be a folder']],
  [
    'a description too long',
    { 'experts/a.md': `---\ndescription: ${'x'.repeat(1025)}\n---\nW\n` },
    ['experts/a.md:2:14 description: must be a description, at most 1024 characters'],
  ],
  [
    'an expert that is too large',
    { 'experts/a.md': `---\ndescription: A\n---\n${'x'.repeat(262_144)}` },
    ['experts/a.md is larger than 262144 bytes'],
  ],
  [
    'a team without a lead',
    { 'experts/x.md': CLERK, 'expert-teams/t.yaml': 'description: T\nmembers: [x]\n' },
    ['expert-teams/t.yaml:1:1 lead: is missing'],
  ],
  [
    'members who do not exist',
    { 'experts/ann.md': CLERK, 'expert-teams/t.yaml': 'description: T\nlead: anm\nmembers:\n  - bob\n' },
    [
      'expert-teams/t.yaml:2:7 lead: refers to an expert that does not exist: "anm" (did you mean "ann"?)',
      'expert-teams/t.yaml:4:5 members.0: refers to an expert that does not exist: "bob"',
    ],
  ],
  [
    'a lead who is a member',
    { 'experts/ann.md': CLERK, 'expert-teams/t.yaml': 'description: T\nlead: ann\nmembers: [ann]\n' },
    ['expert-teams/t.yaml:3:11 members.0: is the lead, which cannot also be a member'],
  ],
  [
    'a team without members',
    { 'experts/ann.md': CLERK, 'expert-teams/t.yaml': 'description: T\nlead: ann\nmembers: []\n' },
    ['expert-teams/t.yaml:3:10 members: must be a list of at most 20 experts, without duplicates'],
  ],
  ['a team in a .yml file', { 'expert-teams/t.yml': '' }, ['expert-teams/t.yml must end in .yaml']],
  [
    'a skill folder without SKILL.md',
    { 'skills/s/readme.txt': '' },
    ['skills/s/SKILL.md is missing (the skill s is left out)'],
  ],
  [
    'a skill of another name',
    { 'skills/s/SKILL.md': skill('other') },
    ['skills/s/SKILL.md:2:7 name: must match the name of its folder, s (the skill s is left out)'],
  ],
  [
    'a skill with a key of its own',
    { 'skills/s/SKILL.md': skill('s').replace('description', 'tools: x\ndescription') },
    ['skills/s/SKILL.md:3:1 tools: is not a known key (the skill s is left out)'],
  ],
  [
    'a plugin without plugin.yaml',
    { 'plugins/p/skills/s/SKILL.md': skill('s') },
    ['plugins/p/plugin.yaml:1:1 description: is missing (the plugin p is left out)'],
  ],
  [
    'a server with neither command nor url',
    SERVER('network: true'),
    ['mcp-servers.yaml:2:3 servers.s: must have command or url'],
  ],
  [
    'a server with both',
    SERVER('command: x\n    url: http://x/'),
    ['mcp-servers.yaml:2:3 servers.s: must have command or url, not both'],
  ],
  [
    'a key of the other kind',
    SERVER('url: http://x/\n    args: []'),
    ['mcp-servers.yaml:4:5 servers.s.args: must be removed: it belongs to a server with command'],
  ],
  [
    'a secret that is not there',
    SERVER('command: x\n    env_files: { K: none }'),
    [
      expect.stringMatching(
        /^mcp-servers\.yaml:4:21 servers\.s\.env_files\.K: refers to a file that does not exist: .*none$/,
      ) as never,
    ],
  ],
  [
    'a header secret of two lines',
    SERVER('url: http://x/\n    header_files: { A: s }', { s: 'a\nb' }),
    [
      expect.stringMatching(
        /^mcp-servers\.yaml:4:24 servers\.s\.header_files\.A: .* must contain one line of printable ASCII$/,
      ) as never,
    ],
  ],
  [
    'a credential without a service',
    SERVER('command: x\n    env_files: { K: credential:k }'),
    [
      'mcp-servers.yaml:4:21 servers.s.env_files.K: refers to a service credential, but $CREDENTIALS_DIRECTORY is not set',
    ],
  ],
  [
    'a variable twice',
    SERVER('command: x\n    env: { K: a }\n    env_files: { K: s }', { s: 'x' }),
    ['mcp-servers.yaml:5:18 servers.s.env_files.K: is also in env'],
  ],
  [
    'a bad variable',
    SERVER('command: x\n    env: { "A=B": a }'),
    ['mcp-servers.yaml:4:12 servers.s.env.A=B: must be the name of an environment variable'],
  ],
  [
    'a bad server name',
    { 'mcp-servers.yaml': 'servers: { A_b: { command: x } }\n' },
    [
      'mcp-servers.yaml:1:12 servers.A_b: must be a name: up to 64 characters of a-z and 0-9, with single hyphens between them',
    ],
  ],
  [
    'an address with a password',
    SERVER('url: http://u:p@x/'),
    ['mcp-servers.yaml:3:10 servers.s.url: must be an http or https address without user or fragment'],
  ],
  [
    'OAuth without its address',
    CONNECTOR('{ kind: oauth2_client_credentials }'),
    [
      'connectors.yaml:5:5 connectors.c.auth.client_id: is missing',
      'connectors.yaml:5:5 connectors.c.auth.token_url: is missing',
    ],
  ],
  [
    'a token with scopes',
    CONNECTOR('{ kind: token, scopes: [a] }'),
    ['connectors.yaml:5:26 connectors.c.auth.scopes: must be removed: kind token does not use it'],
  ],
  [
    'an unknown method',
    CONNECTOR('{ kind: token }', '    methods: [get]\n'),
    ['connectors.yaml:6:15 connectors.c.methods.0: must be one of GET, HEAD, POST, PUT, PATCH, DELETE'],
  ],
  [
    'an unknown key of a connector',
    CONNECTOR('{ kind: token, heder: X }'),
    ['connectors.yaml:5:26 connectors.c.auth.heder: is not a known key (did you mean "header"?)'],
  ],
])('%s is a problem at its place', (_, files, problems) => {
  expect(problemsOf(files)).toEqual(problems);
});

test('the problems of all files come at once, in the order of the files', () => {
  const problems = problemsOf({ ...EXPERT('model: none'), ...SERVER('x: 1'), 'skills/s/x': '' });
  expect(problems.map((problem) => problem.split(/[: ]/)[0])).toEqual([
    'experts/a.md',
    'mcp-servers.yaml',
    'mcp-servers.yaml',
    'skills/s/SKILL.md',
  ]);
});

test('without a catalog no name of a model is doubted', () => {
  const configDir = temporaryDirectory(EXPERT('model: whatever'));
  const loaded = loadDefinitions({ configDir, credentialsDirectory: null }, { ...KNOWN, models: null });
  expect(loaded.ok && loaded.definitions.experts.get('a')?.model).toBe('whatever');
});

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
  const places = { configDir: temporaryDirectory(broken), credentialsDirectory: null };
  const loaded = loadDefinitions(places, KNOWN, good);
  if (!loaded.ok) throw new Error('refused');
  expect(loaded.definitions.skills.get('claude-api')).toEqual(good.skills.get('claude-api'));
  expect(loaded.definitions.plugins).toEqual(good.plugins);
  expect(loaded.definitions.experts.get('office:typist')).toEqual(good.experts.get('office:typist'));
  expect(read(temporaryDirectory({ ...broken, 'mcp-servers.yaml': 'servers: { s: {} }\n' })).ok).toBe(false);
});

test('a wrong name does not hide other problems of its file, and each is reported by name at its place', () => {
  const problems = problemsOf(EXPERT('modle: x\ntools: [1, reed_file]\nskills: [none, 2, nope]\nbrowser: perhaps'));
  expect(problems).toEqual([
    'experts/a.md:3:1 modle: is not a known key (did you mean "model"?)',
    'experts/a.md:4:9 tools.0: must be the name of a built-in tool, not a number',
    'experts/a.md:4:12 tools.1: refers to a built-in tool that does not exist: "reed_file" (did you mean "read_file"?)',
    'experts/a.md:5:10 skills.0: refers to a skill that does not exist: "none"',
    'experts/a.md:5:16 skills.1: must be the name of a skill, not a number',
    'experts/a.md:5:19 skills.2: refers to a skill that does not exist: "nope"',
    'experts/a.md:6:10 browser: must be true or false, not text',
  ]);
  const team = 'description: T\nlead: nobody\nmembers: [1, noone]\nmember: x\n';
  expect(problemsOf({ 'expert-teams/t.yaml': team }).map((one) => one.split(': ')[0])).toEqual([
    'expert-teams/t.yaml:2:7 lead',
    'expert-teams/t.yaml:3:11 members.0',
    'expert-teams/t.yaml:3:14 members.1',
    'expert-teams/t.yaml:4:1 member',
  ]);
});

test('names of a file that cannot be read at all are not doubted', () => {
  const files = { ...EXPERT('mcp_servers: [wiki]'), 'mcp-servers.yaml': 'servers: {\n' };
  expect(problemsOf(files)).toEqual([expect.stringContaining('mcp-servers.yaml')]);
});

test('a credential of the service is found by its name', () => {
  const credentials = temporaryDirectory({ wiki: 'Bearer x' });
  const server = SERVER('url: http://x/\n    header_files: { Authorization: "credential:wiki" }');
  expect(problemsOf(server, credentials)).toEqual([]);
});
