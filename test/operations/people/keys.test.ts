import { expect, test } from 'vitest';
import type { Definitions } from '../../../src/catalog/definitions.ts';
import { loadDefinitions } from '../../../src/catalog/load-definitions.ts';
import type { Catalog } from '../../../src/catalog/kinds/models.ts';
import { lookUpNow } from '../../../src/domain/capabilities/look-up.ts';
import { makeKeyOperations, type NewKey } from '../../../src/operations/people/keys.ts';
import { makeSlices } from '../../../src/domain/loop/slices.ts';
import { auditOf } from '../../support/store/audit.ts';
import { OPERATOR } from '../../support/http/callers.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

const FILES = {
  'skills/tides/SKILL.md': '---\nname: tides\ndescription: T\nmetadata: { enabled_by_default: "true" }\n---\n',
  'skills/reefs/SKILL.md': '---\nname: reefs\ndescription: R\n---\n',
  'experts/ann.md': '---\ndescription: A\nskills: [reefs]\n---\nWork.\n',
  'expert-teams/crew.yaml': 'description: C\nlead: ann\nmembers: [bo]\n',
  'experts/bo.md': '---\ndescription: B\n---\nWork.\n',
};
const CONNECTION = '0198c0de-0000-7000-8000-0000000000cc';

async function fixture() {
  const { store, clock, user } = await storeFixture();
  const locations = { configDir: temporaryDirectory(FILES), credentialsDirectory: null };
  const loaded = loadDefinitions(locations, { models: null, tools: new Set() });
  if (!loaded.ok) throw new Error('bad files');
  const definitions = (): Definitions => loaded.definitions;
  const catalog = (): Catalog => ({
    endpoints: new Map(),
    models: new Map([['qwen', {} as never]]),
    scenarios: new Map(),
    defaultScenario: '',
  });
  const keys = makeKeyOperations({
    store,
    audit: auditOf({ store }),
    clock,
    slices: makeSlices(clock),
    catalog,
    definitions,
    lookUp: lookUpNow,
  });
  await store.connections.create({ id: CONNECTION, userSeq: user.seq, connector: 'crm', name: '', secret: null });
  const create = (over: Partial<NewKey> = {}) =>
    keys.createKey(OPERATOR, {
      user: 'mara',
      scope: 'global',
      name: null,
      continueBy: null,
      model: null,
      target: 'free',
      capabilityChoice: null,
      projectId: null,
      expiresInSeconds: null,
      ...over,
    });
  return { ...keys, create, store };
}

test('a key that chooses nothing follows what is enabled by default, and can go back to it', async () => {
  const { create, changeKey } = await fixture();
  const key = await create();
  expect(key.capabilityNames.skills).toEqual(['tides']);
  const without = await changeKey(OPERATOR, key.id, { capabilityChoice: { skills: [] } });
  expect(without.capabilityNames.skills).toEqual([]);
  const back = await changeKey(OPERATOR, key.id, { capabilityChoice: { skills: null, browserEnabled: true } });
  expect(back.capabilityNames.skills).toEqual(['tides']);
  expect(back.capabilities).toMatchObject({ browserEnabled: true, browserImpl: 'chromium' });
  const off = await changeKey(OPERATOR, key.id, { capabilityChoice: { browserEnabled: false } });
  expect(off.capabilities).toMatchObject({ browserEnabled: false, browserImpl: '' });
});

test('things are chosen by name or by id, each once', async () => {
  const { create, store } = await fixture();
  const [reefs] = await store.definitionIds.idsFor('skill', ['reefs']);
  const choice = { skills: ['reefs', reefs!, 'tides'], subagents: ['ann'], connections: [CONNECTION, CONNECTION] };
  const key = await create({ capabilityChoice: choice });
  expect(key.capabilityNames).toEqual({ mcpServers: [], skills: ['reefs', 'tides'], plugins: [], subagents: ['ann'] });
  expect(key.capabilities.connectorConnectionIds).toEqual([CONNECTION]);
});

test('a key with a target returns what the target may use', async () => {
  const { create, changeKey } = await fixture();
  const key = await create({ target: 'team:crew' });
  expect(key.capabilityNames).toMatchObject({ skills: ['reefs'], subagents: ['bo'] });
  const free = await changeKey(OPERATOR, key.id, { target: 'free', name: 'mine', model: 'qwen' });
  expect(free).toMatchObject({ target: 'free', name: 'mine', model: 'qwen', capabilityNames: { skills: ['tides'] } });
});

test.each<[string, Partial<NewKey>]>([
  ['target: must be free, expert:NAME or team:NAME', { target: 'ann' }],
  ['target: must name an expert (ann, bo)', { target: 'expert:crew' }],
  ['target: must name an expert team (crew)', { target: 'team:ann' }],
  [
    'capability_config: must be left out: expert:ann decides what its agents may use',
    { target: 'expert:ann', capabilityChoice: {} },
  ],
  [
    'capability_config.skill_ids[1]: must be the id or name of one that is defined (reefs, tides)',
    { capabilityChoice: { skills: ['tides', 'none'] } },
  ],
  [
    'capability_config.mcp_server_ids[0]: must be the id or name of one that is defined (there are none)',
    { capabilityChoice: { mcpServers: [1] } },
  ],
  [
    "capability_config.connector_connection_ids[0]: must be a connection of the key's owner",
    { capabilityChoice: { connections: ['0198c0de-0000-7000-8000-0000000000dd'] } },
  ],
])('%s, and no key is made', async (message, input) => {
  const { create, listKeys } = await fixture();
  const before = await listKeys(OPERATOR, { user: null });
  await expect(create(input)).rejects.toMatchObject({ reason: 'unprocessable', message });
  expect((await listKeys(OPERATOR, { user: null })).total).toBe(before.total);
});

test('a change that is refused changes nothing', async () => {
  const { create, changeKey, getKey } = await fixture();
  const { secret: _secret, ...key } = await create({ capabilityChoice: { skills: ['reefs'] } });
  for (const request of [
    { name: 'x', target: 'expert:none' },
    { name: 'x', capabilityChoice: { skills: ['none'] } },
  ]) {
    await expect(changeKey(OPERATOR, key.id, request)).rejects.toMatchObject({ reason: 'unprocessable' });
  }
  expect(await getKey(OPERATOR, key.id)).toEqual(key);
  await expect(changeKey(OPERATOR, 'missing0', { name: 'x' })).rejects.toMatchObject({ reason: 'not_found' });
});
