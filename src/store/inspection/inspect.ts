// What an examination reads of a store, in a thread or beside a stopped daemon. Here whole tables may be read.
import type { Defined, LostPins } from '../../domain/capabilities/pin.ts';
import type { AnchorFault, AuditLink } from '../../domain/people/audit-anchor.ts';
import { anchorFaultIn, type AnchoringNode, isAnchorDueIn } from '../audit/anchored.ts';
import { isUsable, SCHEMA_VERSION } from '../engine/schema.ts';
import { masterKeyIdIn } from '../installation.ts';
import type { EngineFigures } from '../engine/database.ts';
import type { FaultRequest, Inspector, ServerReport } from '../engine/inspector.ts';
import { lastOfRun } from '../engine/journal/places.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { lostPinsIn } from '../people/pins.ts';

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
  /** Whether this code can use it: it is of its own version, or a newer one has only expanded it. */
  readonly isUsable: boolean;
  /** The version that this code writes. */
  readonly ownVersion: number;
  readonly figures: EngineFigures;
  readonly server: ServerReport | null;
  /** What the engine finds wrong; null when the database was too large to examine. */
  readonly faults: readonly string[] | null;
  /** The newest event; null without events. */
  readonly newestEventAt: number | null;
  readonly stuck: readonly StuckRun[];
  readonly webhooks: readonly FailingWebhook[];
  /** Pins to what isn't defined. Null for a schema that isn't usable, and when it isn't known what is. */
  readonly pins: LostPins | null;
  /** What is wrong with the audit log, by the end that it had; and whether the node never anchored it. Null for a schema that isn't usable. */
  readonly audit: { readonly fault: AnchorFault | null; readonly isAnchorDue: boolean } | null;
  /** The id of the master key that the rows are used with; null where none is known. */
  readonly masterKeyId: string | null;
}

export interface InspectionRequest extends FaultRequest {
  /** Unfinished runs without an event since then are stuck. */
  readonly silentSince: number;
  /** The end of the audit log by its anchor; null without one. */
  readonly auditEnd: AuditLink | null;
  /** Whose anchor that is. */
  readonly node: AnchoringNode;
  /** Null when it isn't known. */
  readonly defined: Defined | null;
  /** Keys that expired before don't count. */
  readonly now: number;
}

const MAX_NAMED = 10;
/** Runs without an event of their own for long, which may have streamed text since. */
const MAX_SILENT = 1_000;

/** Reads all of it. Throws what the engine throws. */
export async function inspect(store: Inspector, request: InspectionRequest): Promise<Inspection> {
  const { silentSince, auditEnd, node, defined, now } = request;
  const schema = await store.schema();
  const facts = {
    schemaVersion: schema.version,
    isUsable: isUsable(schema),
    ownVersion: SCHEMA_VERSION,
    figures: await store.figures(),
    server: await store.server(),
  };
  const faults = await store.faults(request);
  if (!facts.isUsable)
    return {
      ...facts,
      faults,
      newestEventAt: null,
      stuck: [],
      webhooks: [],
      pins: null,
      audit: null,
      masterKeyId: null,
    };
  return {
    ...facts,
    faults,
    newestEventAt: await store.look(newestEventIn),
    stuck: await store.look((tx) => stuckIn(tx, silentSince)),
    webhooks: await store.look((tx) => tx.all<FailingWebhook>(FAILING)),
    pins: defined === null ? null : await store.look((tx) => lostPinsIn(tx, defined, now, MAX_NAMED)),
    audit: {
      fault: auditEnd === null ? null : await store.look((tx) => anchorFaultIn(tx, auditEnd, null)),
      isAnchorDue: await store.look((tx) => isAnchorDueIn(tx, node)),
    },
    masterKeyId: await store.look(masterKeyIdIn),
  };
}

function* newestEventIn(tx: Reader): Step<number | null> {
  const sql = 'SELECT created_at AS at FROM events ORDER BY id DESC LIMIT 1';
  return (yield* tx.get<{ at: number }>(sql))?.at ?? null;
}

const LAST_EVENT = `SELECT e.created_at FROM events e WHERE e.run_seq = r.seq AND e.type <> 'content_block_delta'
  ORDER BY e.stream_seq DESC LIMIT 1`;
const SILENT = `SELECT seq, id, status, since FROM (
    SELECT r.seq, r.id, r.status, coalesce((${LAST_EVENT}), r.created_at) AS since
    FROM runs r WHERE r.status IN ('queued', 'running', 'finalizing')) AS unfinished
  WHERE since < ? ORDER BY since LIMIT ${MAX_SILENT}`;

/** Those that execute or are queued; one that waits for its user does so by right. */
function* stuckIn(tx: Reader, silentSince: number): Step<StuckRun[]> {
  const stuck: StuckRun[] = [];
  for (const { seq, ...run } of yield* tx.all<StuckRun & { readonly seq: number }>(SILENT, silentSince)) {
    // It may have streamed text since.
    const since = (yield* lastOfRun(tx, seq))?.createdAt ?? run.since;
    if (since < silentSince) stuck.push({ ...run, since });
    if (stuck.length === MAX_NAMED) break;
  }
  return stuck;
}

const FAILING = `SELECT id, name, failures, disabled_reason FROM webhooks
  WHERE disabled_reason IS NOT NULL OR (failing_since IS NOT NULL AND enabled = 1)
  ORDER BY disabled_reason IS NULL, id LIMIT ${MAX_NAMED}`;
