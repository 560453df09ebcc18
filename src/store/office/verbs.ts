// What administrators watch (§4.8).
import type { Database } from '../engine/database.ts';
import { makeContextUsage } from './context-usage.ts';
import { makeLastHour } from './last-hour.ts';
import { makeLiveRuns } from './live-runs.ts';
import { makeOfficeRuns } from './office-runs.ts';
import { makeRunRounds } from './run-rounds.ts';
import { makeSessionOverview } from './session-overview.ts';
import { makeSessionPages } from './session-pages.ts';
import { makeSnapshot } from './snapshot.ts';
import { makeToday } from './today.ts';

export function makeOfficeVerbs(database: Database) {
  return {
    ...makeSessionOverview(database),
    ...makeSessionPages(database),
    ...makeOfficeRuns(database),
    ...makeSnapshot(database),
    ...makeLiveRuns(database),
    ...makeLastHour(database),
    ...makeToday(database),
    ...makeRunRounds(database),
    ...makeContextUsage(database),
  };
}
