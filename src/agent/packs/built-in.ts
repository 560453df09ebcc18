// The built-in tools that a run was granted.
import type { ToolPack } from '../loop/run.ts';
import { TOOLS } from '../tools/all-tools.ts';
import { nothingToClose } from '../port/tool.ts';

export const builtInTools: ToolPack = ({ brief }) => ({
  tools: TOOLS.filter(({ name }) => brief.tools.includes(name)),
  notes: [],
  close: nothingToClose,
});
