// What the refusal of a storage says to its operator: where it is, what is wrong, and what to do.
import { explainToOperator as explainServer } from './engine/postgres/connections/faults.ts';
import { titleOf } from './engine/postgres/opening/opening-faults.ts';
import { explainToOperator as explainFile } from './engine/sqlite/storage-fault.ts';
import { StorageRefusal } from './engine/storage-refusal.ts';
import type { StoreLocation } from './location.ts';

/** Any other error unchanged. */
export function explainRefusal(error: unknown, location: StoreLocation): unknown {
  if (location.kind === 'sqlite') return explainFile(error, location.file);
  // What kept the database from being opened is explained better already.
  return error instanceof StorageRefusal ? explainServer(error, titleOf(location.address)) : error;
}
