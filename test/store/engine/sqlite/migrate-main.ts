// A process that brings a database to the schema of this code, and is killed before the commit of one of its migrations.
import Connection from 'better-sqlite3';
import { migrate } from '../../../../src/store/engine/sqlite/migrate.ts';

const [, , file = '', version = ''] = process.argv;
const connection = new Connection(file);
const { pragma } = connection;
connection.pragma = (source, options) => {
  if (source === `user_version = ${version}`) process.kill(process.pid, 'SIGKILL');
  return pragma.call(connection, source, options);
};
migrate(connection, file);
