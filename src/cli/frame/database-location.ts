// A database that an option names: an address or a file, or a file with the address.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf } from '../../domain/errors.ts';
import { readPostgresAddress } from '../../store/engine/postgres/connections/address.ts';
import type { StoreLocation } from '../../store/location.ts';
import { CommandError } from './exit-codes.ts';

/** The address of a PostgreSQL database, or the path of a file. Throws `usage`, without the address: it may have a password. */
export function databaseAt(written: string, flag: string): StoreLocation {
  return /^postgres(ql)?:/i.test(written) ? addressIn(written, flag) : { kind: 'sqlite', file: resolve(written) };
}

/** The address that is the one line of a file. Throws `usage`. */
export function databaseInFile(file: string, flag: string): StoreLocation {
  let line: string;
  try {
    line = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new CommandError('usage', `${flag} cannot be read: ${messageOf(error)}`);
  }
  return addressIn(line, flag);
}

/** For copying: one connection holds the lock, another has the rows. */
const CONNECTIONS = 2;

function addressIn(written: string, flag: string): StoreLocation {
  const read = readPostgresAddress(written);
  if (read.ok) return { kind: 'postgres', address: read.address, connections: CONNECTIONS };
  throw new CommandError('usage', `${flag} ${read.problems.join('; ')}.`);
}
