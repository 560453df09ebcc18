// The verbs that change a run, from its acceptance to its end.
import type { BudgetKit } from '../budgets/budget-kit.ts';
import type { Database } from '../engine/database.ts';
import { makeAcceptRun } from './accept-run.ts';
import { makeClaimRuns } from './claim-runs.ts';
import { makeEndRun } from './end-run.ts';
import { makeExpireQueued } from './expire-queued.ts';
import { makeRecordProgress } from './record-progress.ts';
import { makeRescueNode } from './rescue-node.ts';
import { makeRescueRuns } from './rescue-runs.ts';
import { makeStopRuns } from './stop-runs.ts';
import { makeFindSubmitted } from './submissions.ts';
import { makeWaitForUser } from './wait-for-user.ts';

export function makeLifecycleVerbs(database: Database, kit: BudgetKit) {
  return {
    ...makeRecordProgress(database, kit),
    ...makeEndRun(database),
    accept: makeAcceptRun(database, kit),
    findSubmitted: makeFindSubmitted(database),
    claim: makeClaimRuns(database),
    ...makeRescueRuns(database),
    ...makeRescueNode(database, kit),
    ...makeStopRuns(database),
    ...makeWaitForUser(database),
    ...makeExpireQueued(database),
  };
}
