// The store: every verb on rows, over one database.
import { makePeriodOf } from '../domain/budgets/period.ts';
import type { Clock } from '../domain/clock.ts';
import type { RenderBody } from '../domain/webhooks/event-facts.ts';
import { makeAcceptRun, makeFindSubmitted } from './lifecycle/accept-run.ts';
import { makeAuditAnchors } from './audit/anchored.ts';
import { makeAuditEntries } from './audit/audit-entries.ts';
import { makeArtifactEnds } from './artifacts/artifact-ends.ts';
import { makeArtifactQueue } from './artifacts/artifact-queue.ts';
import { makeBudgets } from './budgets/budgets.ts';
import { makeHeldCalls } from './budgets/held-calls.ts';
import { makeBudgetsInForce } from './budgets/in-force.ts';
import { makeLostCalls } from './budgets/lost-calls.ts';
import { type BudgetKit, makeReservations } from './budgets/reserve.ts';
import { makeBudgetWarnings } from './budgets/warnings.ts';
import { makeClaimRuns } from './lifecycle/claim-runs.ts';
import { makeDeleteSession } from './lifecycle/delete-session.ts';
import { makeCleanups } from './sessions/cleanups.ts';
import { makeCompactions } from './sessions/compactions.ts';
import { makeConnections } from './people/connections.ts';
import type { Database } from './engine/database.ts';
import { type DatabaseOptions, openDatabase } from './engine/sqlite/open-database.ts';
import { makeContextUsage } from './office/context-usage.ts';
import { makeOfficeRuns } from './office/office-runs.ts';
import { makeRunRounds } from './office/run-rounds.ts';
import { makeSessionOverview } from './office/session-overview.ts';
import { makeSessionPages } from './office/session-pages.ts';
import { makeDefinitionIds } from './people/definition-ids.ts';
import { makeDocuments } from './artifacts/documents.ts';
import { makeEndRun } from './lifecycle/end-run.ts';
import { makeErasures } from './sessions/erasures.ts';
import { makeEvents } from './journal/events.ts';
import { makeDiskSamples } from './inspection/disk-samples.ts';
import { makeFindIds } from './find-ids.ts';
import { makeExpireQueued } from './lifecycle/expire-queued.ts';
import { makeCreateFirstAdministrator } from './people/first-administrator.ts';
import { makeHoldings } from './people/holdings.ts';
import { makeInsights } from './sessions/insights.ts';
import { makeApiKeys } from './people/keys.ts';
import { makeRunRecords } from './runs/run-records.ts';
import { makeSessionRecords } from './sessions/session-records.ts';
import { makeListWaiting } from './runs/waiting-runs.ts';
import { makeRequestedArchives } from './artifacts/requested-archives.ts';
import { makeReadArtifacts } from './artifacts/read-artifacts.ts';
import { makeBoard } from './publishing/board.ts';
import { makePublishJobs } from './publishing/jobs.ts';
import { makeManifestFiles } from './publishing/manifest-files.ts';
import { makeManifests } from './publishing/manifests.ts';
import { makePageHandOver } from './publishing/hand-over.ts';
import { makePages } from './publishing/pages.ts';
import { makePlanVersion } from './publishing/plan-version.ts';
import { makeReleases } from './publishing/releases.ts';
import { makePageRemovals } from './publishing/removals.ts';
import { makeShares } from './publishing/shares.ts';
import { makeRecordArtifacts } from './artifacts/record-artifacts.ts';
import { makeRecordProgress } from './lifecycle/record-progress.ts';
import { makeRescueRuns } from './lifecycle/rescue-runs.ts';
import { makeTimelineVerbs } from './runs/run-timeline.ts';
import { makeRuns } from './runs/runs.ts';
import { makeMetricReads } from './telemetry/metric-reads.ts';
import { makeFire } from './schedules/fire.ts';
import { makeFirings } from './schedules/firings.ts';
import { makeTasks } from './schedules/tasks.ts';
import { makeScreenshots } from './artifacts/screenshots.ts';
import { makePins } from './people/pins.ts';
import { makeSigningKeys } from './people/signing-keys.ts';
import { makeSessionEvents } from './journal/session-events.ts';
import { makeHistory } from './sessions/history.ts';
import { makeSessions } from './sessions/sessions.ts';
import { makeLastHour } from './office/last-hour.ts';
import { makeLiveRuns } from './office/live-runs.ts';
import { makeSnapshot } from './office/snapshot.ts';
import { makeStopRuns } from './lifecycle/stop-runs.ts';
import { makeTeams } from './people/teams.ts';
import { makeToday } from './office/today.ts';
import { makeTurns } from './sessions/turns.ts';
import { makeUserInputs } from './lifecycle/user-inputs.ts';
import { makeUsers } from './people/users.ts';
import { makeClockJumps } from './webhooks/clock-jumps.ts';
import { makeDeliveries } from './webhooks/deliveries.ts';
import { makeDeliveryRecords } from './webhooks/delivery-records.ts';
import { makePlanning, type Planning } from './webhooks/planning.ts';
import { makePruneDeliveries } from './webhooks/prune-deliveries.ts';
import { makeReadEvents } from './webhooks/read-events.ts';
import { makeRecordAttempts } from './webhooks/record-attempts.ts';
import { makeRedeliver } from './webhooks/redeliver.ts';
import { makeTestFacts } from './webhooks/test-facts.ts';
import { makeWebhookTrouble } from './webhooks/webhook-trouble.ts';
import { makeWebhooks } from './webhooks/webhooks.ts';
import { makeWorkspaceExports } from './artifacts/workspace-exports.ts';
import { makeWorkspaceTree } from './artifacts/workspace-tree.ts';
import { makeWaitForUser } from './lifecycle/wait-for-user.ts';
import { makeWorkerNodes } from './worker-nodes.ts';
import { makeRetention } from './retention/retention.ts';

export type Store = ReturnType<typeof makeStore>;

export interface StoreOptions extends DatabaseOptions {
  /** Makes the bodies of webhook events. */
  readonly renderBody: RenderBody;
}

/** Opens the database file of a data directory and returns its verbs. */
export function openStore(file: string, clock: Clock, { renderBody, ...options }: StoreOptions): Store {
  return makeStore(openDatabase(file, clock, options), renderBody);
}

function makeStore(database: Database, renderBody: RenderBody) {
  const planning = makePlanning(database, renderBody);
  const kit: BudgetKit = {
    inForce: makeBudgetsInForce(),
    held: makeHeldCalls(),
    periodOf: makePeriodOf(),
    warnings: makeBudgetWarnings(database),
  };
  return {
    findIds: makeFindIds(database),
    createFirstAdministrator: makeCreateFirstAdministrator(database),
    users: makeUsers(database, planning),
    teams: makeTeams(database, kit),
    budgets: { ...makeBudgets(database, kit), ...makeReservations(database, kit), ...makeLostCalls(database, kit) },
    budgetsInForce: kit.inForce,
    onBudgetWarning: kit.warnings.onWarning,
    keys: makeApiKeys(database),
    holdings: makeHoldings(database),
    pins: makePins(database),
    signingKeys: makeSigningKeys(database),
    sessions: makeSessionVerbs(database),
    history: makeHistory(database),
    erasures: makeErasures(database),
    turns: makeTurns(database),
    compactions: makeCompactions(database),
    definitionIds: makeDefinitionIds(database),
    documents: makeDocuments(database),
    screenshots: makeScreenshots(database),
    events: { ...makeEvents(database), ...makeSessionEvents(database) },
    nodes: makeWorkerNodes(database),
    artifacts: makeArtifacts(database),
    office: makeOfficeReads(database),
    userInputs: makeUserInputs(database),
    insights: makeInsights(database),
    connections: makeConnections(database),
    schedules: { ...makeTasks(database), ...makeFire(database), ...makeFirings(database) },
    audit: { ...makeAuditEntries(database), ...makeAuditAnchors(database) },
    metrics: makeMetricReads(database),
    webhooks: { ...makeWebhooks(database, planning), trouble: makeWebhookTrouble(database) },
    deliveries: { ...makeDeliveryVerbs(database, planning), readEvents: makeReadEvents(database, renderBody) },
    pages: {
      ...makePages(database),
      ...makePageHandOver(database),
      ...makeReleases(database),
      planVersion: makePlanVersion(database),
    },
    shares: makeShares(database),
    manifests: { ...makeManifests(database), ...makeManifestFiles(database) },
    board: makeBoard(database),
    diskSamples: makeDiskSamples(database),
    publishJobs: makePublishJobs(database),
    pageRemovals: makePageRemovals(database),
    runs: makeRunVerbs(database, kit),
    retention: makeRetention(database),
    ...stateOf(database),
    onPlanned: planning.onPlanned,
  };
}

function stateOf({ answered, durable, fault, burden, onCommitted, watchCommits, close }: Database) {
  return { answered, durable, fault, burden, onCommitted, watchCommits, close };
}

function makeSessionVerbs(database: Database) {
  return {
    ...makeSessions(database),
    ...makeSessionRecords(database),
    ...makeDeleteSession(database),
    ...makeCleanups(database),
  };
}

function makeRunVerbs(database: Database, kit: BudgetKit) {
  return {
    ...makeRuns(database),
    ...makeRunRecords(database),
    ...makeTimelineVerbs(database),
    listWaiting: makeListWaiting(database),
    ...makeRecordProgress(database, kit),
    ...makeEndRun(database),
    accept: makeAcceptRun(database, kit),
    findSubmitted: makeFindSubmitted(database),
    claim: makeClaimRuns(database),
    ...makeRescueRuns(database),
    ...makeStopRuns(database),
    ...makeWaitForUser(database),
    ...makeExpireQueued(database),
  };
}

function makeArtifacts(database: Database) {
  return {
    ...makeArtifactQueue(database),
    ...makeRecordArtifacts(database),
    ...makeArtifactEnds(database),
    ...makeWorkspaceExports(database),
    ...makeWorkspaceTree(database),
    ...makeReadArtifacts(database),
    ...makeRequestedArchives(database),
  };
}

function makeDeliveryVerbs(database: Database, { plan, releaseHeld }: Planning) {
  return {
    plan,
    releaseHeld,
    ...makeDeliveries(database),
    ...makeTestFacts(database),
    ...makeClockJumps(database),
    ...makeRecordAttempts(database),
    ...makeDeliveryRecords(database),
    ...makeRedeliver(database),
    ...makePruneDeliveries(database),
  };
}

/** What administrators watch (§4.8). */
function makeOfficeReads(database: Database) {
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
