// What is wrong in a definition: each problem has its place, and all come at once.
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { CLERK, CONNECTOR, EXPERT, type Files, problemsOf, SERVER, skill } from '../support/files/definitions.ts';

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
