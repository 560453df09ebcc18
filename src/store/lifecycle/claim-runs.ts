// Claims runs: moves the next runs that may start to `running`, with an attempt number and a lease.
import type { JsonObject } from '../../domain/json.ts';
import { type Database, COMMITTED } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { stopIn } from './stop-runs.ts';
import { begunIn } from '../firings/follow-runs.ts';
import { type FreeRuns, freeOf, homeNode } from './left-runs.ts';
import { type Claim, type ClaimedRun, emitStarted, type ModelChoice, type StartInput } from './start-run.ts';
import { IS_AWAITED, IS_BACKGROUND_WORK, IS_EXECUTING } from '../runs/run-states.ts';

export interface ClaimInput extends StartInput {
  /** How many runs at most. */
  readonly limit: number;
  /** How many slots there are, if all of them were taken while the runs waited. */
  readonly fullSlots?: number;
  /** Maximum slots for background runs, and maximum executing runs of one key (C6, §8). */
  readonly background: { readonly slots: number; readonly maxExecutingPerKey: number };
}

// The heads of every queue are found by skipping from one to the next in an index of the claimable runs only, so the cost
// grows with the number of waiting queues, not of waiting runs; those that are left to another node for a while are passed over.
// The one with the fewest executing runs goes first. Runs that somebody waits for queue by key, background work by lane: runs of
// scheduled tasks have no key.
const nextOf = (queue: 'key_seq' | 'lane', kind: string, free: string, counted = '') => `
  WITH RECURSIVE waiting (queue) AS (
    SELECT min(${queue}) FROM runs WHERE status = 'queued' AND ready = 1 AND ${kind}${free}
    UNION ALL
    SELECT (SELECT min(${queue}) FROM runs
      WHERE status = 'queued' AND ready = 1 AND ${kind} AND ${queue} > waiting.queue${free})
    FROM waiting WHERE waiting.queue IS NOT NULL
  )
  SELECT head FROM (
    SELECT
      (SELECT min(seq) FROM runs
        WHERE status = 'queued' AND ready = 1 AND ${kind} AND ${queue} = waiting.queue${free}) AS head,
      (SELECT count(*) FROM runs
        WHERE ${IS_EXECUTING} AND ${queue} = waiting.queue ${counted}) AS executing
    FROM waiting WHERE waiting.queue IS NOT NULL
  ) AS heads`;
const WAITING_BACKGROUND = `SELECT 1 FROM runs WHERE status = 'queued' AND ${IS_BACKGROUND_WORK} LIMIT 1`;
const nextAwaited = (
  free: string,
) => `SELECT (${nextOf('key_seq', IS_AWAITED, free)} ORDER BY executing, head LIMIT 1) AS head,
  EXISTS (${WAITING_BACKGROUND}) AS background`;
const nextBackground = (free: string) => `${nextOf('lane', IS_BACKGROUND_WORK, free, `AND ${IS_BACKGROUND_WORK}`)}
  WHERE executing < ? ORDER BY executing, head LIMIT 1`;
/** How often a statement has `free`. */
const PLACES = 3;
const EXECUTING_BACKGROUND = `SELECT count(*) AS runs FROM runs
  WHERE ${IS_EXECUTING} AND ${IS_BACKGROUND_WORK} AND node_id = ?`;

const CLAIM = `UPDATE runs SET status = 'running', attempt = ?, model = ?, node_id = ?, lease_until = ?, started_at = coalesce(started_at, ?)
  WHERE seq = ? AND status = 'queued' AND ready = 1`;

const START_SESSION = "UPDATE sessions SET status = 'running', workspace_node = ? WHERE seq = ?";

/**
 * The verb that claims up to `limit` runs: those that somebody waits for before background work, fair between keys, in order
 * within one (C6). Queued
 * runs of a disabled user are stopped instead. A run may begin while the disk syncs its claim: what it records comes later.
 */
export function makeClaimRuns({ write }: Database) {
  return write(function* (tx: Transaction, order: ClaimInput): Step<Claim[]> {
    const claims: Claim[] = [];
    while (claims.length < order.limit) {
      const next = yield* findNext(tx, order, freeOf(tx.now, order));
      if (next === undefined) break;
      const claimed = yield* claim(tx, next, order);
      if (claimed !== null) claims.push(claimed);
    }
    return claims;
  }, COMMITTED);
}

function* findNext(tx: Transaction, { background, node }: ClaimInput, free: FreeRuns): Step<number | undefined> {
  const left = Array.from({ length: PLACES }, () => free.values).flat();
  const awaited = (yield* tx.get<{ head: number | null; background: number }>(nextAwaited(free.sql), ...left))!;
  if (awaited.head !== null) return awaited.head;
  if (awaited.background === 0) return undefined;
  if ((yield* tx.get<{ runs: number }>(EXECUTING_BACKGROUND, node))!.runs >= background.slots) return undefined;
  const next = nextBackground(free.sql);
  return (yield* tx.get<{ head: number | null }>(next, ...left, background.maxExecutingPerKey))?.head ?? undefined;
}

interface CandidateRow {
  id: string;
  sessionSeq: number;
  sessionId: string;
  userSeq: number;
  attempt: number;
  isScheduled: number;
  isBackground: number;
  workedMs: number;
  openedSession: number;
  isFork: number;
  workspaceNode: string | null;
  outputSchema: string | null;
  keyModel: string | null;
  scenario: string | null;
  disabled: number;
  target: string;
  leadModel: string | null;
}

const CANDIDATE = `SELECT r.id, r.session_seq, s.id AS session_id, r.user_seq, r.attempt, r.schedule_mode = 'scheduled' AS is_scheduled,
  r.${IS_BACKGROUND_WORK} AS is_background, r.worked_ms, r.opened_session, s.origin_session IS NOT NULL AS is_fork,
  r.output_schema, k.model AS key_model, u.scenario, u.disabled, s.target,
  s.lead_model, s.workspace_node FROM runs r
  JOIN sessions s ON s.seq = r.session_seq LEFT JOIN api_keys k ON k.seq = r.key_seq JOIN users u ON u.seq = r.user_seq
  WHERE r.seq = ?`;

function* claim(tx: Transaction, runSeq: number, order: ClaimInput): Step<Claim | null> {
  const row = (yield* tx.get<CandidateRow>(CANDIDATE, runSeq))!;
  if (row.disabled === 1) {
    // Accepted just as the user was disabled. What waits behind it belongs to the same stop.
    yield* stopIn(tx, { sessionSeq: row.sessionSeq, runSeq: null }, 'operator_requested_stop');
    return null;
  }
  const { scenario, target } = row;
  const choice: ModelChoice = { keyModel: row.keyModel, scenario, target, leadModel: row.leadModel };
  const workspaceNode = row.workspaceNode ?? (yield* nodeOf(tx, row)) ?? order.node;
  const run: ClaimedRun = {
    seq: runSeq,
    id: row.id,
    sessionSeq: row.sessionSeq,
    sessionId: row.sessionId,
    userSeq: row.userSeq,
    attempt: row.attempt + 1,
    model: order.modelFor(choice),
    workedMs: row.workedMs,
    target,
    opensSession: row.openedSession === 1 && row.isFork === 0,
    isBackgroundWork: row.isBackground === 1,
    workspaceNode,
    outputSchema: row.outputSchema === null ? null : (JSON.parse(row.outputSchema) as JsonObject),
  };
  yield* tx.run(CLAIM, run.attempt, run.model, order.node, tx.now + order.leaseMs, tx.now, runSeq);
  yield* tx.run(START_SESSION, workspaceNode, run.sessionSeq);
  emitStarted(tx, run, order.fullSlots);
  if (row.isScheduled === 1 && row.attempt === 0) yield* begunIn(tx, run);
  return { run, choice };
}

function* nodeOf(tx: Transaction, { openedSession, isFork, attempt }: CandidateRow): Step<string | undefined> {
  if ((openedSession === 1 || isFork === 1) && attempt === 0) return undefined;
  return yield* homeNode(tx);
}
