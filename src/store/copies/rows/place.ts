// Where rows are copied from and to: an SQLite file, or a PostgreSQL database.
import type { Value } from '../../engine/statement.ts';
import type { StoredTable } from './tables.ts';

/** The values of a primary key's columns. */
export type Key = readonly Value[];

/** Some rows of a table. */
export interface Batch {
  /** As `tuples.ts` has them, one after another. */
  readonly bytes: Buffer;
  readonly rows: number;
  /** Of the last row. */
  readonly last: Key;
}

/** A batch is given from so many bytes on; one row may have more. */
export const BATCH_BYTES = 131_072;

export interface RowsPlace {
  /** For people, without a password. */
  readonly name: string;
  /** The rows of a table in the order of their keys, after one if it is given. */
  batches(table: StoredTable, after?: Key): AsyncIterable<Batch>;
  /** About how many rows there are in all. */
  about(): Promise<number>;
  /** By table, the highest number that was given to a row. */
  numbers(): Promise<ReadonlyMap<string, bigint>>;
  close(): Promise<void>;
}

/** How far a table was copied: up to a key, or all of it. */
export interface TablePlace {
  readonly rows: number;
  readonly last: Key | null;
  readonly isWhole: boolean;
}

export interface RowsTarget extends RowsPlace {
  /** By table, where an earlier copy ended. */
  places(): Promise<ReadonlyMap<string, TablePlace>>;
  /** Begins a transaction that adds rows to a table. */
  begin(table: StoredTable): Promise<Addition>;
  /** Makes indexes, references and triggers. */
  complete(progress: (done: number, total: number) => void): Promise<void>;
  /** From then on it is a store, which gives numbers from the next ones on. */
  publish(numbers: ReadonlyMap<string, bigint>): Promise<void>;
}

export interface Addition {
  add(batch: Batch): Promise<void>;
  /** Commits the rows, and where the table stands with them. */
  commit(place: TablePlace): Promise<void>;
  /** Forgets the rows. */
  undo(): Promise<void>;
}
