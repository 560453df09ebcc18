// The built-in tools that a run was granted.
import type { ToolPack } from '../loop/run.ts';
import { TOOLS } from '../tools/all-tools.ts';

export const builtInTools: ToolPack = async ({ brief }) => ({
  tools: TOOLS.filter(({ name }) => brief.tools.includes(name)),
  notes: [],
  close: async () => undefined,
});
