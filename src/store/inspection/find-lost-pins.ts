// Pins in the file of a store that no daemon holds, read on a connection that only reads.
import Connection from 'better-sqlite3';
import type { Defined, LostPins } from '../../domain/capabilities/pin.ts';
import { SCHEMA_VERSION } from '../engine/schema.ts';
import { readOn } from '../engine/sqlite/execute.ts';
import { lostPinsIn } from '../people/pins.ts';

/** Pins to what isn't defined, some of them named. Null for another schema. Throws what SQLite throws. */
export function findLostPins(file: string, defined: Defined, at: number, shown: number): LostPins | null {
  const connection = new Connection(file, { readonly: true, fileMustExist: true });
  try {
    if (connection.pragma('user_version', { simple: true }) !== SCHEMA_VERSION) return null;
    return readOn(connection, (tx) => lostPinsIn(tx, defined, at, shown));
  } finally {
    connection.close();
  }
}
