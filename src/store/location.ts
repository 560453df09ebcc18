// Where a store keeps its rows: in a SQLite file, or in a PostgreSQL database.
import { nameOf, type PostgresAddress, readPostgresAddress } from './engine/postgres/connections/address.ts';

export type StoreLocation =
  | { readonly kind: 'sqlite'; readonly file: string }
  /** `connections`: so many are opened at most. */
  | { readonly kind: 'postgres'; readonly address: PostgresAddress; readonly connections: number };

/** A location that can be passed to a thread of this process. It contains the password: it must not be written down. */
export type StoreReference =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly text: string; readonly connections: number };

export function referenceOf(location: StoreLocation): StoreReference {
  if (location.kind === 'sqlite') return location;
  return { kind: 'postgres', text: location.address.text(), connections: location.connections };
}

export function locationOf(reference: StoreReference): StoreLocation {
  if (reference.kind === 'sqlite') return reference;
  const read = readPostgresAddress(reference.text);
  if (!read.ok) throw new Error(read.problems.join('; '));
  return { kind: 'postgres', address: read.address, connections: reference.connections };
}

/** The location for people, without a password: for logs, errors and status. */
export function nameOfStore(location: StoreLocation): string {
  return location.kind === 'sqlite' ? location.file : nameOf(location.address);
}
