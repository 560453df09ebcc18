// All checks of what reaches people by itself.
import type { HookListener } from '../clients/hooks.ts';
import type { Results } from '../clients/results.ts';
import type { StoredFacts } from '../../../src/selftest/checks/journal-rows.ts';
import type { Places } from '../../../src/selftest/checks/stored-blobs.ts';
import { checkPublishing, readVersions } from './publishing.ts';
import { checkResultEvents } from './result-events.ts';
import { checkSchedules, readFirings } from './schedules.ts';

interface Seen {
  /** Null when there was none. */
  readonly results: Results | null;
  readonly hooks: HookListener;
}

/** Returns every violation in words; checks what no daemon writes to. */
export function checkResults({ results, hooks }: Seen, places: Places, facts: StoredFacts, file: string): string[] {
  if (results === null) return [];
  return [
    ...checkSchedules(results, facts, file),
    ...checkPublishing(results, places, file),
    ...checkResultEvents(results, hooks, facts, file),
  ];
}

/** What there is of it at the end. */
export function readResults(file: string) {
  return { firings: readFirings(file), versions: readVersions(file) };
}
