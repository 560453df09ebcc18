// What the config directory defines, as administrators see it: lists, single definitions, and the problems of the files.
import type { Definitions } from '../../catalog/definitions.ts';
import type { Problem } from '../../catalog/reading/problem.ts';
import type { LookUp } from '../../domain/capabilities/look-up.ts';
import { notFound } from '../../domain/errors.ts';
import type { Administrator } from '../../domain/people/user.ts';
import type { DefinitionKind } from '../../store/people/definition-ids.ts';
import type { Store } from '../../store/open-store.ts';
import type { Listing } from '../../domain/listing.ts';
import type { Audit } from '../audit/audit.ts';

/** The kinds by their names in the interfaces. */
const KINDS = {
  experts: { among: 'experts', idKind: 'expert', what: 'Expert', files: /^(plugins\/[^/]+\/)?experts($|\/)/ },
  'expert-teams': { among: 'teams', idKind: null, what: 'Expert team', files: /^expert-teams($|\/)/ },
  skills: { among: 'skills', idKind: 'skill', what: 'Skill', files: /^(plugins\/[^/]+\/)?skills($|\/)/ },
  plugins: { among: 'plugins', idKind: 'plugin', what: 'Plugin', files: /^plugins($|\/)/ },
  'mcp-servers': {
    among: 'mcpServers',
    idKind: 'mcp_server',
    what: 'MCP server',
    files: /^(plugins\/[^/]+\/)?mcp-servers\.yaml$/,
  },
  connectors: { among: 'connectors', idKind: null, what: 'Connector', files: /^connectors\.yaml$/ },
} as const satisfies Readonly<
  Record<
    string,
    { readonly among: keyof Definitions; readonly idKind: DefinitionKind | null; what: string; files: RegExp }
  >
>;

export type DefinitionNoun = keyof typeof KINDS;
export const DEFINITION_NOUNS = Object.keys(KINDS) as readonly DefinitionNoun[];

type ValueOf<M> = M extends ReadonlyMap<string, infer V> ? V : never;
/** The type of a noun's definitions. */
export type DefinitionOf<N extends DefinitionNoun> = ValueOf<Definitions[(typeof KINDS)[N]['among']]>;

/** A definition with its integer id; kinds without ids in §2.10 have none. */
export interface DefinitionRecord<N extends DefinitionNoun> {
  readonly noun: N;
  readonly id: number | null;
  readonly definition: DefinitionOf<N>;
}

export interface DefinitionParts {
  readonly store: Pick<Store, 'definitionIds'>;
  readonly audit: Pick<Audit, 'act'>;
  definitions(): Definitions;
  readonly lookUp: LookUp;
  readonly problems: {
    /** What is wrong with the files of the definitions now. */
    ofFiles(): readonly Problem[];
    /** The problems of the files as last read: their definitions are not in effect, or left out. */
    inEffect(): readonly Problem[];
  };
}

/** The verbs on definitions. */
export function makeDefinitionOperations({ store, audit, definitions, lookUp, problems }: DefinitionParts) {
  async function recordsOf<N extends DefinitionNoun>(noun: N): Promise<DefinitionRecord<N>[]> {
    const { among, idKind } = KINDS[noun];
    const all = [...definitions()[among].values()] as DefinitionOf<N>[];
    const names = all.map(({ name }) => name);
    const ids = idKind === null ? names.map(() => null) : await store.definitionIds.idsFor(idKind, names);
    return all.map((definition, at) => ({ noun, id: ids[at] ?? null, definition }));
  }

  return {
    /** The definitions in effect, in the order of their names, a plugin's after the others; and the problems. */
    listDefinitions: async <N extends DefinitionNoun>(
      _caller: Administrator,
      noun: N,
    ): Promise<Listing<DefinitionRecord<N>> & { readonly problems: readonly Problem[] }> => {
      const items = await recordsOf(noun);
      const own = problems.inEffect().filter(({ file }) => file !== null && isOf(noun, file));
      return { items, total: items.length, problems: own };
    },

    /** One definition by its name, else by its id. Throws `not_found`. */
    getDefinition: async <N extends DefinitionNoun>(
      _caller: Administrator,
      noun: N,
      reference: string,
    ): Promise<DefinitionRecord<N>> => {
      const find = async () => {
        const records = await recordsOf(noun);
        return (
          records.find(({ definition }) => definition.name === reference) ??
          records.find(({ id }) => id !== null && String(id) === reference)
        );
      };
      const isDefined = () => definitions()[KINDS[noun].among].has(reference);
      const found = (await find()) ?? ((await lookUp(isDefined)) ? await find() : undefined);
      if (found === undefined) throw notFound(KINDS[noun].what);
      return found;
    },

    /** Reads the files of a noun now and returns what is wrong with them. Applies nothing. */
    checkDefinitions: async (caller: Administrator, noun: DefinitionNoun): Promise<readonly Problem[]> => {
      await audit.act(caller, 'definition.check', noun);
      return problems.ofFiles().filter(({ file }) => file === null || isOf(noun, file));
    },
  };
}

/** Gives every definition its id as soon as it is first seen (J4). */
export async function numberDefinitions(store: DefinitionParts['store'], definitions: Definitions): Promise<void> {
  for (const { among, idKind } of Object.values(KINDS)) {
    if (idKind !== null) await store.definitionIds.idsFor(idKind, [...definitions[among].keys()]);
  }
}

/** A problem of the whole directory or of a plugin itself concerns every noun whose files may be in it. */
function isOf(noun: DefinitionNoun, file: string): boolean {
  if (file === 'definitions' || KINDS[noun].files.test(file)) return true;
  const isBundled = ['experts', 'skills', 'mcp-servers'].includes(noun);
  return isBundled && /^plugins(\/[^/]+(\/plugin\.yaml)?)?$/.test(file);
}
