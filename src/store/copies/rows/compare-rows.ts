// Compares the rows of two places, table by table.
import { hash } from 'node:crypto';
import type { RowsPlace } from './place.ts';
import type { StoredTable } from './tables.ts';
import { endOfTuple } from './tuples.ts';

/** How many rows a table has, and a hash of them that is the same in any order. */
export interface Fingerprint {
  readonly rows: number;
  readonly sha256: string;
}

export interface ComparedTable {
  readonly table: string;
  readonly source: Fingerprint;
  readonly target: Fingerprint;
}

/** Compares all tables; `compared` is called with how many rows were. */
export async function compareRows(
  [source, target]: readonly [RowsPlace, RowsPlace],
  tables: readonly StoredTable[],
  compared: (rows: number) => Promise<void>,
): Promise<readonly ComparedTable[]> {
  const found: ComparedTable[] = [];
  for (const table of tables) {
    const [one, other] = await Promise.all([
      fingerprintOf(source, table, compared),
      fingerprintOf(target, table, async () => undefined),
    ]);
    found.push({ table: table.name, source: one, target: other });
  }
  return found;
}

export const isSame = ({ source, target }: ComparedTable): boolean =>
  source.rows === target.rows && source.sha256 === target.sha256;

/** Each row has a key, so that no two are the same: the sum of their hashes, without carrying, says which there are. */
async function fingerprintOf(
  place: RowsPlace,
  table: StoredTable,
  seen: (rows: number) => Promise<void>,
): Promise<Fingerprint> {
  const sum = new Uint32Array(8);
  let rows = 0;
  for await (const batch of place.batches(table)) {
    for (let at = 0; at < batch.bytes.length; ) {
      const end = endOfTuple(batch.bytes, at);
      const row = hash('sha256', batch.bytes.subarray(at, end), 'buffer');
      for (const index of sum.keys()) sum[index]! ^= row.readUInt32BE(index * 4);
      at = end;
    }
    rows += batch.rows;
    await seen(batch.rows);
  }
  return { rows, sha256: [...sum].map((part) => part.toString(16).padStart(8, '0')).join('') };
}
