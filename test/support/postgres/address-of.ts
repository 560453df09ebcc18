// The address of a database of a test's server.
import { type PostgresAddress, readPostgresAddress } from '../../../src/store/engine/postgres/connections/address.ts';

export function addressOf(url: string): PostgresAddress {
  const read = readPostgresAddress(url);
  if (!read.ok) throw new Error(read.problems.join());
  return read.address;
}
