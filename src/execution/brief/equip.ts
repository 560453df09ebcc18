// What a run gets in addition to the conversation: instructions, tools and equipment, checked again at each start (§2.10, J1).
import type { LookUp } from '../../domain/capabilities/look-up.ts';
import { isoTime } from '../../domain/clock.ts';
import { defaultInstructions } from '../../agent/loop/prompt.ts';
import type { BrowserGrant, Equipment, SubagentGrant } from '../../agent/port/grants.ts';
import { planOf, unique } from '../../catalog/kinds/agent-plan.ts';
import type { Definitions } from '../../catalog/definitions.ts';
import type { Catalog } from '../../catalog/kinds/models.ts';
import type { SecretLocations } from '../../catalog/reading/secret-file.ts';
import type { AgentPlan, Orchestration } from '../../domain/capabilities/orchestration.ts';
import type { RunError } from '../../domain/sessions/run.ts';
import type { SessionSetup } from '../../domain/sessions/session.ts';
import { parseTarget } from '../../domain/capabilities/target.ts';
import type { Log } from '../../log/log.ts';
import type { ClaimedRun } from '../../store/lifecycle/start-run.ts';
import type { DefinitionKind } from '../../store/people/definition-ids.ts';
import type { Store } from '../../store/open-store.ts';
import { fitAgent, type Fitting, sessionHas } from './fit-agent.ts';
import { grantModel, resolveModel } from './resolve-model.ts';

export interface EquipParts {
  readonly store: Pick<Store, 'sessions' | 'connections' | 'definitionIds'>;
  /** Where secret files are stored. */
  readonly locations: SecretLocations;
  readonly log: Log;
  definitions(): Definitions;
  catalog(): Catalog;
  readonly lookUp: LookUp;
  /** The browser, when the settings allow it and one was found. */
  browser(): BrowserGrant | null;
}

export interface Outfit {
  readonly instructions: string;
  /** Names of built-in tools. */
  readonly tools: readonly string[];
  readonly equipment: Equipment;
}

/** The equipment, or why the run can't have it. */
export type Equipped =
  | { readonly ok: true; readonly outfit: Outfit }
  | { readonly ok: false; readonly error: RunError };

/** `tools` are the names of the available built-in tools. */
export type Equip = (
  run: Pick<ClaimedRun, 'id' | 'sessionSeq' | 'fresh'>,
  tools: readonly string[],
) => Promise<Equipped>;

/** Who answers, and what the agent may use. */
interface Cast {
  readonly plan: AgentPlan;
  readonly subagents: readonly AgentPlan[];
  /** Sub-agents that no longer exist. */
  readonly gone: readonly string[];
}

/**
 * Makes the verb. A team works as its session recorded it; an expert uses its current instructions. Skills, servers and
 * connections are those of the session's configuration that still exist; the agent is told which are missing. Each agent gets
 * what its own plan names; it inherits nothing from the agent above or from other agents.
 */
export function makeEquip(parts: EquipParts): Equip {
  const { store, locations, log, browser, catalog } = parts;
  return async (run, tools) => {
    const setup = run.fresh?.setup ?? (await store.sessions.getSetup(run.sessionSeq));
    await parts.lookUp(() => hasTarget(parts.definitions(), setup));
    const definitions = parts.definitions();
    const cast = await castOf(store, definitions, setup);
    if (cast === null) return { ok: false, error: goneError(setup.target) };
    const missing = cast.gone.map((name) => `the agent ${name}, who does not exist any more`);
    const lookup = { store, locations, log, browser, definitions, missing };
    const fit: Fitting = { ...lookup, has: await sessionHas(lookup, setup, tools) };
    const { tools: own, ...things } = fitAgent(fit, cast.plan);
    const equipment: Equipment = {
      ...things,
      subagents: cast.subagents.flatMap((plan) => toSubagent(fit, catalog(), plan)),
    };
    if (missing.length > 0) log.warn({ run_id: run.id, missing }, 'the run lacks some of its equipment');
    const instructions =
      instructionsOf(cast, setup.orchestration) + noteOf(unique([...missing, ...removedFiles(setup)]));
    return { ok: true, outfit: { instructions, tools: own, equipment } };
  };
}

/** Whether who answers is there; a team is as its session recorded it. */
function hasTarget({ experts }: Definitions, { target, orchestration }: SessionSetup): boolean {
  const parsed = parseTarget(target);
  return orchestration !== null || parsed?.kind !== 'expert' || experts.has(parsed.name);
}

async function castOf(
  store: Pick<Store, 'definitionIds'>,
  definitions: Definitions,
  setup: SessionSetup,
): Promise<Cast | null> {
  const { capabilityConfig: config, orchestration } = setup;
  if (orchestration !== null) return { plan: orchestration.lead, subagents: orchestration.members, gone: [] };
  const target = parseTarget(setup.target);
  if (target === null || target.kind === 'team') return null;
  const expert = target.kind === 'expert' ? definitions.experts.get(target.name) : undefined;
  if (target.kind === 'expert' && expert === undefined) return null;
  const names = async (kind: DefinitionKind, ids: readonly number[]) =>
    ids.length === 0 ? [] : (await store.definitionIds.namesOf(kind, ids)).map((name, at) => name ?? `no ${ids[at]}`);
  const plugins = await names('plugin', config.pluginIds);
  const bundles = plugins.flatMap((name) => definitions.plugins.get(name) ?? []);
  const subagents = unique([
    ...(await names('expert', config.subagentIds)),
    ...(expert === undefined ? bundles.flatMap(({ experts }) => experts) : []),
  ]);
  const plan: AgentPlan = {
    ...(expert === undefined ? PLAIN : planOf(expert, definitions)),
    skills: unique([...(await names('skill', config.skillIds)), ...bundles.flatMap(({ skills }) => skills)]),
    mcpServers: unique([
      ...(await names('mcp_server', config.mcpServerIds)),
      ...bundles.flatMap((one) => one.mcpServers),
    ]),
    // The session was opened for this agent, so it gets the session's connections and browser.
    connectors: null,
    browser: true,
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
  connectors: null,
  subagents: [],
  browser: true,
};

function goneError(target: string): RunError {
  const { kind, name } = { name: '', ...(parseTarget(target) ?? { kind: target }) };
  const what = kind === 'team' ? 'expert team' : kind;
  return { type: 'api_error', message: `The ${what} "${name}" does not exist any more.`, retryable: false };
}

function toSubagent(fit: Fitting, catalog: Catalog, plan: AgentPlan): SubagentGrant[] {
  const { name, description, subagents } = plan;
  const resolved = resolveModel(catalog, plan.model);
  if (plan.model !== null && resolved === undefined) {
    fit.missing.push(`the agent ${name}, whose model does not exist any more`);
    return [];
  }
  const model = resolved === undefined ? null : grantModel(resolved);
  const { tools, ...equipment } = fitAgent(fit, plan);
  return [{ name, description, instructions: roleOf(plan), model, tools, equipment, subagents }];
}

/** An expert's instructions: the default ones plus its own role. */
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

/** What the agent may remember, but won't find. */
function removedFiles({ workspaceRemovedAt: at }: { readonly workspaceRemovedAt: number | null }): string[] {
  if (at === null) return [];
  return [`files in the workspace from before ${isoTime(at)}: they were removed, because the session was not used`];
}

function noteOf(missing: readonly string[]): string {
  return missing.length === 0 ? '' : `\n\nNot available in this turn\n${missing.map((one) => `- ${one}`).join('\n')}`;
}
