import { expect, test } from 'vitest';
import { makeUnusableTools } from '../../src/execution/unusable-tools.ts';
import type { Log } from '../../src/log/log.ts';

test('tools that no agent can use are named to operators with their reasons, as far as there is room', () => {
  const logged: unknown[] = [];
  const log = { warn: (facts: unknown) => logged.push(facts), info: () => undefined } as unknown as Log;
  const tools = makeUnusableTools({ log });
  const why = 'the server lists more than 200 tools';
  const leftOut = Array.from({ length: 200 }, (_, at) => ({ name: `tool_${at}`, why }));
  tools.listed('rogue', { leftOut, surplus: 100 });
  const named = [0, 1, 2, 3, 4].map((at) => `"tool_${at}" (${why})`).join(', ');
  expect(logged).toEqual([{ mcp_server: 'rogue', tools: `${named} and 295 more` }]);
  expect(tools.wordsOn(['rogue'])).toEqual([
    `the MCP server "rogue" lists tools that can't be used: ${named} and 295 more`,
  ]);
  tools.listed('rogue', { leftOut: [], surplus: 0 });
  expect(tools.wordsOn(['rogue'])).toEqual([]);
});
