// All checks of what reaches people by itself.
import type { HookListener } from '../clients/hooks.ts';
import type { Results } from '../clients/results.ts';
import { databaseOf, type StoredFacts } from '../../../src/selftest/checks/journal-rows.ts';
import { checkPublishing, readVersions } from './publishing.ts';
import { checkResultEvents } from './result-events.ts';
import { checkSchedules, readFirings } from './schedules.ts';

interface Seen {
  /** Null when there was none. */
  readonly results: Results | null;
  readonly hooks: HookListener;
}

/** Returns every violation in words; checks a data directory that no daemon writes to. */
export async function checkResults(
  { results, hooks }: Seen,
  { dataDir }: { readonly dataDir: string },
  facts: StoredFacts,
): Promise<string[]> {
  const file = databaseOf({ dataDir });
  if (results === null) return [];
  return [
    ...checkSchedules(results, facts, file),
    ...(await checkPublishing(results, dataDir, file)),
    ...checkResultEvents(results, hooks, facts, file),
  ];
}

/** What there is of it at the end. */
export function readResults(file: string) {
  return { firings: readFirings(file), versions: readVersions(file) };
}
