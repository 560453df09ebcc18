import { NO_EXTRAS } from '../../../src/domain/capabilities/model.ts';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { BrowserGrant } from '../../../src/agent/port/grants.ts';
import { type Definitions, NO_DEFINITIONS } from '../../../src/catalog/definitions.ts';
import { loadDefinitions } from '../../../src/catalog/load-definitions.ts';
import type { Catalog } from '../../../src/catalog/kinds/models.ts';
import { formatProblem } from '../../../src/catalog/reading/problem.ts';
import type { CapabilityConfig } from '../../../src/domain/capabilities/capability-config.ts';
import { lookUpNow } from '../../../src/domain/capabilities/look-up.ts';
import type { AgentPlan } from '../../../src/domain/capabilities/orchestration.ts';
import { NO_PRICE } from '../../../src/domain/sessions/usage.ts';
import { makeEquip, type Outfit } from '../../../src/execution/brief/equip.ts';
import { makeLog } from '../../../src/log/log.ts';
import { makeSessionSetup } from '../../../src/operations/turns/accepting/session-setup.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

const skill = (name: string, more = '') => `---\nname: ${name}\ndescription: About ${name}\n${more}---\nDo it.\n`;
const expert = (keys: string, body: string) => `---\ndescription: Knows ${body}\n${keys}---\nYou know ${body}.\n`;

const FILES = {
  'skills/tides/SKILL.md': skill('tides'),
  'skills/always/SKILL.md': skill('always', 'metadata: { enabled_by_default: "true" }\n'),
  'mcp-servers.yaml': `servers:
  files: { command: mcp-files, env: { A: "1" }, env_files: { TOKEN: files.token } }
  wiki: { url: "http://wiki.example/mcp", header_files: { Authorization: wiki.token }, enabled_by_default: true }
`,
  'files.token': 'tok\n',
  'wiki.token': 'Bearer abc\n',
  'connectors.yaml':
    'connectors: { crm: { description: Customers, base_url: "https://crm.example", auth: { kind: token } } }\n',
  'plugins/office/plugin.yaml': 'description: Office\n',
  'plugins/office/skills/memo/SKILL.md': skill('memo'),
  'plugins/office/experts/typist.md': expert('', 'typing'),
  'experts/sailor.md': expert(
    'model: opus\ntools: [read_file]\nskills: [tides]\nconnectors: [crm]\nsubagents: [cook]\nbrowser: true\n',
    'the sea',
  ),
  'experts/cook.md': expert('model: opus\nmcp_servers: [files]\nplugins: [office]\n', 'stew'),
  'expert-teams/crew.yaml': 'description: A ship\nlead: sailor\nmembers: [cook]\ninstructions: Stay afloat.\n',
};

const TOOLS = ['read_file', 'write_file', 'shell'];
const BROWSER: BrowserGrant = { executable: '/usr/bin/chromium', timeoutMs: 1 } as never;

const catalog: Catalog = {
  endpoints: new Map([
    [
      'e',
      {
        name: 'e',
        kind: 'openai',
        baseUrl: 'http://e',
        apiKey: 'key',
        caFile: null,
        maxInFlight: null,
        extras: NO_EXTRAS,
      },
    ],
  ]),
  models: new Map([
    [
      'opus',
      {
        name: 'opus',
        endpoint: 'e',
        model: 'opus-1',
        contextWindow: 8192,
        maxOutputTokens: 1024,
        images: false,
        documents: false,
        structured: 'tool',
        thinkingTags: false,
        price: NO_PRICE,
      },
    ],
  ]),
  scenarios: new Map(),
  defaultScenario: 'general',
};

/** A store with sessions, over a config directory whose files a test may change. */
async function fixture(browser: BrowserGrant | null = BROWSER) {
  const stores = await storeFixture();
  const { store, user, key, accept } = stores;
  const configDir = temporaryDirectory(FILES);
  const locations = { configDir, credentialsDirectory: null };
  const read = (): Definitions => {
    const loaded = loadDefinitions(locations, { models: new Set(['opus']), tools: new Set(TOOLS) });
    if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('\n'));
    return loaded.definitions;
  };
  let now = read();
  let models = catalog;
  const log = makeLog({ level: 'fatal' });
  const definitions = () => now;
  const equip = makeEquip({
    store,
    locations,
    log,
    definitions,
    catalog: () => models,
    browser: () => browser,
    lookUp: lookUpNow,
  });
  const makeSetup = makeSessionSetup({ store, definitions, lookUp: lookUpNow });
  return {
    ...stores,
    makeSetup,
    write: (name: string, text: string) => {
      writeFileSync(path.join(configDir, name), text);
      now = read();
    },
    define: (definitions: Definitions) => void (now = definitions),
    loseModels: () => void (models = { ...catalog, models: new Map() }),
    connect: async () => {
      const connection = { id: 'c0000000-0000-7000-8000-000000000001', userSeq: user.seq, connector: 'crm', name: '' };
      await store.connections.create({ ...connection, secret: Buffer.from('x') });
      return connection.id;
    },
    /** Opens a session and claims its run. */
    open: async (target: string, capabilityConfig: Partial<CapabilityConfig> = {}) => {
      const setup = await makeSetup({ target, capabilityConfig, userSeq: user.seq });
      const accepted = await accept({ key: { ...key, target }, setup });
      const [run] = await stores.claim();
      return { ...run!, sessionId: accepted.sessionId };
    },
    equip: (run: { readonly id: string; readonly sessionSeq: number }) => equip(run, TOOLS),
    outfit: async (run: { readonly id: string; readonly sessionSeq: number }): Promise<Outfit> => {
      const equipped = await equip(run, TOOLS);
      if (!equipped.ok) throw new Error(equipped.error.message);
      return equipped.outfit;
    },
  };
}

const namesOf = (things: readonly { readonly name: string }[]) => things.map(({ name }) => name);

test('in free mode a key that chose nothing has what is enabled by default, secrets read from their files', async () => {
  const { open, outfit } = await fixture();
  const { instructions, tools, equipment } = await outfit(await open('free'));
  expect(namesOf(equipment.skills)).toEqual(['always']);
  expect(equipment.mcp).toMatchObject([
    { name: 'wiki', transport: { kind: 'http', headers: { Authorization: 'Bearer abc' } } },
  ]);
  expect(equipment).toMatchObject({ subagents: [], connections: [], browser: null });
  expect(tools).toEqual(TOOLS);
  expect(instructions).toMatch(/^You are Errand/);
});

test('in free mode a key has what it chose, with what its plugins bring', async () => {
  const { open, outfit, store, connect } = await fixture();
  const { idsFor } = store.definitionIds;
  const connection = await connect();
  const run = await open('free', {
    browserEnabled: true,
    skillIds: await idsFor('skill', ['tides']),
    mcpServerIds: await idsFor('mcp_server', ['files']),
    pluginIds: await idsFor('plugin', ['office']),
    subagentIds: await idsFor('expert', ['cook']),
    connectorConnectionIds: [connection],
  });
  const { equipment } = await outfit(run);
  expect(namesOf(equipment.skills)).toEqual(['tides', 'office:memo']);
  expect(equipment.mcp).toMatchObject([{ name: 'files', transport: { env: { A: '1', TOKEN: 'tok' } } }]);
  expect(namesOf(equipment.subagents)).toEqual(['cook', 'office:typist']);
  expect(equipment.subagents[0]).toMatchObject({
    description: 'Knows stew',
    model: { name: 'opus', model: 'opus-1', apiKey: 'key' },
    tools: TOOLS,
    equipment: { skills: [{ name: 'office:memo' }], mcp: [{ name: 'files' }] },
  });
  expect(equipment.subagents[1]).toMatchObject({ model: null });
  expect(equipment.connections).toEqual([
    {
      id: connection,
      name: '',
      connector: 'crm',
      description: 'Customers',
      baseUrl: 'https://crm.example',
      methods: ['GET'],
      paths: ['/*'],
    },
  ]);
  expect(equipment.browser).toBe(BROWSER);
});

test('an expert answers in its role, with its own things and the connections of the user', async () => {
  const { open, outfit, connect } = await fixture();
  const connection = await connect();
  const { instructions, tools, equipment } = await outfit(await open('expert:sailor'));
  expect(instructions).toContain('Your role: sailor\nYou know the sea.');
  expect(tools).toEqual(['read_file']);
  expect(namesOf(equipment.skills)).toEqual(['tides']);
  expect(equipment.mcp).toEqual([]);
  expect(namesOf(equipment.subagents)).toEqual(['cook']);
  expect(equipment.connections.map(({ id }) => id)).toEqual([connection]);
  expect(equipment.browser).toBe(BROWSER);
});

test("an expert's instructions are those of now; what it may use was fixed when the session was opened", async () => {
  const { open, outfit, write } = await fixture();
  const run = await open('expert:cook');
  write('experts/cook.md', expert('skills: [tides]\n', 'soup'));
  const { instructions, equipment } = await outfit(run);
  expect(instructions).toContain('You know soup.');
  expect(namesOf(equipment.skills)).toEqual(['office:memo']);
  expect(namesOf(equipment.mcp)).toEqual(['files']);
});

test('a team works as it was when the session was opened, even if its files change', {
  tags: ['§4.3-rule-8'],
}, async () => {
  const { open, outfit, write, makeSetup, store, user } = await fixture();
  const run = await open('team:crew');
  const before = await outfit(run);
  expect(before.instructions).toContain('You know the sea.');
  expect(before.instructions).toContain('Your team: crew\nA ship\n');
  expect(before.instructions).toContain('- cook: Knows stew\nStay afloat.');
  expect(namesOf(before.equipment.subagents)).toEqual(['cook']);
  expect(before.equipment.subagents[0]).toMatchObject({
    equipment: { skills: [{ name: 'office:memo' }], mcp: [{ name: 'files' }] },
  });
  expect(namesOf(before.equipment.skills)).toEqual(['tides']);

  write('experts/sailor.md', expert('', 'the stars'));
  write('expert-teams/crew.yaml', 'description: A raft\nlead: sailor\nmembers: ["office:typist"]\n');
  expect(await outfit(run)).toEqual(before);
  const fresh = await makeSetup({ target: 'team:crew', capabilityConfig: {}, userSeq: user.seq });
  expect(fresh.orchestration).toMatchObject({
    description: 'A raft',
    lead: { instructions: 'You know the stars.', model: null },
    members: [{ name: 'office:typist' }],
  });
  expect(fresh.capabilityConfig.subagentIds).toEqual(await store.definitionIds.idsFor('expert', ['office:typist']));
});

test.each([
  { lead: 'sailor', member: 'cook' },
  { lead: 'cook', member: 'sailor' },
])(
  'in a team led by a $lead each agent has what its own file names, and its neighbours have none of it',
  async (team) => {
    const { open, outfit, write, connect } = await fixture();
    write('experts/cook.md', expert('subagents: [sailor]\n', 'stew'));
    write('expert-teams/crew.yaml', `description: A ship\nlead: ${team.lead}\nmembers: [${team.member}]\n`);
    const connection = await connect();
    const { tools, equipment } = await outfit(await open('team:crew'));
    const [member] = equipment.subagents;
    const lead = { tools, equipment };
    const { sailor, cook } = team.lead === 'sailor' ? { sailor: lead, cook: member! } : { sailor: member!, cook: lead };
    expect(sailor.tools).toEqual(['read_file']);
    expect(sailor.equipment.connections.map(({ id }) => id)).toEqual([connection]);
    expect(sailor.equipment.browser).toBe(BROWSER);
    expect(cook.tools).toEqual(TOOLS);
    expect(cook.equipment.connections).toEqual([]);
    expect(cook.equipment.browser).toBeNull();
  },
);

test('a sub-agent has only what its own file names, and only what its session has', async () => {
  const { open, outfit, write, connect } = await fixture();
  const connection = await connect();
  const run = await open('expert:sailor');
  const cookOf = async () => (await outfit(run)).equipment.subagents[0]!;
  const bare = await cookOf();
  expect(bare.equipment).toMatchObject({ connections: [], browser: null });
  write(
    'experts/cook.md',
    expert('tools: [shell]\nconnectors: [crm]\nbrowser: true\nsubagents: ["office:typist"]\n', 'stew'),
  );
  const named = await cookOf();
  expect(named.tools).toEqual(['shell']);
  expect(named.equipment.connections.map(({ id }) => id)).toEqual([connection]);
  expect(named.equipment.browser).toBe(BROWSER);
  expect(named.subagents).toEqual(['office:typist']);

  write('experts/sailor.md', expert('subagents: [cook]\n', 'the sea'));
  const [cook] = (await outfit(await open('expert:sailor'))).equipment.subagents;
  expect(cook!.equipment).toMatchObject({ connections: [], browser: null });
});

test('in free mode the key says what its own agent has, and a sub-agent has what both the key and its own file name', async () => {
  const { open, outfit, write, connect, store } = await fixture();
  const connection = await connect();
  const subagentIds = await store.definitionIds.idsFor('expert', ['cook', 'sailor']);
  const chosen = { browserEnabled: true, subagentIds, connectorConnectionIds: [connection] };
  write('experts/cook.md', expert('tools: []\n', 'stew'));
  const { tools, equipment } = await outfit(await open('free', chosen));
  expect(tools).toEqual(TOOLS);
  expect(equipment).toMatchObject({ connections: [{ id: connection }], browser: BROWSER });
  const [cook, sailor] = equipment.subagents;
  expect(cook).toMatchObject({ tools: [], equipment: { connections: [], browser: null } });
  expect(sailor).toMatchObject({
    tools: ['read_file'],
    equipment: { connections: [{ id: connection }], browser: BROWSER },
  });
});

test('a team that was stored before plans had connectors and a browser gets neither', async () => {
  const { outfit, connect, makeSetup, accept, claim, key, user } = await fixture();
  await connect();
  const target = 'team:crew';
  const setup = await makeSetup({ target, capabilityConfig: {}, userSeq: user.seq });
  const said = (name: string) => !['connectors', 'subagents', 'browser'].includes(name);
  const silent = (plan: AgentPlan) =>
    Object.fromEntries(Object.entries(plan).filter(([name]) => said(name))) as unknown as AgentPlan;
  const { lead, members, ...rest } = setup.orchestration!;
  const orchestration = { ...rest, lead: silent(lead), members: members.map(silent) };
  await accept({ key: { ...key, target }, setup: { ...setup, orchestration } });
  const [run] = await claim();
  expect((await outfit(run!)).equipment).toMatchObject({ connections: [], browser: null });
});

test("a team's configuration is all that its experts may use", async () => {
  const { makeSetup, store, user } = await fixture();
  const { idsFor } = store.definitionIds;
  const { capabilityConfig } = await makeSetup({ target: 'team:crew', capabilityConfig: {}, userSeq: user.seq });
  expect(capabilityConfig).toEqual({
    browserEnabled: true,
    browserImpl: 'chromium',
    mcpServerIds: await idsFor('mcp_server', ['files']),
    skillIds: await idsFor('skill', ['tides']),
    connectorConnectionIds: [],
    pluginIds: await idsFor('plugin', ['office']),
    subagentIds: await idsFor('expert', ['cook']),
  });
});

test.each([
  ['expert:sailor', 'The expert "sailor" does not exist any more.'],
  ['team:none', 'The expert team "none" does not exist any more.'],
])('a session of %s fails its run in clear words once that is gone', async (target, message) => {
  const { open, equip, define } = await fixture();
  const run = await open(target);
  define(NO_DEFINITIONS);
  expect(await equip(run)).toEqual({ ok: false, error: { type: 'api_error', message, retryable: false } });
});

test('what no longer exists is left out, and the agent learns of it', async () => {
  const { open, outfit, define, store, connect } = await fixture(null);
  const { idsFor } = store.definitionIds;
  const connection = await connect();
  const run = await open('free', {
    browserEnabled: true,
    skillIds: await idsFor('skill', ['tides']),
    mcpServerIds: await idsFor('mcp_server', ['files']),
    subagentIds: await idsFor('expert', ['cook']),
    connectorConnectionIds: [connection, 'c0000000-0000-7000-8000-000000000009'],
  });
  define(NO_DEFINITIONS);
  const { instructions, equipment } = await outfit(run);
  expect(equipment).toEqual({ skills: [], mcp: [], subagents: [], connections: [], browser: null });
  for (const name of ['agent cook', 'skill tides', 'server files', `connection ${connection}`, 'the browser']) {
    expect(instructions.split('Not available in this turn')[1]).toContain(name);
  }
});

test('a connection that failed may work again and stays; one that was revoked is left out of the next run', {
  tags: ['§2.10-connections', '§4.6-capability-configuration'],
}, async () => {
  const { open, outfit, store, connect } = await fixture();
  const connection = await connect();
  const run = await open('free', { connectorConnectionIds: [connection] });
  expect((await outfit(run)).equipment.connections).toHaveLength(1);
  await store.connections.noteState(connection, 'failed', 'refused');
  expect((await outfit(run)).equipment.connections).toHaveLength(1);
  await store.connections.revoke(connection);
  expect((await outfit(run)).equipment.connections).toEqual([]);
});

test("another user's connection is not granted", { tags: ['§4.6-capability-configuration'] }, async () => {
  const { open, outfit, store, user } = await fixture();
  const { seq: _, id: __, createdAt: ___, updatedAt: ____, ...fields } = user;
  const other = await store.users.create({ ...fields, username: 'odo', passwordHash: 'x' });
  const id = 'c0000000-0000-7000-8000-000000000002';
  await store.connections.create({ id, userSeq: other.seq, connector: 'crm', name: '', secret: null });
  const { equipment } = await outfit(await open('free', { connectorConnectionIds: [id] }));
  expect(equipment.connections).toEqual([]);
});

test('a server whose credential cannot be read now is left out, and the secret is shown nowhere', async () => {
  const { open, outfit, write } = await fixture();
  const run = await open('expert:cook');
  const read = async () => {
    const { instructions, equipment } = await outfit(run);
    return { mcp: namesOf(equipment.mcp), note: instructions.split('Not available in this turn')[1] };
  };
  expect(await read()).toEqual({ mcp: ['files'], note: undefined });
  expect(() => write('files.token', '')).toThrow('is empty');
  expect(await read()).toEqual({ mcp: [], note: '\n- the MCP server files, whose credential cannot be read' });
});

test('a sub-agent whose model no longer exists is left out', async () => {
  const { open, outfit, loseModels } = await fixture();
  const run = await open('expert:sailor');
  loseModels();
  const { equipment, instructions } = await outfit(run);
  expect(equipment.subagents).toEqual([]);
  expect(instructions).toContain('the agent cook, whose model does not exist any more');
});
