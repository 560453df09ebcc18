// The verbs of retention: each removes a part of what is old in one short commit.
import type { Database } from '../engine/database.ts';
import { makeEstimates } from './estimate.ts';
import { makeRemoveAudit } from './remove-audit.ts';
import { makeRemoveDetails } from './remove-details.ts';
import { makeRemoveEvents } from './remove-events.ts';
import { makeRetentionClock } from './retention-clock.ts';
import { makeSpace } from './space.ts';

/** Makes them. */
export function makeRetention(database: Database) {
  const events = makeRemoveEvents(database);
  return {
    ...makeRetentionClock(database),
    ...makeRemoveAudit(database),
    ...makeEstimates(database),
    ...makeSpace(database),
    eventsOfRuns: events.ofRuns,
    eventsOfSessions: events.ofSessions,
    detailsOfRuns: makeRemoveDetails(database).ofRuns,
  };
}
