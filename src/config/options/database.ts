// Settings of where rows are kept.
import { text } from '../../catalog/reading/schema.ts';
import { readPostgresAddress } from '../../store/engine/postgres/connections/address.ts';
import { count, type Options } from '../option.ts';

function problemsOf(written: string): readonly string[] {
  if (written === '') return [];
  const read = readPostgresAddress(written);
  return read.ok ? [] : read.problems;
}

export const DATABASE_OPTIONS = {
  database: {
    schema: {
      ...text('empty, or the address of a PostgreSQL database', (value) => problemsOf(value).length === 0),
      whyNot: (value: string) => problemsOf(value).join('; '),
    },
    fallback: '',
    about:
      'Where everything but files is stored. Empty: a SQLite database in the data directory. Or the address of a PostgreSQL ' +
      'database, 15 or newer, such as postgres://errand@db.example.com/errand?sslmode=verify-full. Read only at start. An ' +
      'address with a password belongs into `database_file`. See docs/POSTGRESQL.md.',
    isOfNode: true,
  },
  database_file: {
    schema: text('a path, or credential:NAME', (value) => value === value.trim() && !value.includes('\0')),
    fallback: '',
    about:
      'File whose one line is such an address, with its password, instead of `database`. Absolute, relative to the config ' +
      'directory, or credential:NAME. Read only at start.',
    isOfNode: true,
  },
  database_connections: {
    schema: count(4, 100),
    fallback: 12,
    about:
      'Connections to PostgreSQL that the daemon opens at most; together with those of others well under its max_connections. ' +
      'Read only at start.',
    isOfNode: true,
  },
} satisfies Options;
