// The paths of the installation itself: its state, its settings, what is wrong with it, who changed it, and what it removes.
import type { Operations } from '../../operations/operations.ts';
import { definedNames, lostPins } from '../../wire/capabilities/pin.ts';
import { examination, examinationWish } from '../../wire/doctor.ts';
import { listOf } from '../../wire/listing.ts';
import { auditEntry, auditHead, auditQuery } from '../../wire/people/audit.ts';
import { collection, collectionWish, orphans, retentionProgress, retentionReport } from '../../wire/retention.ts';
import { configuration, database, status } from '../../wire/status.ts';
import { type Route, routesWith } from '../frame/route.ts';
import type { makeAdministration } from '../management/admin.ts';
import { makeAuditHandlers } from './audit.ts';
import { makeDoctorHandler } from './doctor.ts';
import { makeRetentionHandlers } from './retention.ts';

const ofAdmin = routesWith('admin', 'envelope');

/** The rows of the table of routes. */
export function administrationRoutes(
  operations: Operations,
  a: Pick<ReturnType<typeof makeAdministration>, 'status' | 'configuration' | 'lostPins' | 'database'>,
): Route[] {
  const audit = makeAuditHandlers(operations);
  const retention = makeRetentionHandlers(operations);
  const doctor = makeDoctorHandler(operations);
  // biome-ignore format: a table reads best with one route a line
  return [
    ofAdmin('GET /api/v1/status', 'How the daemon is doing', { reply: status, handler: a.status }),
    ofAdmin('POST /api/v1/doctor', 'Examine the whole installation', { body: examinationWish, bodyIsOptional: true, reply: examination, handler: doctor }),
    ofAdmin('GET /api/v1/configuration', 'The settings, and what is wrong with the configuration files', { reply: configuration, handler: a.configuration }),
    ofAdmin('POST /api/v1/configuration/pins', 'Find who is pinned to what is not among the names of a configuration', { body: definedNames, reply: lostPins, handler: a.lostPins }),
    ofAdmin('GET /api/v1/database', 'Figures of the database: its schema, its size, rows of its tables', { reply: database, handler: a.database }),
    ofAdmin('GET /api/v1/audit', 'List what administrators read of others and changed', { query: auditQuery, reply: listOf(auditEntry), handler: audit.list }),
    ofAdmin('GET /api/v1/audit/head', 'Read the end of the audit log', { reply: auditHead, handler: audit.head }),
    ofAdmin('GET /api/v1/retention', 'Estimate what is old enough to be removed', { reply: retentionReport, handler: retention.get }),
    ofAdmin('GET /api/v1/retention/orphans', 'Files that no row names', { reply: orphans, handler: retention.orphans }),
    ofAdmin('GET /api/v1/retention/progress', 'How the removal in progress is doing', { reply: retentionProgress, handler: retention.progress }),
    ofAdmin('POST /api/v1/retention/collect', 'Begin to remove what is old enough', { body: collectionWish, bodyIsOptional: true, reply: collection, handler: retention.collect }),
  ];
}
