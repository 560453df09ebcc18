// What an examination reads from the database: on a connection of its own, which only reads, in a thread or beside a stopped
// daemon. Here whole tables may be read.
import Connection from 'better-sqlite3';
import type { Defined, LostPins } from '../../domain/capabilities/pin.ts';
import type { AnchorFault, AuditLink } from '../../domain/people/audit-anchor.ts';
import { anchorFaultIn, isAnchorDueIn } from '../audit/anchored.ts';
import { SCHEMA_VERSION } from '../engine/schema.ts';
import { cacheStatements, carryOut, readOn } from '../engine/sqlite/execute.ts';
import { READER } from '../engine/statement.ts';
import { lostPinsIn } from '../people/pins.ts';
import { lastOfRun } from '../engine/journal/places.ts';

/** A run that makes no progress. */
export interface StuckRun {
  readonly id: string;
  readonly status: string;
  /** Its last event, epoch ms. */
  readonly since: number;
}

export interface FailingWebhook {
  readonly id: number;
  readonly name: string;
  readonly failures: number;
  /** Why the daemon disabled it; null while it is enabled. */
  readonly disabledReason: string | null;
}

export interface Inspection {
  readonly schemaVersion: number;
  /** The version that this code writes. */
  readonly ownVersion: number;
  readonly pages: number;
  readonly freePages: number;
  readonly pageBytes: number;
  /** What SQLite finds wrong; null when the file was too large to examine. */
  readonly faults: readonly string[] | null;
  /** The newest event; null without events. */
  readonly newestEventAt: number | null;
  readonly stuck: readonly StuckRun[];
  readonly webhooks: readonly FailingWebhook[];
  /** Pins to what isn't defined. Null for another schema, and when it isn't known what is. */
  readonly pins: LostPins | null;
  /** What is wrong with the audit log, by the end that it had; and whether that was never anchored. Null for another schema. */
  readonly audit: { readonly fault: AnchorFault | null; readonly isAnchorDue: boolean } | null;
}

export interface InspectionRequest {
  readonly file: string;
  /** From this size on, a file is large. */
  readonly largeBytes: number;
  /** Whether a large one is searched for damage, too. */
  readonly full: boolean;
  /** Unfinished runs without an event since then are stuck. */
  readonly silentSince: number;
  /** The end of the audit log by its anchor; null without one. */
  readonly auditEnd: AuditLink | null;
  /** Null when it isn't known. */
  readonly defined: Defined | null;
  /** Keys that expired before don't count. */
  readonly now: number;
}

const MAX_FAULTS = 10;
const MAX_NAMED = 10;
const BUSY_MS = 5_000;

/** Reads all of it. Throws what SQLite throws: the file may be anything. */
export function inspect(request: InspectionRequest): Inspection {
  const { file, largeBytes, full, silentSince, auditEnd, defined, now } = request;
  const connection = new Connection(file, { readonly: true, fileMustExist: true, timeout: BUSY_MS });
  try {
    const number = (pragma: string) => connection.pragma(pragma, { simple: true }) as number;
    const pages = number('page_count');
    const pageBytes = number('page_size');
    const schemaVersion = number('user_version');
    const isLarge = pages * pageBytes >= largeBytes;
    const isKnown = schemaVersion === SCHEMA_VERSION;
    return {
      schemaVersion,
      ownVersion: SCHEMA_VERSION,
      pages,
      freePages: number('freelist_count'),
      pageBytes,
      faults: isLarge && !full ? null : faultsOf(connection, isLarge),
      newestEventAt: isKnown ? newestEventOf(connection) : null,
      stuck: isKnown ? stuckIn(connection, silentSince) : [],
      webhooks: isKnown ? failingIn(connection) : [],
      pins: isKnown && defined !== null ? readOn(connection, (tx) => lostPinsIn(tx, defined, now, MAX_NAMED)) : null,
      audit: isKnown ? auditOf(connection, auditEnd) : null,
    };
  } finally {
    connection.close();
  }
}

function auditOf(connection: Connection.Database, had: AuditLink | null): Inspection['audit'] {
  const fault = had === null ? null : readOn(connection, (tx) => anchorFaultIn(tx, had, null));
  return { fault, isAnchorDue: readOn(connection, (tx) => isAnchorDueIn(tx)) };
}

/**
 * A search is one read, and during a read the write-ahead log only grows. So a large file is searched table by table; the schema
 * comes with the list of free pages.
 */
function faultsOf(connection: Connection.Database, isLarge: boolean): string[] {
  const faults: string[] = [];
  for (const part of isLarge ? ['sqlite_schema', ...tablesOf(connection)] : [null]) {
    // Without a limit: a table and a limit can't both be named.
    const found = connection.pragma(part === null ? `quick_check(${MAX_FAULTS})` : `quick_check('${part}')`);
    for (const { quick_check: words } of found as { quick_check: string }[]) {
      if (words !== 'ok') faults.push(words);
      if (faults.length === MAX_FAULTS) return faults;
    }
  }
  return faults;
}

/** Their names are ours: no quotes in them. */
function tablesOf(connection: Connection.Database): string[] {
  const sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB '*[^a-z0-9_]*' ORDER BY name";
  return connection.prepare<[], string>(sql).pluck().all();
}

function newestEventOf(connection: Connection.Database): number | null {
  const sql = 'SELECT created_at AS at FROM events ORDER BY id DESC LIMIT 1';
  return connection.prepare<[], { at: number }>(sql).get()?.at ?? null;
}

/** Those that execute or are queued; one that waits for its user does so by right. */
function stuckIn(connection: Connection.Database, silentSince: number): StuckRun[] {
  const last = `SELECT e.created_at FROM events e WHERE e.run_seq = r.seq AND e.type <> 'content_block_delta'
    ORDER BY e.stream_seq DESC LIMIT 1`;
  const sql = `SELECT seq, id, status, since FROM (
      SELECT r.seq, r.id, r.status, coalesce((${last}), r.created_at) AS since
      FROM runs r WHERE r.status IN ('queued', 'running', 'finalizing')) AS unfinished
    WHERE since < ? ORDER BY since`;
  const statements = cacheStatements(connection);
  const lastOf = (seq: number) => lastOfRun(READER, seq);
  const stuck: StuckRun[] = [];
  for (const { seq, ...run } of connection
    .prepare<[number], StuckRun & { readonly seq: number }>(sql)
    .iterate(silentSince)) {
    // It may have streamed text since.
    const since = carryOut(statements, lastOf(seq))?.createdAt ?? run.since;
    if (since < silentSince) stuck.push({ ...run, since });
    if (stuck.length === MAX_NAMED) break;
  }
  return stuck;
}

function failingIn(connection: Connection.Database): FailingWebhook[] {
  const sql = `SELECT id, name, failures, disabled_reason AS disabledReason FROM webhooks
    WHERE disabled_reason IS NOT NULL OR (failing_since IS NOT NULL AND enabled = 1)
    ORDER BY disabled_reason IS NULL, id LIMIT ${MAX_NAMED}`;
  return connection.prepare<[], FailingWebhook>(sql).all();
}
