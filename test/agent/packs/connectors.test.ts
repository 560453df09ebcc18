// The tool of connected services: what its model sees of them, and which connection a call uses.
import { expect, test } from 'vitest';
import { type ConnectionGrant, NO_EQUIPMENT } from '../../../src/agent/port/grants.ts';
import { connectorTools } from '../../../src/agent/packs/connectors.ts';
import type { Channel } from '../../../src/agent/port/signals.ts';
import type { ExecutedTool, ToolContext } from '../../../src/agent/port/tool.ts';
import { makeBrief, makeRun } from '../play-main.ts';

const CRM: ConnectionGrant = {
  id: 'c0000000-0000-7000-8000-000000000001',
  name: 'north',
  connector: 'crm',
  description: 'Customers',
  baseUrl: 'https://crm.example/api',
  methods: ['GET', 'POST'],
  paths: ['/orders', '/orders/*'],
};
const SOUTH = { ...CRM, id: 'c0000000-0000-7000-8000-000000000002', name: 'south' };
const NAMELESS = { ...CRM, id: 'c0000000-0000-7000-8000-000000000003', name: '' };
const WIKI = { ...CRM, id: 'c0000000-0000-7000-8000-000000000004', connector: 'wiki', methods: ['GET'], paths: ['/*'] };

/** The tool of these connections, and the ids that it sent to the broker. */
async function toolOf(connections: readonly ConnectionGrant[]) {
  const asked: string[] = [];
  const request = async (_: string, { connectionId }: { connectionId: string }) => {
    asked.push(connectionId);
    return { status: 200, headers: {}, body: 'fine', truncated: false };
  };
  const brief = await makeBrief({ equipment: { ...NO_EQUIPMENT, connections }, connectorToken: 'token' });
  const channel = { request } as unknown as Channel;
  const { tools } = await connectorTools(makeRun(brief, channel));
  const tool = tools[0] as ExecutedTool;
  const call = (connection: string) => tool.execute({ connection, method: 'GET', path: '/orders' }, {} as ToolContext);
  return { tool, call, asked };
}

test('a model sees each connection by its connector, with the methods and paths that it may call', async () => {
  const { tool } = await toolOf([CRM, WIKI]);
  expect(tool.description).toContain(
    '- crm: Customers. Base address https://crm.example/api; methods GET, POST; paths /orders, /orders/*',
  );
  expect(tool.description).toContain('- wiki: ');
  expect(tool.description).not.toContain(CRM.id);
  expect(tool.inputSchema).toMatchObject({ properties: { method: { enum: ['GET', 'POST'] } } });
  const readOnly = await toolOf([WIKI]);
  expect(readOnly.tool.inputSchema).toMatchObject({ properties: { method: { enum: ['GET'] } } });
});

test('several connections to one connector are distinguished by their names, and one without by its id', async () => {
  const { tool, call, asked } = await toolOf([CRM, SOUTH, NAMELESS]);
  for (const handle of ['crm/north', 'crm/south', NAMELESS.id])
    expect(tool.description).toContain(`- ${handle} (of crm)`);
  for (const handle of ['crm/south', NAMELESS.id, CRM.id]) expect(await call(handle)).toMatchObject({ ok: true });
  expect(asked).toEqual([SOUTH.id, NAMELESS.id, CRM.id]);
});

test('a call that names an unknown connection returns the list of connections', async () => {
  const { call, asked } = await toolOf([CRM, WIKI]);
  expect(await call('mail')).toEqual({
    ok: false,
    output: 'There is no connection "mail". The connections are: crm, wiki.',
  });
  expect(asked).toEqual([]);
});
