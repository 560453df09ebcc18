// The integer ids of what the config directory defines by name: given at first sight, kept for good (§2.10, J4).
import type { Database } from '../engine/database.ts';

const DEFINITION_KINDS = ['mcp_server', 'skill', 'plugin', 'expert'] as const;
export type DefinitionKind = (typeof DEFINITION_KINDS)[number];

interface IdRow {
  id: number;
  kind: DefinitionKind;
  name: string;
}

/** The names of one kind and their ids, both ways. */
interface Index {
  readonly byName: Map<string, number>;
  readonly byId: Map<number, string>;
}

/** The verbs on ids. Look-ups are in memory; names that nobody has asked `idsFor` yet have no id. */
export function makeDefinitionIds({ write, reader }: Database) {
  const indexes = Object.fromEntries(
    DEFINITION_KINDS.map((kind): [DefinitionKind, Index] => [kind, { byName: new Map(), byId: new Map() }]),
  ) as Record<DefinitionKind, Index>;
  const keep = ({ id, kind, name }: IdRow) => {
    indexes[kind].byName.set(name, id);
    indexes[kind].byId.set(id, name);
  };
  reader.all<IdRow>('SELECT id, kind, name FROM definition_ids').forEach(keep);

  return {
    /** The ids of names, in their order; new names get theirs now. */
    idsFor: async (kind: DefinitionKind, names: readonly string[]): Promise<number[]> => {
      const { byName } = indexes[kind];
      const fresh = names.filter((name) => !byName.has(name));
      if (fresh.length > 0) {
        const rows = await write((tx) =>
          fresh.map((name) => {
            tx.run('INSERT INTO definition_ids (kind, name) VALUES (?, ?) ON CONFLICT DO NOTHING', kind, name);
            return tx.get<IdRow>('SELECT id, kind, name FROM definition_ids WHERE kind = ? AND name = ?', kind, name)!;
          }),
        );
        rows.forEach(keep);
      }
      return names.map((name) => byName.get(name)!);
    },

    /** The id of a name, or undefined. */
    idOf: (kind: DefinitionKind, name: string): number | undefined => indexes[kind].byName.get(name),

    /** The name that an id was given to, whether it is still defined or not; or undefined. */
    nameOf: (kind: DefinitionKind, id: number): string | undefined => indexes[kind].byId.get(id),
  };
}
