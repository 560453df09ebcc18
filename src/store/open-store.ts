// The store: every verb on rows, over one database. Each station makes its own.
import type { Clock } from '../domain/clock.ts';
import type { RenderBody } from '../domain/webhooks/event-facts.ts';
import { makeArtifactVerbs } from './artifacts/verbs.ts';
import { makeAuditAnchors } from './audit/anchored.ts';
import { makeAuditEntries } from './audit/audit-entries.ts';
import { makeBudgetKit } from './budgets/budget-kit.ts';
import { makeBudgetVerbs } from './budgets/verbs.ts';
import type { Database, Sharing } from './engine/database.ts';
import { openPostgres } from './engine/postgres/open-database.ts';
import { type DatabaseOptions, openDatabase } from './engine/sqlite/open-database.ts';
import { makeFindIds } from './find-ids.ts';
import { makeInstallation } from './installation.ts';
import { makeDiskSamples } from './inspection/disk-samples.ts';
import { makeEvents } from './journal/events.ts';
import { makeSessionEvents } from './journal/session-events.ts';
import { makeDeleteSession } from './lifecycle/delete-session.ts';
import { makeForkSession } from './lifecycle/fork-session.ts';
import { makeUserInputs } from './lifecycle/user-inputs.ts';
import { makeLifecycleVerbs } from './lifecycle/verbs.ts';
import type { StoreLocation } from './location.ts';
import { makeObjects } from './objects.ts';
import { makeOfficeVerbs } from './office/verbs.ts';
import { makePeopleVerbs } from './people/verbs.ts';
import { makePublishingVerbs } from './publishing/verbs.ts';
import { makeRetention } from './retention/retention.ts';
import { makeAnsweredEndpoints } from './runs/answered-endpoints.ts';
import { makeRunVerbs } from './runs/verbs.ts';
import { makeFire } from './schedules/fire.ts';
import { makeFirings } from './schedules/firings.ts';
import { makeTasks } from './schedules/tasks.ts';
import { makeSessionVerbs } from './sessions/verbs.ts';
import { makeMetricReads } from './telemetry/metric-reads.ts';
import { makePlanning } from './webhooks/planning.ts';
import { makeWebhookVerbs } from './webhooks/verbs.ts';
import { makeWorkerNodes } from './worker-nodes.ts';

export type Store = ReturnType<typeof makeStore>;

export interface StoreOptions extends DatabaseOptions {
  /** Makes the bodies of webhook events. */
  readonly renderBody: RenderBody;
  /** How a server's database is shared with other processes; absent: this one is alone. */
  readonly sharing?: Sharing | undefined;
}

/** Opens the database of a location and returns its verbs. A server is connected to by the first of them. */
export function openStore(
  location: StoreLocation,
  clock: Clock,
  { renderBody, sharing, ...options }: StoreOptions,
): Store {
  const database =
    location.kind === 'sqlite'
      ? openDatabase(location.file, clock, options)
      : openPostgres(location.address, clock, { ...options, sharing, connections: location.connections });
  return makeStore(database, renderBody);
}

/** The verbs over a database. */
export function makeStore(database: Database, renderBody: RenderBody) {
  const planning = makePlanning(database, renderBody);
  const kit = makeBudgetKit(database);
  const ofSessions = makeSessionVerbs(database);
  return {
    ...makePeopleVerbs(database, planning, kit),
    ...makeBudgetVerbs(database, kit),
    ...ofSessions,
    sessions: { ...ofSessions.sessions, ...makeDeleteSession(database), ...makeForkSession(database) },
    runs: { ...makeRunVerbs(database), ...makeLifecycleVerbs(database, kit) },
    endpoints: makeAnsweredEndpoints(database),
    userInputs: makeUserInputs(database),
    ...makeArtifactVerbs(database),
    schedules: { ...makeTasks(database), ...makeFire(database), ...makeFirings(database) },
    ...makePublishingVerbs(database),
    ...makeWebhookVerbs(database, planning, renderBody),
    events: { ...makeEvents(database), ...makeSessionEvents(database) },
    audit: { ...makeAuditEntries(database), ...makeAuditAnchors(database) },
    office: makeOfficeVerbs(database),
    metrics: makeMetricReads(database, kit.lines),
    diskSamples: makeDiskSamples(database),
    retention: makeRetention(database),
    nodes: makeWorkerNodes(database, kit),
    installation: makeInstallation(database),
    objects: makeObjects(database),
    findIds: makeFindIds(database),
    ...stateOf(database),
  };
}

function stateOf({ peers, answered, durable, fault, burden, figures, onCommitted, watchCommits, close }: Database) {
  const onOwnCommitted = peers?.onOwnCommitted ?? onCommitted;
  return { peers, answered, durable, fault, burden, figures, onCommitted, onOwnCommitted, watchCommits, close };
}
