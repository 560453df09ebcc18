// Copies all rows of a store at rest, or of a snapshot, table by table; a copy that was interrupted is continued.
import { MB } from '../../../domain/byte-units.ts';
import type { RowsPlace, RowsTarget, TablePlace } from './place.ts';
import type { StoredTable } from './tables.ts';

/** So much is committed at a time. */
const COMMIT_BYTES = 16 * MB;

export interface CopyWork {
  readonly source: RowsPlace;
  readonly target: RowsTarget;
  readonly tables: readonly StoredTable[];
  /** Rows that are there, of about so many. */
  readonly progress: (done: number, total: number) => void;
  /** Called after each batch; what it throws ends the copy. */
  readonly rest: () => Promise<void>;
}

/** Copies the rows that aren't there yet. */
export async function copyRows({ source, target, tables, progress, rest }: CopyWork): Promise<void> {
  const places = await target.places();
  const total = await source.about();
  let done = 0;
  for (const table of tables) {
    const place = places.get(table.name) ?? { rows: 0, last: null, isWhole: false };
    done += place.rows;
    if (place.isWhole) continue;
    await copyTable({ source, target, table, place }, async (rows) => {
      done += rows;
      progress(done, Math.max(done, total));
      await rest();
    });
  }
}

interface TableWork {
  readonly source: RowsPlace;
  readonly target: RowsTarget;
  readonly table: StoredTable;
  readonly place: TablePlace;
}

async function copyTable({ source, target, table, place }: TableWork, copied: (rows: number) => Promise<void>) {
  let { rows, last } = place;
  let addition = await target.begin(table);
  let bytes = 0;
  try {
    for await (const batch of source.batches(table, last ?? undefined)) {
      await addition.add(batch);
      rows += batch.rows;
      last = batch.last;
      bytes += batch.bytes.length;
      if (bytes >= COMMIT_BYTES) {
        await addition.commit({ rows, last, isWhole: false });
        addition = await target.begin(table);
        bytes = 0;
      }
      await copied(batch.rows);
    }
  } catch (error) {
    await addition.undo();
    throw error;
  }
  await addition.commit({ rows, last, isWhole: true });
}
