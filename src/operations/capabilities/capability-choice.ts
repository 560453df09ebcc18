// What a key's agents may use in free mode, given by id or name and checked to exist (§2.10).
import type { Definitions } from '../../catalog/definitions.ts';
import type { CapabilityConfig } from '../../domain/capabilities/capability-config.ts';
import type { LookUp } from '../../domain/capabilities/look-up.ts';
import { unprocessable } from '../../domain/errors.ts';
import type { DefinitionKind } from '../../store/people/definition-ids.ts';
import type { Store } from '../../store/open-store.ts';

/** An integer id, or a name. */
export type DefinitionReference = number | string;

/** The requested choice. An absent field stays unchanged; null resets it to the defaults. */
export interface CapabilityChoice {
  readonly browserEnabled?: boolean | null;
  readonly mcpServers?: readonly DefinitionReference[] | null;
  readonly skills?: readonly DefinitionReference[] | null;
  /** UUIDs. */
  readonly connections?: readonly string[] | null;
  readonly plugins?: readonly DefinitionReference[] | null;
  readonly subagents?: readonly DefinitionReference[] | null;
}

/** The names for a configuration's ids. */
export interface CapabilityNames {
  readonly mcpServers: readonly string[];
  readonly skills: readonly string[];
  readonly plugins: readonly string[];
  readonly subagents: readonly string[];
}

interface ChoiceParts {
  readonly store: Pick<Store, 'definitionIds' | 'connections'>;
  definitions(): Definitions;
  readonly lookUp: LookUp;
}

const LISTS = [
  { choice: 'mcpServers', field: 'mcpServerIds', wire: 'mcp_server_ids', kind: 'mcp_server', among: 'mcpServers' },
  { choice: 'skills', field: 'skillIds', wire: 'skill_ids', kind: 'skill', among: 'skills' },
  { choice: 'plugins', field: 'pluginIds', wire: 'plugin_ids', kind: 'plugin', among: 'plugins' },
  { choice: 'subagents', field: 'subagentIds', wire: 'subagent_ids', kind: 'expert', among: 'experts' },
] as const;

function notDefined(path: string, known: ReadonlyMap<string, unknown>): Error {
  const all = [...known.keys()].join(', ') || 'there are none';
  return unprocessable(path, `must be the id or name of one that is defined (${all})`);
}

/** Makes the verbs on a key's choice. */
export function makeCapabilityChoice({ store, definitions, lookUp }: ChoiceParts) {
  async function idsOf(
    { wire, kind, among }: (typeof LISTS)[number],
    references: readonly DefinitionReference[],
  ): Promise<number[]> {
    const known = () => definitions()[among];
    const names = new Set<string>();
    for (const [at, reference] of references.entries()) {
      const name =
        typeof reference === 'string' ? reference : (await store.definitionIds.namesOf(kind, [reference]))[0];
      if (name === undefined || !(await lookUp(() => known().has(name))))
        throw notDefined(`capability_config.${wire}[${at}]`, known());
      names.add(name);
    }
    return store.definitionIds.idsFor(kind, [...names]);
  }

  async function connectionsOf(userSeq: number, ids: readonly string[]): Promise<string[]> {
    const found = new Set((await store.connections.listOf(userSeq, ids)).map(({ id }) => id));
    for (const [at, id] of ids.entries()) {
      const path = `capability_config.connector_connection_ids[${at}]`;
      if (!found.has(id)) throw unprocessable(path, "must be a connection of the key's owner");
    }
    return [...new Set(ids)];
  }

  return {
    /**
     * The configuration with the choice applied. Throws `unprocessable` for what does not exist or belongs to another user.
     */
    apply: async (
      before: Partial<CapabilityConfig>,
      choice: CapabilityChoice,
      userSeq: number,
    ): Promise<Partial<CapabilityConfig>> => {
      const chosen: { -readonly [K in keyof CapabilityConfig]?: CapabilityConfig[K] } = { ...before };
      for (const list of LISTS) {
        const wanted = choice[list.choice];
        if (wanted === null) delete chosen[list.field];
        else if (wanted !== undefined) chosen[list.field] = await idsOf(list, wanted);
      }
      if (choice.connections === null) delete chosen.connectorConnectionIds;
      else if (choice.connections !== undefined) {
        chosen.connectorConnectionIds = await connectionsOf(userSeq, choice.connections);
      }
      if (choice.browserEnabled === null) delete chosen.browserEnabled;
      else if (choice.browserEnabled !== undefined) chosen.browserEnabled = choice.browserEnabled;
      return chosen;
    },

    namesOf: async (config: CapabilityConfig): Promise<CapabilityNames> => {
      const names = async (kind: DefinitionKind, ids: readonly number[]) =>
        (await store.definitionIds.namesOf(kind, ids)).filter((name) => name !== undefined);
      return {
        mcpServers: await names('mcp_server', config.mcpServerIds),
        skills: await names('skill', config.skillIds),
        plugins: await names('plugin', config.pluginIds),
        subagents: await names('expert', config.subagentIds),
      };
    },
  };
}
