// The store: every verb on rows, over one database.
import type { Clock } from '../domain/clock.ts';
import { makeAcceptRun, makeFindSubmitted } from './accept-run.ts';
import { makeArtifactQueue } from './artifact-queue.ts';
import { makeClaimRuns } from './claim-runs.ts';
import { makeCleanups } from './cleanups.ts';
import { makeCompactions } from './compactions.ts';
import { makeConnections } from './connections.ts';
import { type Database, openDatabase } from './database.ts';
import { makeDefinitionIds } from './definition-ids.ts';
import { makeDocuments } from './documents.ts';
import { makeEndRun } from './end-run.ts';
import { makeErasures } from './erasures.ts';
import { makeEvents } from './events.ts';
import { makeExpireQueued } from './expire-queued.ts';
import { makeCreateFirstAdministrator } from './first-administrator.ts';
import type { StoreAlarms } from './health.ts';
import { makeInsights } from './insights.ts';
import { makeApiKeys } from './keys.ts';
import { makeOverview } from './overview.ts';
import type { Reserve } from './reserve.ts';
import { makeReadArtifacts } from './read-artifacts.ts';
import { makeRecordArtifacts } from './record-artifacts.ts';
import { makeRecordProgress } from './record-progress.ts';
import { makeRescueRuns } from './rescue-runs.ts';
import { makeRuns } from './runs.ts';
import { makeScreenshots } from './screenshots.ts';
import { makeSigningKeys } from './signing-keys.ts';
import { makeSessions } from './sessions.ts';
import { makeStopRuns } from './stop-runs.ts';
import { makeTeams } from './teams.ts';
import { makeTurns } from './turns.ts';
import { makeUserInputs } from './user-inputs.ts';
import { makeUsers } from './users.ts';
import { makeWorkspaceExports } from './workspace-exports.ts';
import { makeWorkspaceTree } from './workspace-tree.ts';
import { makeWaitForUser } from './wait-for-user.ts';
import { makeWorkerNodes } from './worker-nodes.ts';

export type Store = ReturnType<typeof makeStore>;

/** Opens the database file of a data directory and answers its verbs. */
export function openStore(file: string, clock: Clock, alarms?: StoreAlarms, reserve?: Reserve): Store {
  return makeStore(openDatabase(file, clock, alarms, reserve));
}

function makeStore(database: Database) {
  return {
    createFirstAdministrator: makeCreateFirstAdministrator(database),
    users: makeUsers(database),
    teams: makeTeams(database),
    keys: makeApiKeys(database),
    signingKeys: makeSigningKeys(database),
    sessions: { ...makeSessions(database), ...makeCleanups(database) },
    erasures: makeErasures(database),
    overview: makeOverview(database),
    turns: makeTurns(database),
    compactions: makeCompactions(database),
    definitionIds: makeDefinitionIds(database),
    documents: makeDocuments(database),
    screenshots: makeScreenshots(database),
    events: makeEvents(database),
    nodes: makeWorkerNodes(database),
    artifacts: {
      ...makeArtifactQueue(database),
      ...makeRecordArtifacts(database),
      ...makeWorkspaceExports(database),
      ...makeWorkspaceTree(database),
      ...makeReadArtifacts(database),
    },
    userInputs: makeUserInputs(database),
    insights: makeInsights(database),
    connections: makeConnections(database),
    runs: {
      ...makeRuns(database),
      ...makeRecordProgress(database),
      ...makeEndRun(database),
      accept: makeAcceptRun(database),
      findSubmitted: makeFindSubmitted(database),
      claim: makeClaimRuns(database),
      ...makeRescueRuns(database),
      ...makeStopRuns(database),
      ...makeWaitForUser(database),
      ...makeExpireQueued(database),
    },
    fault: database.fault,
    heldLogBytes: database.heldLogBytes,
    onCommitted: database.onCommitted,
    close: database.close,
  };
}
