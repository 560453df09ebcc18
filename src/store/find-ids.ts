// Finds ids by prefix, in a range of their index.
import type { IdNoun } from '../domain/ids.ts';
import type { Database } from './engine/database.ts';
import type { Reader, Step } from './engine/statement.ts';

/** Leaves out what belongs to a deleted session. */
const OF_SESSION = 'JOIN sessions s ON s.seq = t.session_seq AND s.deleted_at IS NULL';

const SOURCES: Readonly<Record<IdNoun, string>> = {
  sessions: 'sessions t JOIN sessions s ON s.seq = t.seq AND s.deleted_at IS NULL',
  runs: `runs t ${OF_SESSION}`,
  'user-inputs': `user_inputs t ${OF_SESSION}`,
  insights: `insights t ${OF_SESSION}`,
  connections: 'connections t',
  'scheduled-tasks': '(SELECT id FROM scheduled_tasks WHERE deleted_at IS NULL) t',
  users: 'users t',
  teams: 'teams t',
  budgets: 'budgets t',
  nodes: 'worker_nodes t',
};

/** Greater than every character of an id. */
const END = 'g';

/** The verb: up to `limit` ids that begin with `start`, which is in lower case, in order. */
export function makeFindIds({ read }: Database) {
  return read(function* (tx: Reader, noun: IdNoun, start: string, limit: number): Step<string[]> {
    const rows = yield* tx.all<{ id: string }>(
      `SELECT t.id FROM ${SOURCES[noun]} WHERE t.id >= ? AND t.id < ? ORDER BY t.id LIMIT ?`,
      start,
      start + END,
      limit,
    );
    return rows.map(({ id }) => id);
  });
}
