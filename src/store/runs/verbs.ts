// The verbs that read runs.
import type { Database } from '../engine/database.ts';
import { estimatePrompt } from './prompt-size.ts';
import { makeRunRecords } from './run-records.ts';
import { makeTimelineVerbs } from './run-timeline.ts';
import { makeRuns } from './runs.ts';
import { makeListWaiting } from './waiting-runs.ts';

export function makeRunVerbs(database: Database) {
  return {
    ...makeRuns(database),
    ...makeRunRecords(database),
    ...makeTimelineVerbs(database),
    listWaiting: makeListWaiting(database),
    /** Tokens of a turn that may come. */
    estimatePrompt: database.read(estimatePrompt),
  };
}
