// The verbs on sessions, and on what is in them.
import type { Database } from '../engine/database.ts';
import { makeCleanups } from './cleanups.ts';
import { makeCompactions } from './compactions.ts';
import { makeContinuedSessions } from './continued-sessions.ts';
import { makeErasures } from './erasures.ts';
import { makeHistory } from './history.ts';
import { makeInsights } from './insights.ts';
import { makeLeftCopies } from './left-copies.ts';
import { makeSessionRecords } from './session-records.ts';
import { makeSessions } from './sessions.ts';
import { makeSmallBlobRows } from './small-blobs.ts';
import { makeTurns } from './turns.ts';

export function makeSessionVerbs(database: Database) {
  return {
    sessions: {
      ...makeSessions(database),
      ...makeSessionRecords(database),
      ...makeContinuedSessions(database),
      ...makeCleanups(database),
      ...makeLeftCopies(database),
    },
    history: makeHistory(database),
    erasures: makeErasures(database),
    turns: makeTurns(database),
    compactions: makeCompactions(database),
    insights: makeInsights(database),
    smallBlobs: makeSmallBlobRows(database),
  };
}
