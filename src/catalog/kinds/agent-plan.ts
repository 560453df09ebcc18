// An expert as an agent to run: its plugins resolved into what they contain.
import type { AgentPlan, Orchestration } from '../../domain/capabilities/orchestration.ts';
import type { Definitions, ExpertDefinition, TeamDefinition } from '../definitions.ts';

/** The plan of an expert, as its file and its plugins are now. */
export function planOf(expert: ExpertDefinition, { plugins }: Definitions): AgentPlan {
  const bundles = expert.plugins.flatMap((name) => plugins.get(name) ?? []);
  const { name, description, instructions, model, tools, connectors, subagents, browser } = expert;
  return {
    name,
    description,
    instructions,
    model,
    tools,
    skills: unique([...expert.skills, ...bundles.flatMap(({ skills }) => skills)]),
    mcpServers: unique([...expert.mcpServers, ...bundles.flatMap(({ mcpServers }) => mcpServers)]),
    connectors,
    subagents,
    browser,
  };
}

/** The experts of a team, the lead first. Experts that no longer exist are left out. */
export function expertsOf({ lead, members }: TeamDefinition, { experts }: Definitions): ExpertDefinition[] {
  return [lead, ...members].flatMap((name) => experts.get(name) ?? []);
}

/** A team as a session keeps it. */
export function orchestrationOf(team: TeamDefinition, definitions: Definitions): Orchestration | null {
  const [lead, ...members] = expertsOf(team, definitions).map((expert) => planOf(expert, definitions));
  if (lead === undefined) return null;
  const { name, description, instructions } = team;
  return { team: name, description, instructions, lead, members };
}

/** The values in their order, without duplicates. */
export function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
