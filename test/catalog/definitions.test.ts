// Every kind of definition as it is read.
import path from 'node:path';
import { expect, test } from 'vitest';
import { loadDefinitions } from '../../src/catalog/load-definitions.ts';
import { defaultConfigFiles } from '../../src/config/default-config-files.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { CLERK, EXPERT, type Files, KNOWN, load, problemsOf, skill } from '../support/files/definitions.ts';

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

test('every kind of definition is read, and references to a plugin resolve to full names', {
  tags: ['J1-definitions'],
}, () => {
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

test('without a catalog no name of a model is doubted', () => {
  const configDir = temporaryDirectory(EXPERT('model: whatever'));
  const loaded = loadDefinitions({ configDir, credentialsDirectory: null }, { ...KNOWN, models: null });
  expect(loaded.ok && loaded.definitions.experts.get('a')?.model).toBe('whatever');
});
