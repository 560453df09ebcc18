// Every verb, on one page.
import type { Happened } from '../events/wakes.ts';
import type { Definitions } from '../catalog/definitions.ts';
import type { Catalog } from '../catalog/kinds/models.ts';
import type { Defined } from '../domain/capabilities/pin.ts';
import type { Clock } from '../domain/clock.ts';
import type { Settings } from '../domain/settings.ts';
import type { Slices } from '../domain/slices.ts';
import type { Administrator, Caller } from '../domain/people/user.ts';
import type { Arrivals } from '../events/arrivals.ts';
import type { Tails } from '../events/tail.ts';
import type { WorkerNodes } from '../execution/queue/node.ts';
import type { Queue } from '../execution/queue/queue.ts';
import type { SchemaCheck } from '../execution/checks/schema-check.ts';
import type { Stopper } from '../execution/queue/stop.ts';
import type { BlobStore } from '../files/blobs/blobs.ts';
import type { Disk } from '../files/disk.ts';
import type { DeriveKey } from '../files/master-key.ts';
import type { Log } from '../log/log.ts';
import type { Store } from '../store/open-store.ts';
import { makeAccess } from './access.ts';
import { type Audit, makeAudit } from './audit/audit.ts';
import { type BackupOperationParts, makeBackupOperations } from './backups/backups.ts';
import { recordLists } from './audit/lists.ts';
import type { AnchorKeeper } from './audit/keep-anchor.ts';
import { makeAuditLogOperations } from './audit/audit-log.ts';
import { makeFindId } from './find-id.ts';
import type { Doctor, ExaminationRequest } from './doctor.ts';
import type { Reports } from './status.ts';
import { makeLooking } from './looking.ts';
import { makeRetentionOperations, type RetentionOperationParts } from './retention.ts';
import { type CheckOperationParts, makeCheckOperations } from './capabilities/checks.ts';
import { type ConnectionParts, makeConnectionOperations } from './capabilities/connections.ts';
import { type DefinitionParts, makeDefinitionOperations } from './capabilities/definitions.ts';
import { makeOfficeOperations } from './office/office.ts';
import { makeAuthenticate } from './people/authenticate.ts';
import { makeKeyOperations } from './people/keys.ts';
import { makeLeaveOperations } from './people/leave.ts';
import { makeLogIn } from './people/log-in.ts';
import { makeLoginThrottle } from './people/login-throttle.ts';
import { makeLoginTokens } from './people/login-tokens.ts';
import { makePollRate } from './people/poll-rate.ts';
import { makeResolveKey } from './people/resolve-key.ts';
import { makeAskProvider } from './people/sso.ts';
import { makeBudgetOperations } from './people/budgets.ts';
import { makePlanImport } from './people/plan-import.ts';
import { makeTeamOperations } from './people/teams.ts';
import { makeUserOperations } from './people/users.ts';
import { type ArtifactOperationParts, makeArtifactOperations } from './sessions/artifacts.ts';
import { makeInsightOperations } from './sessions/insights.ts';
import { makeOpenFile, type OpenFileParts } from './sessions/open-file.ts';
import { makeSessionOperations } from './sessions/sessions.ts';
import { makeUserInputOperations } from './sessions/user-inputs.ts';
import type { PageOperationParts } from './publishing/pages.ts';
import { makePublicPages } from './publishing/public-pages.ts';
import { makePublishingOperations } from './publishing/publishing.ts';
import { makeAcceptTurn } from './turns/accept-turn.ts';
import { makeAwaitResult } from './turns/await-result.ts';
import { makeWatchOperations, type WatchParts } from './office/watch.ts';
import { makeDeliveryOperations } from './webhooks/deliveries.ts';
import { makeListenOperations } from './webhooks/listen.ts';
import { makeScheduleOperations } from './schedules/schedules.ts';
import { makeTestWebhook, type TestWebhookParts } from './webhooks/test-webhook.ts';
import { makeWebhookOperations } from './webhooks/webhooks.ts';
import { type ExportParts, makeExportRun } from './turns/export-run.ts';
import { makeExplainRun } from './turns/explain.ts';
import { makeFetchImages } from './turns/fetch-images.ts';
import { makeGetModelName } from './turns/model-name.ts';
import { makeGetQueue } from './turns/queue.ts';
import { makeRunOperations } from './turns/runs.ts';
import { makeSessionSetup } from './turns/session-setup.ts';

export interface OperationParts {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly disk: Disk;
  readonly fileAddresses: OpenFileParts['fileAddresses'];
  readonly emptyArchives: ArtifactOperationParts['emptyArchives'];
  readonly collector: ArtifactOperationParts['collector'] & OpenFileParts['collector'];
  readonly tails: Tails;
  readonly arrivals: Arrivals;
  readonly feeds: WatchParts['feeds'];
  readonly floor: WatchParts['floor'];
  readonly queue: Pick<Queue, 'admit' | 'load'>;
  readonly node: Pick<WorkerNodes, 'onlineCapacity'>;
  readonly stopper: Stopper;
  readonly schemas: Pick<SchemaCheck, 'check'>;
  readonly clock: Clock;
  readonly slices: Slices;
  readonly log: Log;
  readonly deriveKey: DeriveKey;
  readonly anchor: Pick<AnchorKeeper, 'read' | 'wake'>;
  readonly secrets: ConnectionParts['secrets'];
  readonly exports: Pick<ExportParts, 'places' | 'equip'>;
  readonly broker: ConnectionParts['broker'];
  readonly checks: CheckOperationParts['checks'];
  readonly retention: RetentionOperationParts['retention'];
  readonly publishing: Pick<PageOperationParts, 'releases'>;
  readonly happened: Happened;
  readonly backups: BackupOperationParts['backups'];
  readonly webhooks: Pick<TestWebhookParts, 'sendOnce'>;
  settings(): Settings;
  catalog(): Catalog;
  definitions(): Definitions;
  readonly problems: DefinitionParts['problems'];
  readonly reports: Reports;
  readonly doctor: Doctor;
  /** Whether new turns are refused because the daemon is shutting down. */
  closing(): boolean;
  /** Fires when waiting requests must end because the daemon does. */
  readonly draining: AbortSignal;
}

export type Operations = ReturnType<typeof makeOperations>;

/** Verbs, each of which takes its caller first. A function without parameters would fit a type of functions with some. */
type Verbs<V> = {
  readonly [N in keyof V]: V[N] extends (...input: infer I) => unknown
    ? I extends readonly [Caller, ...unknown[]]
      ? V[N]
      : never
    : never;
};

const verbsOf = <V extends Verbs<V>>(verbs: V): V => verbs;

/** The verbs, and the entry points for callers with a credential, with a signed address, or with nothing but a share. */
export function makeOperations(parts: OperationParts) {
  const { store, blobs, tails, clock, settings, catalog, definitions, draining } = parts;
  const { queue, stopper, fileAddresses, deriveKey, webhooks, slices, happened } = parts;
  const access = makeAccess(store);
  const audit = makeAudit({ store, clock, log: parts.log, deriveKey, recorded: parts.anchor.wake });
  const looking = makeLooking({ access, audit });
  const kit = { store, access, looking, audit };
  const makeSetup = makeSessionSetup({ store, definitions });
  const definitionVerbs = makeDefinitionOperations({ store, audit, definitions, problems: parts.problems });
  const countPoll = makePollRate({ clock, perSecond: () => settings().background.pollsPerSecond });
  const { authenticate, logIn, ...signingKeys } = makeCredentials({ ...parts, audit });
  const verbs = verbsOf({
    ...signingKeys,
    ...makeUserOperations({ store, audit, stopper, catalog }),
    ...makeLeaveOperations({ ...parts, audit }),
    planImport: makePlanImport({ store, clock, slices, catalog }),
    ...makeTeamOperations({ store, audit }),
    ...makeBudgetOperations({ store, audit, clock }),
    ...makeKeyOperations({ store, audit, clock, makeSetup, slices, catalog, definitions }),
    ...definitionVerbs,
    ...makeCheckOperations({ checks: parts.checks, audit, catalog, getDefinition: definitionVerbs.getDefinition }),
    ...makeConnectionOperations({ store, audit, clock, secrets: parts.secrets, broker: parts.broker, definitions }),
    ...makeSessionOperations({ ...kit, stopper }),
    ...makeRunOperations({ ...kit, stopper, countPoll }),
    explainRun: makeExplainRun({ store, looking, clock, slices }),
    exportRun: makeExportRun({ ...parts, ...parts.exports, looking }),
    ...makeArtifactOperations({ ...parts, looking }),
    ...makeOfficeOperations({ ...parts, looking }),
    ...makeWatchOperations({ ...kit, feeds: parts.feeds, floor: parts.floor }),
    ...makeUserInputOperations(kit),
    ...makeInsightOperations(kit),
    ...makeAuditLogOperations({ store, deriveKey, anchor: parts.anchor }),
    ...makeRetentionOperations({ store, retention: parts.retention, audit }),
    ...makeBackupOperations({ backups: parts.backups, audit, settings }),
    ...makeScheduleOperations({ ...parts, ...kit, makeSetup, draining: parts.closing }),
    ...makeWebhookOperations({ ...kit, secrets: parts.secrets, settings, happened }),
    ...makeDeliveryOperations({ ...kit, happened }),
    ...makePublishingOperations({ ...kit, clock, happened, releases: parts.publishing.releases }),
    ...makeListenOperations({ ...kit, arrivals: parts.arrivals, clock, log: parts.log, draining }),
    testWebhook: makeTestWebhook({ ...kit, clock, sendOnce: webhooks.sendOnce }),
    ...makeReportVerbs(parts),
    findId: makeFindId(store),
    getQueue: makeGetQueue({ store, queue, clock }),
    getModelName: makeGetModelName({ catalog, definitions }),
    acceptTurn: makeAcceptTurn({
      ...parts,
      access,
      makeSetup,
      fetchImages: makeFetchImages({ settings, ending: draining }),
      draining: parts.closing,
    }),
    awaitResult: makeAwaitResult({ store, tails, clock, settings, draining }),
  });
  const openFile = makeOpenFile({ store, blobs, fileAddresses, collector: parts.collector, clock });
  return { authenticate, logIn, openFile, publicPages: makePublicPages(parts), ...recordLists(audit, verbs) };
}

/** What the installation reports of itself. */
function makeReportVerbs({ reports, doctor }: Pick<OperationParts, 'reports' | 'doctor'>) {
  return {
    getStatus: (_caller: Administrator) => reports.status(),
    getConfiguration: (_caller: Administrator) => reports.configuration(),
    findLostPins: (_caller: Administrator, defined: Defined) => reports.lostPins(defined),
    getDatabase: async (_caller: Administrator) => reports.database(),
    examine: (_caller: Administrator, request: ExaminationRequest, signal: AbortSignal) =>
      doctor.examine(request, signal),
  };
}

type CredentialParts = Pick<OperationParts, 'store' | 'clock' | 'deriveKey' | 'settings' | 'catalog'> & {
  readonly audit: Audit;
};

/** The verbs that identify callers: keys and login tokens share one resolver. */
function makeCredentials({ store, audit, clock, deriveKey, settings, catalog }: CredentialParts) {
  const resolveKey = makeResolveKey({ store, clock });
  const { issueToken, resolveToken, ...signingKeys } = makeLoginTokens({ store, audit, clock, deriveKey, settings });
  const [throttle, askProvider] = [makeLoginThrottle(clock), makeAskProvider()];
  return {
    ...signingKeys,
    authenticate: makeAuthenticate({ resolveKey, resolveToken }),
    logIn: makeLogIn({ store, throttle, resolveKey, askProvider, issueToken, settings, catalog }),
  };
}
