// The paths of the installation itself: its state, its settings, what is wrong with it, who changed it, and what it removes.
import type { Operations } from '../../operations/operations.ts';
import { installation } from '../../wire/installation.ts';
import { listOf } from '../../wire/listing.ts';
import { auditEntry, auditHead, auditQuery } from '../../wire/people/audit.ts';
import { collection, collectionWish, orphans, retentionProgress, retentionReport } from '../../wire/retention.ts';
import { type Route, routesWith } from '../frame/route.ts';
import { routesOf } from '../frame/serve.ts';
import { makeAuditHandlers } from './audit.ts';
import { makeRetentionHandlers } from './retention.ts';

const ofAdmin = routesWith('admin', 'envelope');

/** The rows of the table of routes. */
export function administrationRoutes(operations: Operations): Route[] {
  const audit = makeAuditHandlers(operations);
  const retention = makeRetentionHandlers(operations);
  // biome-ignore format: a table reads best with one route a line
  return [
    ...routesOf(installation, operations),
    ofAdmin('GET /api/v1/audit', 'List what administrators read of others and changed', { query: auditQuery, reply: listOf(auditEntry), handler: audit.list }),
    ofAdmin('GET /api/v1/audit/head', 'Read the end of the audit log', { reply: auditHead, handler: audit.head }),
    ofAdmin('GET /api/v1/retention', 'Estimate what is old enough to be removed', { reply: retentionReport, handler: retention.get }),
    ofAdmin('GET /api/v1/retention/orphans', 'Files that no row names', { reply: orphans, handler: retention.orphans }),
    ofAdmin('GET /api/v1/retention/progress', 'How the removal in progress is doing', { reply: retentionProgress, handler: retention.progress }),
    ofAdmin('POST /api/v1/retention/collect', 'Begin to remove what is old enough', { body: collectionWish, bodyIsOptional: true, reply: collection, handler: retention.collect }),
  ];
}
