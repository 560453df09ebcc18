// The one connection to the SQLite file.
import Connection from 'better-sqlite3';
import { MB } from '../../../../domain/byte-units.ts';
import { dropStatistics } from '../planner.ts';
import { makePrivateFile } from './private-file.ts';
import type { MigrationStep } from '../../schema.ts';
import { migrate } from '../migrate.ts';
import { removeCopy } from './vacuum.ts';

/** At a start no requests are served yet, so waiting for a lock may block. */
const OPENING_MS = 5_000;
/** The write-ahead log shrinks to this size when it restarts. */
const LOG_BYTES = 16 * MB;

/** Opens the file, creates or migrates it, and leaves a connection that never waits. */
export function openFile(file: string, begins?: (step: MigrationStep) => void): Connection.Database {
  removeCopy(file);
  let connection = connect(file);
  try {
    migrate(connection, file, begins);
    if (dropStatistics(connection)) {
      connection.close();
      connection = connect(file);
    }
    // From here on, waiting would block the event loop; see `LOCK_WAIT_MS`.
    connection.pragma('busy_timeout = 0');
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function connect(file: string): Connection.Database {
  // The log and its index get the mode of the file.
  makePrivateFile(file);
  const connection = new Connection(file, { timeout: OPENING_MS });
  try {
    // Of a new file, and of one that is vacuumed: free pages can be given back bit by bit.
    connection.pragma('auto_vacuum = INCREMENTAL');
    connection.pragma('journal_mode = WAL');
    // The default of a WAL database may lose acknowledged commits when the power fails.
    connection.pragma('synchronous = FULL');
    connection.pragma('foreign_keys = ON');
    connection.pragma('trusted_schema = OFF');
    connection.pragma(`journal_size_limit = ${LOG_BYTES}`);
    // SQLite's own checkpoints are part of a commit, and ignore errors; see `makeCheckpoints`.
    connection.pragma('wal_autocheckpoint = 0');
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}
