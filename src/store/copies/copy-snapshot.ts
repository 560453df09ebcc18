// A copy of a PostgreSQL database as an SQLite file, while a daemon writes to it: one snapshot of its rows, on a connection of its own.
import type { PostgresAddress } from '../engine/postgres/connections/address.ts';
import { explainOpening } from '../engine/postgres/opening/opening-faults.ts';
import { copyRows } from './rows/copy-rows.ts';
import { openSnapshot } from './rows/postgres-rows.ts';
import { openFileToWrite } from './rows/sqlite-target.ts';
import { readFileSchema } from './rows/tables.ts';

/**
 * Copies the rows to a new file, as a daemon on SQLite keeps them. `step` is called after each batch with the rows that were copied, of
 * about so many; what it throws ends the copy. Writers are not held up. Call it on a thread that no request waits for.
 */
export async function copySnapshot(
  address: PostgresAddress,
  target: string,
  step: (done: number, total: number) => Promise<void>,
): Promise<void> {
  const schema = readFileSchema();
  const { tables } = schema;
  const source = await openSnapshot(address, tables).catch((error: unknown) => {
    throw explainOpening(error, address);
  });
  try {
    const file = openFileToWrite(target, schema, { lasts: false });
    try {
      let [done, total] = [0, 0];
      const progress = (now: number, all: number) => ([done, total] = [now, all]);
      await copyRows({ source, target: file, tables, progress, rest: () => step(done, total) });
      await file.complete(() => undefined);
      await file.publish(await source.numbers());
    } finally {
      await file.close();
    }
  } finally {
    await source.close();
  }
}
