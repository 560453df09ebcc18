// What a run gets beside the conversation: instructions, tools and equipment, checked anew at each start (§2.10, J1).
import { defaultInstructions } from '../agent/prompt.ts';
import type { BrowserGrant, ConnectionGrant, Equipment, SubagentGrant } from '../agent/grants.ts';
import { planOf, unique } from '../catalog/agent-plan.ts';
import type { Definitions } from '../catalog/definitions.ts';
import type { Catalog } from '../catalog/models.ts';
import type { SecretPlaces } from '../catalog/secret-file.ts';
import type { CapabilityConfig } from '../domain/capability-config.ts';
import type { AgentPlan, Orchestration } from '../domain/orchestration.ts';
import type { RunError } from '../domain/run.ts';
import type { SessionSetup } from '../domain/session.ts';
import { parseTarget } from '../domain/target.ts';
import type { Log } from '../log.ts';
import type { ClaimedRun } from '../store/claim-runs.ts';
import type { DefinitionKind } from '../store/definition-ids.ts';
import type { Store } from '../store/open-store.ts';
import { grantMcpServer } from './mcp-grant.ts';
import { grantModel, resolveModel } from './resolve-model.ts';

export interface EquipParts {
  readonly store: Pick<Store, 'sessions' | 'connections' | 'definitionIds'>;
  /** Where secret files lie. */
  readonly places: SecretPlaces;
  readonly log: Log;
  definitions(): Definitions;
  catalog(): Catalog;
  /** The browser, when the settings allow it and there is one. */
  browser(): BrowserGrant | null;
}

export interface Outfit {
  readonly instructions: string;
  /** Names of built-in tools; null is all that the run may have. */
  readonly tools: readonly string[] | null;
  readonly equipment: Equipment;
}

/** An outfit, or why the run can't have one. */
export type Equipped =
  | { readonly ok: true; readonly outfit: Outfit }
  | { readonly ok: false; readonly error: RunError };

export type Equip = (run: Pick<ClaimedRun, 'id' | 'sessionSeq'>) => Promise<Equipped>;

/** Who answers, and what the agent may use. */
interface Cast {
  readonly plan: AgentPlan;
  readonly subagents: readonly AgentPlan[];
  /** Sub-agents that are no longer there. */
  readonly gone: readonly string[];
}

/**
 * Makes the verb. A team works as its session keeps it; an expert answers with its instructions of now. Skills, servers
 * and connections are those of the session's configuration that are still there; what is not is told to the agent.
 */
export function makeEquip(parts: EquipParts): Equip {
  return async (run) => {
    const setup = await parts.store.sessions.getSetup(run.sessionSeq);
    const definitions = parts.definitions();
    const cast = castOf(parts, definitions, setup);
    if (cast === null) return { ok: false, error: goneError(setup.target) };
    const missing = cast.gone.map((name) => `the agent ${name}, who does not exist any more`);
    const fit: Fitting = { parts, definitions, missing };
    const equipment: Equipment = {
      ...thingsOf(fit, cast.plan),
      subagents: cast.subagents.flatMap((plan) => toSubagent(fit, plan)),
      connections: await connectionsOf(fit, setup.capabilityConfig, setup.userSeq),
      browser: setup.capabilityConfig.browserEnabled ? browserOf(fit) : null,
    };
    if (missing.length > 0) parts.log.warn({ run_id: run.id, missing }, 'the run goes without some of its equipment');
    const instructions = instructionsOf(cast, setup.orchestration) + noteOf(missing);
    return { ok: true, outfit: { instructions, tools: cast.plan.tools, equipment } };
  };
}

function castOf({ store }: EquipParts, definitions: Definitions, setup: SessionSetup): Cast | null {
  const { capabilityConfig: config, orchestration } = setup;
  if (orchestration !== null) return { plan: orchestration.lead, subagents: orchestration.members, gone: [] };
  const target = parseTarget(setup.target);
  if (target === null || target.kind === 'team') return null;
  const expert = target.kind === 'expert' ? definitions.experts.get(target.name) : undefined;
  if (target.kind === 'expert' && expert === undefined) return null;
  const names = (kind: DefinitionKind, ids: readonly number[]) =>
    ids.map((id) => store.definitionIds.nameOf(kind, id) ?? `no ${id}`);
  const plugins = names('plugin', config.pluginIds);
  const bundles = plugins.flatMap((name) => definitions.plugins.get(name) ?? []);
  const subagents = unique([
    ...names('expert', config.subagentIds),
    ...(expert === undefined ? bundles.flatMap(({ experts }) => experts) : []),
  ]);
  const plan: AgentPlan = {
    ...(expert === undefined ? PLAIN : planOf(expert, definitions)),
    skills: unique([...names('skill', config.skillIds), ...bundles.flatMap(({ skills }) => skills)]),
    mcpServers: unique([...names('mcp_server', config.mcpServerIds), ...bundles.flatMap((one) => one.mcpServers)]),
  };
  const found = subagents.flatMap((name) => definitions.experts.get(name) ?? []);
  return {
    plan,
    subagents: found.map((one) => planOf(one, definitions)),
    gone: subagents.filter((name) => !definitions.experts.has(name)),
  };
}

/** The agent of free mode. */
const PLAIN: AgentPlan = {
  name: '',
  description: '',
  instructions: '',
  model: null,
  tools: null,
  skills: [],
  mcpServers: [],
};

function goneError(target: string): RunError {
  const { kind, name } = { name: '', ...(parseTarget(target) ?? { kind: target }) };
  const what = kind === 'team' ? 'expert team' : kind;
  return { type: 'api_error', message: `The ${what} "${name}" does not exist any more.`, retryable: false };
}

interface Fitting {
  readonly parts: EquipParts;
  readonly definitions: Definitions;
  /** What the agent goes without, in words. */
  readonly missing: string[];
}

function thingsOf({ parts, definitions, missing }: Fitting, plan: AgentPlan): Pick<Equipment, 'skills' | 'mcp'> {
  const skills = plan.skills.flatMap((name) => {
    const skill = definitions.skills.get(name);
    if (skill === undefined) missing.push(`the skill ${name}, which does not exist any more`);
    return skill === undefined ? [] : [{ name, description: skill.description, folder: skill.folder }];
  });
  const mcp = plan.mcpServers.flatMap((name) => {
    const server = definitions.mcpServers.get(name);
    if (server === undefined) missing.push(`the MCP server ${name}, which does not exist any more`);
    const granted = server === undefined ? undefined : grantMcpServer(server, parts.places);
    if (granted?.ok === false) {
      parts.log.error({ mcp_server: name, why: granted.why }, 'an MCP server cannot be used');
      missing.push(`the MCP server ${name}, whose credential cannot be read`);
    }
    return granted?.ok === true ? [granted.grant] : [];
  });
  return { skills, mcp };
}

function toSubagent(fit: Fitting, plan: AgentPlan): SubagentGrant[] {
  const { name, description, tools } = plan;
  const resolved = resolveModel(fit.parts.catalog(), plan.model);
  if (plan.model !== null && resolved === undefined) {
    fit.missing.push(`the agent ${name}, whose model does not exist any more`);
    return [];
  }
  const model = resolved === undefined ? null : grantModel(resolved);
  return [{ name, description, instructions: roleOf(plan), model, tools, ...thingsOf(fit, plan) }];
}

async function connectionsOf(
  { parts, definitions, missing }: Fitting,
  { connectorConnectionIds: ids }: CapabilityConfig,
  userSeq: number,
): Promise<ConnectionGrant[]> {
  if (ids.length === 0) return [];
  const found = await parts.store.connections.listOf(userSeq, ids);
  const grants = found.flatMap(({ id, connector, state }) => {
    const definition = definitions.connectors.get(connector);
    if (definition === undefined || state === 'revoked') return [];
    return [{ id, connector, description: definition.description, baseUrl: definition.baseUrl }];
  });
  for (const id of ids) {
    if (!grants.some((grant) => grant.id === id)) missing.push(`the connection ${id}, which is not there any more`);
  }
  return grants;
}

function browserOf({ parts, missing }: Fitting): BrowserGrant | null {
  const browser = parts.browser();
  if (browser === null) missing.push('the browser, which is not available here');
  return browser;
}

/** How an expert works: as every agent here does, and in its own role. */
function roleOf({ name, instructions }: AgentPlan): string {
  return `${defaultInstructions()}\n\nYour role: ${name}\n${instructions}`;
}

function instructionsOf({ plan, subagents }: Cast, orchestration: Orchestration | null): string {
  if (orchestration === null) return plan.name === '' ? defaultInstructions() : roleOf(plan);
  const members = subagents.map(({ name, description }) => `- ${name}: ${description.replaceAll(/\s+/g, ' ').trim()}`);
  const own = orchestration.instructions === '' ? '' : `\n${orchestration.instructions}`;
  return `${roleOf(plan)}

Your team: ${orchestration.team}
${orchestration.description}
You lead this team and answer the user yourself. Give parts of the task to its members with the tool delegate, tell each all it needs to know, check what comes back, and put the answer together.
${members.join('\n')}${own}`;
}

function noteOf(missing: readonly string[]): string {
  return missing.length === 0 ? '' : `\n\nNot available in this turn\n${missing.map((one) => `- ${one}`).join('\n')}`;
}
