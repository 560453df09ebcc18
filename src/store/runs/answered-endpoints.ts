// Endpoints of models that have answered as they are configured, by names that tell nothing.
import { type Database, FREES } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';

/** More than anybody configures in years. The newest are kept. */
const MAX_ROWS = 1_000;

const KEEP = 'INSERT INTO answered_endpoints (name, answered_at) VALUES (?, ?) ON CONFLICT (name) DO NOTHING';
const PRUNE = `DELETE FROM answered_endpoints WHERE seq <= (
  SELECT seq FROM answered_endpoints ORDER BY seq DESC LIMIT 1 OFFSET ${MAX_ROWS})`;

/** The verbs. */
export function makeAnsweredEndpoints({ read, write }: Database) {
  return {
    hasAnswered: read(function* (tx: Reader, name: string): Step<boolean> {
      return (yield* tx.get('SELECT seq FROM answered_endpoints WHERE name = ?', name)) !== undefined;
    }),

    /** Once for each is enough; more change nothing. */
    keepAnswered: write(function* (tx: Transaction, name: string): Step<void> {
      yield* tx.run(KEEP, name, tx.now);
      yield* tx.run(PRUNE);
    }, FREES),
  };
}
