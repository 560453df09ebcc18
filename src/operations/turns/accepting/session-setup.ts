// The setup of a new session: who answers, and what its agents may use (§2.10). It is stored with the session.
import { expertsOf, orchestrationOf, unique } from '../../../catalog/kinds/agent-plan.ts';
import type { Definitions, ExpertDefinition } from '../../../catalog/definitions.ts';
import {
  BROWSER_IMPL,
  type CapabilityConfig,
  NO_CAPABILITIES,
} from '../../../domain/capabilities/capability-config.ts';
import type { LookUp } from '../../../domain/capabilities/look-up.ts';
import type { Orchestration } from '../../../domain/capabilities/orchestration.ts';
import type { SessionSetup } from '../../../domain/sessions/session.ts';
import { parseTarget } from '../../../domain/capabilities/target.ts';
import type { ApiKey } from '../../../domain/people/user.ts';
import { rowsOf } from '../../../domain/portions.ts';
import type { Store } from '../../../store/open-store.ts';
import { connectionsOf } from '../../capabilities/connections.ts';

export interface SetupParts {
  readonly store: Pick<Store, 'definitionIds' | 'connections'>;
  definitions(): Definitions;
  readonly lookUp: LookUp;
}

/** Returns what a session that a key opens now gets. */
export type MakeSetup = (key: Pick<ApiKey, 'target' | 'capabilityConfig' | 'userSeq'>) => Promise<SessionSetup>;

/**
 * Makes the verb. In free mode the key decides, with what is enabled by default for what it leaves open; otherwise the
 * expert or the team does. A target that no longer exists gives nothing: the run reports it.
 */
export function makeSessionSetup(parts: SetupParts): MakeSetup {
  const { definitions, lookUp } = parts;
  return async ({ target, capabilityConfig, userSeq }) => {
    const parsed = parseTarget(target) ?? { kind: 'free' };
    const setup = (config: CapabilityConfig, orchestration: Orchestration | null = null): SessionSetup => ({
      target,
      capabilityConfig: config,
      orchestration,
    });
    if (parsed.kind === 'free') return setup(await configOfKey(parts, capabilityConfig));
    if (parsed.kind === 'expert') {
      const expert = await lookUp(() => definitions().experts.get(parsed.name));
      if (expert === undefined) return setup(NO_CAPABILITIES);
      return setup(await configOf(parts, { experts: [expert], subagents: expert.subagents, userSeq }));
    }
    const team = await lookUp(() => definitions().teams.get(parsed.name));
    if (team === undefined) return setup(NO_CAPABILITIES);
    const cast: Cast = { experts: expertsOf(team, definitions()), subagents: team.members, userSeq };
    return setup(await configOf(parts, cast), orchestrationOf(team, definitions()));
  };
}

async function configOfKey(
  { store, definitions }: SetupParts,
  chosen: Partial<CapabilityConfig>,
): Promise<CapabilityConfig> {
  const { mcpServers, skills } = definitions();
  return {
    ...NO_CAPABILITIES,
    mcpServerIds: await store.definitionIds.idsFor('mcp_server', enabledIn(mcpServers)),
    skillIds: await store.definitionIds.idsFor('skill', enabledIn(skills)),
    ...chosen,
    browserImpl: chosen.browserEnabled === true ? BROWSER_IMPL : '',
  };
}

/** Who answers, and who parts of the work can be delegated to. */
interface Cast {
  readonly experts: readonly ExpertDefinition[];
  readonly subagents: readonly string[];
  readonly userSeq: number;
}

/** Everything that any of the experts may use. */
async function configOf(parts: SetupParts, { experts, subagents, userSeq }: Cast): Promise<CapabilityConfig> {
  const { idsFor } = parts.store.definitionIds;
  const all = (list: (expert: ExpertDefinition) => readonly string[]) => unique(experts.flatMap(list));
  const browserEnabled = experts.some(({ browser }) => browser);
  return {
    browserEnabled,
    browserImpl: browserEnabled ? BROWSER_IMPL : '',
    mcpServerIds: await idsFor(
      'mcp_server',
      all(({ mcpServers }) => mcpServers),
    ),
    skillIds: await idsFor(
      'skill',
      all(({ skills }) => skills),
    ),
    connectorConnectionIds: await connectionsTo(
      parts,
      all(({ connectors }) => connectors),
      userSeq,
    ),
    pluginIds: await idsFor(
      'plugin',
      all(({ plugins }) => plugins),
    ),
    subagentIds: await idsFor('expert', subagents),
  };
}

async function connectionsTo({ store }: SetupParts, connectors: readonly string[], userSeq: number): Promise<string[]> {
  if (connectors.length === 0) return [];
  const ids: string[] = [];
  for await (const { id, connector, state } of rowsOf(connectionsOf(store, userSeq)))
    if (state !== 'revoked' && connectors.includes(connector)) ids.push(id);
  return ids;
}

function enabledIn(things: ReadonlyMap<string, { readonly name: string; readonly enabledByDefault: boolean }>) {
  return [...things.values()].filter(({ enabledByDefault }) => enabledByDefault).map(({ name }) => name);
}
