// Every verb, by the stations that make them.
import type { Defined } from '../domain/capabilities/pin.ts';
import type { Administrator, Caller } from '../domain/people/user.ts';
import type { Store } from '../store/open-store.ts';
import { makeAccess } from './access.ts';
import { type AuditParts, makeAudit } from './audit/audit.ts';
import { type AuditLogParts, makeAuditLogOperations } from './audit/audit-log.ts';
import type { AnchorKeeper } from './audit/keep-anchor.ts';
import { recordLists } from './audit/lists.ts';
import { type BackupOperationParts, makeBackupOperations } from './backups/backups.ts';
import { type CapabilityParts, makeCapabilityVerbs } from './capabilities/verbs.ts';
import type { Doctor, ExaminationRequest } from './doctor.ts';
import { makeFindId } from './find-id.ts';
import { makeAuditedAccess } from './audited-access.ts';
import { makeNodeOperations, type NodeOperationParts } from './nodes.ts';
import { makeOfficeOperations, type OfficeParts } from './office/office.ts';
import { makeWatchOperations, type WatchParts } from './office/watch.ts';
import { type CredentialParts, makeCredentials } from './people/credentials.ts';
import { makePeopleVerbs, type PeopleParts } from './people/verbs.ts';
import { makePublicPages, type PublicPageParts } from './publishing/public-pages.ts';
import { makePublishingOperations, type PublishingParts } from './publishing/publishing.ts';
import { makeRetentionOperations, type RetentionOperationParts } from './retention.ts';
import { makeScheduleOperations, type ScheduleOperationParts } from './schedules/schedules.ts';
import { makeOpenFile, type OpenFileParts } from './sessions/open-file.ts';
import { makeSessionVerbs, type SessionParts } from './sessions/verbs.ts';
import type { Reports } from './status.ts';
import { makeSessionSetup } from './turns/accepting/session-setup.ts';
import { makeTurnVerbs, type TurnParts } from './turns/verbs.ts';
import { makeWebhookVerbs, type WebhookParts } from './webhooks/verbs.ts';

interface ReportParts {
  readonly reports: Reports;
  readonly doctor: Doctor;
}

type Parts = CredentialParts &
  PeopleParts &
  CapabilityParts &
  SessionParts &
  TurnParts &
  OfficeParts &
  WatchParts &
  ScheduleOperationParts &
  WebhookParts &
  PublishingParts &
  AuditLogParts &
  RetentionOperationParts &
  NodeOperationParts &
  BackupOperationParts &
  OpenFileParts &
  PublicPageParts &
  Omit<AuditParts, 'recorded'> &
  ReportParts;

/** What the stations take, but for what they share, which is made here. */
export interface OperationParts extends Omit<Parts, 'access' | 'audit' | 'auditedAccess' | 'makeSetup'> {
  readonly store: Store;
  readonly anchor: Pick<AnchorKeeper, 'read' | 'wake'>;
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
export function makeOperations(given: OperationParts) {
  const { store } = given;
  const access = makeAccess(store);
  const audit = makeAudit({ ...given, recorded: given.anchor.wake });
  const parts = {
    ...given,
    access,
    audit,
    auditedAccess: makeAuditedAccess({ access, audit }),
    makeSetup: makeSessionSetup(given),
  };
  const { authenticate, logIn, officeLogins, officeLinks, signingKeys } = makeCredentials(parts);
  const verbs = verbsOf({
    ...signingKeys,
    ...officeLinks,
    ...makePeopleVerbs(parts),
    ...makeCapabilityVerbs(parts),
    ...makeSessionVerbs(parts),
    ...makeTurnVerbs(parts),
    ...makeOfficeOperations(parts),
    ...makeWatchOperations(parts),
    ...makeScheduleOperations(parts),
    ...makeWebhookVerbs(parts),
    ...makePublishingOperations(parts),
    ...makeAuditLogOperations(parts),
    ...makeRetentionOperations(parts),
    ...makeNodeOperations(parts),
    ...makeBackupOperations(parts),
    ...makeReportVerbs(parts),
    findId: makeFindId(store),
  });
  const openFile = makeOpenFile(parts);
  return {
    authenticate,
    logIn,
    officeLogins,
    openFile,
    publicPages: makePublicPages(parts),
    ...recordLists(audit, verbs),
  };
}

/** What the installation reports of itself. */
function makeReportVerbs({ reports, doctor }: ReportParts) {
  return {
    getStatus: (_caller: Administrator) => reports.status(),
    getConfiguration: (_caller: Administrator) => reports.configuration(),
    findLostPins: (_caller: Administrator, defined: Defined) => reports.lostPins(defined),
    getDatabase: async (_caller: Administrator) => reports.database(),
    examine: (_caller: Administrator, request: ExaminationRequest, signal: AbortSignal) =>
      doctor.examine(request, signal),
  };
}
