// The tables of the schema, in an order in which each comes after those that it refers to: read from a database made by it.
import Connection from 'better-sqlite3';
import { SCHEMA } from '../../engine/schema.ts';

export type ColumnType = 'INTEGER' | 'REAL' | 'TEXT' | 'BLOB';

export interface StoredColumn {
  readonly name: string;
  readonly type: ColumnType;
}

export interface StoredTable {
  readonly name: string;
  /** Those that are stored; generated ones follow from them. */
  readonly columns: readonly StoredColumn[];
  /** The places of the primary key's columns among them. */
  readonly key: readonly number[];
  /** Whether a number is never given to a second row. */
  readonly counts: boolean;
}

/** What makes an empty file of the schema: its tables, then what is made faster once the rows are there. */
export interface FileSchema {
  readonly tables: readonly StoredTable[];
  readonly makeTables: readonly string[];
  /** Indexes and triggers, by name. */
  readonly makeRest: ReadonlyMap<string, string>;
}

interface ColumnInfo extends StoredColumn {
  /** The place in the primary key, from 1; 0 for none. */
  readonly pk: number;
  /** 0 for a stored column. */
  readonly hidden: number;
}

export function readFileSchema(): FileSchema {
  const model = new Connection(':memory:');
  try {
    model.exec(SCHEMA.join('\n'));
    const madeWhere = (condition: string) => {
      const sql = `SELECT name, sql FROM sqlite_schema WHERE ${condition} AND sql IS NOT NULL AND name NOT LIKE 'sqlite_%'`;
      return new Map(model.prepare<[], [name: string, sql: string]>(sql).raw().all());
    };
    const tables = madeWhere("type = 'table'");
    return {
      tables: inOrder(model, [...tables.keys()]).map((name) => tableOf(model, name, tables.get(name)!)),
      makeTables: [...tables.values()],
      makeRest: madeWhere("type <> 'table'"),
    };
  } finally {
    model.close();
  }
}

function tableOf(model: Connection.Database, name: string, sql: string): StoredTable {
  const stored = (model.pragma(`table_xinfo(${name})`) as ColumnInfo[]).filter(({ hidden }) => hidden === 0);
  const key = stored
    .map(({ pk }, place) => ({ pk, place }))
    .filter(({ pk }) => pk > 0)
    .sort((one, other) => one.pk - other.pk)
    .map(({ place }) => place);
  const columns = stored.map((column) => ({ name: column.name, type: column.type }));
  return { name, columns, key, counts: sql.includes('AUTOINCREMENT') };
}

/** Throws for tables that refer to one another in a circle. */
function inOrder(model: Connection.Database, names: readonly string[]): readonly string[] {
  const ordered = new Set<string>();
  const visit = (name: string, path: readonly string[]) => {
    if (ordered.has(name)) return;
    if (path.includes(name)) throw new Error(`The tables ${[...path, name].join(', ')} refer to one another.`);
    const referred = model.pragma(`foreign_key_list(${name})`) as { readonly table: string }[];
    for (const { table } of referred) if (table !== name) visit(table, [...path, name]);
    ordered.add(name);
  };
  for (const name of names) visit(name, []);
  return [...ordered];
}
