// Where a store keeps its rows: in a SQLite file, or in a PostgreSQL database.
import { nameOf, type PostgresAddress } from './engine/postgres/address.ts';

export type StoreLocation =
  | { readonly kind: 'sqlite'; readonly file: string }
  /** `connections`: so many are opened at most. */
  | { readonly kind: 'postgres'; readonly address: PostgresAddress; readonly connections: number };

/** The location for people, without a password: for logs, errors and status. */
export function nameOfStore(location: StoreLocation): string {
  return location.kind === 'sqlite' ? location.file : nameOf(location.address);
}
