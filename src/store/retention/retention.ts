// The verbs of retention: each removes a part of what is old in one short commit.
import type { Database } from '../engine/database.ts';
import { makeEstimates } from './estimate.ts';
import { makeIdleWorkspaces } from './idle-workspaces.ts';
import { makeRemoveArchives } from './remove-archives.ts';
import { makeRemoveAudit } from './remove-audit.ts';
import { makeRemoveDetails } from './remove-details.ts';
import { makeRemoveEvents } from './remove-events.ts';
import { makeRemoveFirings } from './remove-firings.ts';
import { makeRemoveSessions } from './remove-sessions.ts';
import { makeRemoveVersions } from './remove-versions.ts';
import { makeRetentionClock } from './retention-clock.ts';

/** Makes them. */
export function makeRetention(database: Database) {
  const events = makeRemoveEvents(database);
  return {
    ...makeRetentionClock(database),
    ...makeRemoveAudit(database),
    ...makeRemoveArchives(database),
    ...makeIdleWorkspaces(database),
    ...makeRemoveFirings(database),
    ...makeRemoveSessions(database),
    ...makeRemoveVersions(database),
    ...makeEstimates(database),
    giveBack: database.giveBack,
    eventsOfRuns: events.ofRuns,
    eventsOfSessions: events.ofSessions,
    detailsOfRuns: makeRemoveDetails(database).ofRuns,
  };
}
