// The equipment of one agent of a run: what its own plan names, as far as its session has it and it still exists.
import type { BrowserGrant, ConnectionGrant, Equipment } from '../../agent/port/grants.ts';
import type { Definitions } from '../../catalog/definitions.ts';
import type { SecretLocations } from '../../catalog/reading/secret-file.ts';
import type { AgentPlan } from '../../domain/capabilities/orchestration.ts';
import type { SessionSetup } from '../../domain/sessions/session.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open-store.ts';
import { grantMcpServer } from './mcp-grant.ts';

interface Lookup {
  readonly store: Pick<Store, 'connections'>;
  readonly locations: SecretLocations;
  readonly log: Log;
  browser(): BrowserGrant | null;
  readonly definitions: Definitions;
  /** What the agents lack, in words; this list is appended to. */
  readonly missing: string[];
}

/** What all agents of a run choose from. */
interface SessionHas {
  /** Names of built-in tools. */
  readonly tools: readonly string[];
  readonly connections: readonly ConnectionGrant[];
  readonly browser: BrowserGrant | null;
}

export interface Fitting extends Lookup {
  readonly has: SessionHas;
}

/** What a session provides: its existing connections, the browser, and the available built-in tools. */
export async function sessionHas(
  lookup: Lookup,
  { capabilityConfig: config, userSeq }: SessionSetup & { readonly userSeq: number },
  tools: readonly string[],
): Promise<SessionHas> {
  return {
    tools,
    connections: await connectionsOf(lookup, config.connectorConnectionIds, userSeq),
    browser: config.browserEnabled ? browserOf(lookup) : null,
  };
}

/** The equipment of a plan's agent. Nothing is inherited from another agent's plan. */
export function fitAgent(
  fit: Fitting,
  plan: AgentPlan,
): Omit<Equipment, 'subagents'> & { readonly tools: readonly string[] } {
  const { has } = fit;
  const names = (chosen: readonly string[] | null, name: string) => chosen === null || chosen.includes(name);
  return {
    ...thingsOf(fit, plan),
    tools: has.tools.filter((name) => names(plan.tools, name)),
    connections: has.connections.filter(({ connector }) => names(plan.connectors, connector)),
    browser: plan.browser ? has.browser : null,
  };
}

function thingsOf(
  { locations, log, definitions, missing }: Lookup,
  plan: AgentPlan,
): Pick<Equipment, 'skills' | 'mcp'> {
  const skills = plan.skills.flatMap((name) => {
    const skill = definitions.skills.get(name);
    if (skill === undefined) missing.push(`the skill ${name}, which does not exist any more`);
    return skill === undefined ? [] : [{ name, description: skill.description, folder: skill.folder }];
  });
  const mcp = plan.mcpServers.flatMap((name) => {
    const server = definitions.mcpServers.get(name);
    if (server === undefined) missing.push(`the MCP server ${name}, which does not exist any more`);
    const granted = server === undefined ? undefined : grantMcpServer(server, locations);
    if (granted?.ok === false) {
      log.error({ mcp_server: name, why: granted.why }, 'an MCP server cannot be used');
      missing.push(`the MCP server ${name}, whose credential cannot be read`);
    }
    return granted?.ok === true ? [granted.grant] : [];
  });
  return { skills, mcp };
}

async function connectionsOf(
  { store, definitions, missing }: Lookup,
  ids: readonly string[],
  userSeq: number,
): Promise<ConnectionGrant[]> {
  if (ids.length === 0) return [];
  const found = await store.connections.listOf(userSeq, ids);
  const grants = found.flatMap(({ id, name, connector, state }) => {
    const definition = definitions.connectors.get(connector);
    if (definition === undefined || state === 'revoked') return [];
    const { description, baseUrl, methods, paths } = definition;
    return [{ id, name, connector, description, baseUrl, methods, paths }];
  });
  for (const id of ids) {
    if (!grants.some((grant) => grant.id === id)) missing.push(`the connection ${id}, which does not exist any more`);
  }
  return grants;
}

function browserOf({ browser, missing }: Lookup): BrowserGrant | null {
  const granted = browser();
  if (granted === null) missing.push('the browser, which is not available here');
  return granted;
}
