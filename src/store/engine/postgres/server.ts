// What a server and its database must be, before anything is written there.
import { ErrandError } from '../../../domain/errors.ts';
import { nameOf, type PostgresAddress } from './address.ts';
import type { Value } from '../statement.ts';

/** PostgreSQL 15, as `server_version_num` counts. */
const OLDEST = 150_000;

/** One row, whose values `refusalOfServer` takes. */
export const SERVER_FACTS = `SELECT current_setting('server_version_num')::int4, current_setting('server_version'),
  current_setting('server_encoding'), pg_is_in_recovery()::int4, coalesce(current_schema(), ''),
  coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)::int4`;

/** Throws `conflict` for a server that Errand can't use, with what to run. */
export function requireServer(facts: readonly Value[], address: PostgresAddress): void {
  const [version, shown, encoding, isStandby, schema, mayCreate] = facts;
  const { database, user } = address;
  const found: readonly (readonly [isWrong: boolean, words: string])[] = [
    [Number(version) < OLDEST, `is of PostgreSQL ${shown}: Errand needs 15 or newer. Upgrade the server`],
    [
      encoding !== 'UTF8',
      `has the encoding ${encoding}, and Errand needs UTF8. In place of it: DROP DATABASE "${database}"; ` +
        `CREATE DATABASE "${database}" OWNER "${user}" ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0;`,
    ],
    [isStandby === 1, 'is a standby, where nothing can be written. Name the primary server'],
    [
      schema === '' || mayCreate !== 1,
      `gives ${user} no schema to make tables in. Run, as its administrator (psql -d ${database}): ` +
        `GRANT USAGE, CREATE ON SCHEMA ${schema === '' ? 'public' : `"${schema}"`} TO "${user}";`,
    ],
  ];
  const wrong = found.find(([isWrong]) => isWrong);
  if (wrong === undefined) return;
  const name = nameOf(address);
  throw new ErrandError(
    'conflict',
    `${name.charAt(0).toUpperCase()}${name.slice(1)} ${wrong[1]}${wrong[1].endsWith(';') ? '' : '.'}`,
  );
}
