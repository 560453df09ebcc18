// Before the first test of a run with daemons on PostgreSQL: the data directory and the database that they get copies of.
import { initializeRun } from '../daemon/initialized.ts';
import { completeInitialized, emptyDatabase, INITIALIZED } from './shared-cluster.ts';

/** Answers what removes the directory. */
export async function setup(): Promise<() => void> {
  const remove = initializeRun(emptyDatabase(INITIALIZED));
  await completeInitialized();
  return remove;
}
