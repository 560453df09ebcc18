// The integer ids of what the config directory defines by name: assigned at first sight, kept permanently (§2.10, J4).
import type { Database } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';

const DEFINITION_KINDS = ['mcp_server', 'skill', 'plugin', 'expert'] as const;
export type DefinitionKind = (typeof DEFINITION_KINDS)[number];

interface IdRow {
  id: number;
  kind: DefinitionKind;
  name: string;
}

/** The names of one kind and their ids, in both directions. */
interface Index {
  readonly byName: Map<string, number>;
  readonly byId: Map<number, string>;
}

const ALL = 'SELECT id, kind, name FROM definition_ids';
const BY_NAME = `${ALL} WHERE kind = ? AND name = ?`;

function* idFor(tx: Transaction, kind: DefinitionKind, name: string): Step<IdRow> {
  yield* tx.run('INSERT INTO definition_ids (kind, name) VALUES (?, ?) ON CONFLICT DO NOTHING', kind, name);
  return (yield* tx.get<IdRow>(BY_NAME, kind, name))!;
}

/** The verbs on ids. Ids are cached in memory: they never change. */
export function makeDefinitionIds({ write, read }: Database) {
  const indexes = Object.fromEntries(
    DEFINITION_KINDS.map((kind): [DefinitionKind, Index] => [kind, { byName: new Map(), byId: new Map() }]),
  ) as Record<DefinitionKind, Index>;
  const keep = ({ id, kind, name }: IdRow) => {
    indexes[kind].byName.set(name, id);
    indexes[kind].byId.set(id, name);
  };
  const list = read((tx) => tx.all<IdRow>(ALL));
  const readAll = async () => (await list()).forEach(keep);
  const giveIds = write(function* (tx: Transaction, kind: DefinitionKind, names: readonly string[]): Step<IdRow[]> {
    const rows: IdRow[] = [];
    for (const name of names) rows.push(yield* idFor(tx, kind, name));
    return rows;
  });

  return {
    /** The ids of names, in order; new names get theirs now. */
    idsFor: async (kind: DefinitionKind, names: readonly string[]): Promise<number[]> => {
      const { byName } = indexes[kind];
      const isUnknown = (name: string) => !byName.has(name);
      if (names.some(isUnknown)) await readAll();
      const fresh = names.filter(isUnknown);
      if (fresh.length > 0) (await giveIds(kind, fresh)).forEach(keep);
      return names.map((name) => byName.get(name)!);
    },

    /** The names that ids were assigned to, in order, whether they are still defined or not; undefined for unknown ids. */
    namesOf: async (kind: DefinitionKind, ids: readonly number[]): Promise<(string | undefined)[]> => {
      const { byId } = indexes[kind];
      if (ids.some((id) => !byId.has(id))) await readAll();
      return ids.map((id) => byId.get(id));
    },
  };
}
