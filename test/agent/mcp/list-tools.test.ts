import type { Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { listTools } from '../../../src/agent/mcp/list-tools.ts';

const serverOf = (tools: number) =>
  ({
    getServerCapabilities: () => ({ tools: {} }),
    request: async () => ({ tools: Array.from({ length: tools }, (_, at) => ({ name: `tool_${at}` })) }),
  }) as unknown as Client;

test('tools beyond the limit are left out by name, and counted where they are too many to name', async () => {
  const { tools, leftOut, surplus, missing } = await listTools(serverOf(500), null, {});
  expect(tools).toHaveLength(200);
  expect(leftOut).toHaveLength(200);
  expect(leftOut[0]).toEqual({ name: 'tool_200', why: 'the server lists more than 200 tools' });
  expect([surplus, missing]).toEqual([100, []]);
});
