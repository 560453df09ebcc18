// Stops runs: unfinished ones are canceled in one transaction, before any executor is notified (§3.3, D1, E8).
import type { SessionStatus } from '../../domain/sessions/session.ts';
import type { StopCause } from '../../domain/sessions/stop.ts';
import { makeAuditedWrite, type Note } from '../audit/record-entry.ts';
import { type Database, FREES } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { cancelIn } from './end-run.ts';
import { IS_UNFINISHED, NOW_READY } from '../runs/run-states.ts';
import { EXECUTING, type RunState } from '../../domain/sessions/run.ts';

/**
 * The result of a stop. `ended`: it canceled runs; a worker may still be executing those in `executing`. `unconfirmed`,
 * `confirmed`: an earlier stop canceled them. `idle`: the session ended by itself. `gone`: it is deleted.
 */
export type StopCommit =
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'ended' | 'unconfirmed' | 'confirmed' | 'idle';
      readonly status: SessionStatus;
      readonly cause: StopCause;
      readonly canceled: number;
      /** Questions to users that can no longer be answered. */
      readonly expiredQuestions: number;
      /** Whether an executor has yet to confirm. */
      readonly unconfirmed: boolean;
      /** The node of that executor; null when it has none, or never had any. */
      readonly node: string | null;
    };

interface StopRow {
  status: SessionStatus;
  requestedAt: number | null;
  confirmedAt: number | null;
  cause: StopCause | null;
  deletedAt: number | null;
}

interface UnfinishedRow {
  seq: number;
  status: RunState;
}

// Searched by unfinished runs, not by users: the cost does not depend on how much a user has done.
const OF_DISABLED = `SELECT DISTINCT r.session_seq AS seq, s.id FROM runs r INDEXED BY runs_unfinished
  CROSS JOIN users u ON u.seq = r.user_seq CROSS JOIN sessions s ON s.seq = r.session_seq
  WHERE r.${IS_UNFINISHED} AND u.disabled = 1 AND r.session_seq > ?
  ORDER BY r.session_seq LIMIT +?`;

/** The verbs that stop. */
export function makeStopRuns(database: Database) {
  const { write, read } = database;
  const auditedWrite = makeAuditedWrite(database);
  return {
    /** Cancels every unfinished run of a session. */
    stopSession: (sessionSeq: number, cause: StopCause, note?: Note<StopCommit>): Promise<StopCommit> =>
      auditedWrite(note, (tx) => stopIn(tx, { sessionSeq, runSeq: null }, cause), FREES),

    /** Cancels one run, unless it has ended; the session's next run continues. */
    stopRun: (
      which: { readonly sessionSeq: number; readonly runSeq: number },
      cause: StopCause,
      note?: Note<StopCommit>,
    ): Promise<StopCommit> => auditedWrite(note, (tx) => stopIn(tx, which, cause), FREES),

    /** Sessions of disabled users with unfinished runs, in order: up to a limit, after the given session. */
    listSessionsOfDisabled: read(
      (tx: Reader, afterSeq: number, limit: number): Step<{ seq: number; id: string }[]> =>
        tx.all(OF_DISABLED, afterSeq, limit),
    ),

    /** Records that the executor of a session's stopped run has ended, and lets the session's next run begin. */
    confirmStop: write(confirmIn, FREES),
    /** Whether a session was stopped whose executor is, or was, at a node that has not confirmed its end. */
    isStoppingAt: read(function* (tx: Reader, sessionSeq: number, node: string): Step<boolean> {
      return (yield* tx.get(`${STOPPING_AT} AND s.seq = ?`, node, node, sessionSeq)) !== undefined;
    }),
  };
}

/** The executor of a session's runs is at the node that has claimed the last one. */
const nodeOfSession = (session: string) =>
  `SELECT r.node_id AS node FROM runs r WHERE r.session_seq = ${session} AND r.node_id IS NOT NULL ORDER BY r.seq DESC LIMIT 1`;
const NODE_OF_SESSION = nodeOfSession('?');
const STOPPING_AT = `SELECT s.seq FROM sessions s WHERE s.stop_requested_at IS NOT NULL AND s.stop_confirmed_at IS NULL
  AND coalesce((${nodeOfSession('s.seq')}), ?) = ?`;

function* nodeOf(tx: Reader, sessionSeq: number): Step<string | null> {
  return (yield* tx.get<{ node: string }>(NODE_OF_SESSION, sessionSeq))?.node ?? null;
}

/** Confirms every stop whose executor was at a node. */
export function* confirmOfNode(tx: Transaction, node: string): Step<number> {
  const rows = yield* tx.all<{ seq: number }>(STOPPING_AT, node, node);
  for (const { seq } of rows) yield* confirmIn(tx, seq);
  return rows.length;
}

/** The runs to stop: all of a session, or one. */
interface StopScope {
  readonly sessionSeq: number;
  readonly runSeq: number | null;
  /** Whether webhooks hear of it: they do unless it is false. */
  readonly announced?: boolean;
}

/** Stops within a transaction; deleting a session begins with it. */
export function* stopIn(tx: Transaction, scope: StopScope, cause: StopCause): Step<StopCommit> {
  const { sessionSeq, runSeq, announced = true } = scope;
  const session = yield* tx.get<StopRow>(
    `SELECT status, stop_requested_at AS requested_at, stop_confirmed_at AS confirmed_at, stop_cause AS cause, deleted_at
     FROM sessions WHERE seq = ?`,
    sessionSeq,
  );
  if (session === undefined || session.deletedAt !== null) return { kind: 'gone' };
  const wasUnconfirmed = session.requestedAt !== null && session.confirmedAt === null;
  const runs = (yield* listUnfinished(tx, sessionSeq)).filter(({ seq }) => runSeq === null || seq === runSeq);
  if (runs.length === 0) {
    const nothing = { canceled: 0, expiredQuestions: 0 };
    const node = wasUnconfirmed ? yield* nodeOf(tx, sessionSeq) : null;
    const state = {
      status: session.status,
      cause: session.cause ?? cause,
      ...nothing,
      unconfirmed: wasUnconfirmed,
      node,
    };
    if (session.status !== 'stopped') return { ...state, kind: 'idle' };
    return { ...state, kind: wasUnconfirmed ? 'unconfirmed' : 'confirmed' };
  }
  const unconfirmed = wasUnconfirmed || runs.some(({ status }) => EXECUTING.some((state) => state === status));
  // Before the runs end: the end of a run lets the next one begin, unless an executor is still in the workspace.
  yield* tx.run(
    'UPDATE sessions SET stop_requested_at = ?, stop_confirmed_at = ?, stop_cause = ? WHERE seq = ?',
    tx.now,
    unconfirmed ? null : tx.now,
    cause,
    sessionSeq,
  );
  // One stop is one event for webhooks (§3.3).
  const announcing = announced ? (runs.find(({ status }) => status !== 'queued') ?? runs[0]) : undefined;
  let expiredQuestions = 0;
  for (const run of runs) {
    const cancellation = { cause, announced: run === announcing };
    expiredQuestions += yield* cancelIn(tx, { sessionSeq, runSeq: run.seq }, cancellation);
  }
  const { status } = (yield* tx.get<{ status: SessionStatus }>(
    'SELECT status FROM sessions WHERE seq = ?',
    sessionSeq,
  ))!;
  const node = unconfirmed ? yield* nodeOf(tx, sessionSeq) : null;
  return { kind: 'ended', status, cause, canceled: runs.length, expiredQuestions, unconfirmed, node };
}

// The newest first, so that no run becomes ready only to be canceled next.
function* listUnfinished(tx: Transaction, sessionSeq: number): Step<UnfinishedRow[]> {
  return yield* tx.all<UnfinishedRow>(
    `SELECT seq, status FROM runs WHERE session_seq = ? AND ${IS_UNFINISHED} ORDER BY seq DESC`,
    sessionSeq,
  );
}

function* confirmIn(tx: Transaction, sessionSeq: number): Step<boolean> {
  const confirmed = yield* tx.count(
    `UPDATE sessions SET stop_confirmed_at = ?
     WHERE seq = ? AND stop_requested_at IS NOT NULL AND stop_confirmed_at IS NULL`,
    tx.now,
    sessionSeq,
  );
  if (confirmed === 0) return false;
  yield* tx.run(
    `UPDATE runs SET ${NOW_READY} WHERE status = 'queued' AND seq =
       (SELECT min(seq) FROM runs WHERE session_seq = ? AND ${IS_UNFINISHED})`,
    tx.now,
    sessionSeq,
  );
  return true;
}
