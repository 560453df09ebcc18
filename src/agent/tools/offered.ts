// The tools of a run as its model is offered them.
import type { ModelTool } from '../models/message.ts';
import type { Tool } from '../port/tool.ts';

/** Lists that are kept: one for each of the agents that most runs have. */
const MAX_KEPT = 4;
const kept: (readonly ModelTool[])[] = [];

/** The same list for the same tools, as nearly all runs of an installation have: what is made of a list can be kept with it. */
export function offeredOf(tools: readonly Tool[]): readonly ModelTool[] {
  const known = kept.find((list) => list.length === tools.length && list.every((tool, at) => isSame(tool, tools[at]!)));
  if (known !== undefined) return known;
  const fresh = tools.map(({ name, description, inputSchema }): ModelTool => ({ name, description, inputSchema }));
  kept.unshift(fresh);
  kept.splice(MAX_KEPT);
  return fresh;
}

function isSame(one: ModelTool, other: ModelTool): boolean {
  return one.inputSchema === other.inputSchema && one.name === other.name && one.description === other.description;
}
