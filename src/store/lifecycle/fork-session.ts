// Forks a session (M2): a new one that begins with the conversation of another up to a run of it, and with its files.
//
// Nothing that was said is copied: the fork refers to the runs where they are, and they stay as long as it does. Its files are listed
// afterwards, in parts (`artifacts/copied-workspaces.ts`).
import { newId } from '../../domain/ids.ts';
import type { Fork, ForkRefusal, Forked } from '../../domain/sessions/continued/fork.ts';
import type { Session, SessionStatus } from '../../domain/sessions/session.ts';
import { makeAuditedWrite, type Note } from '../audit/record-entry.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { keepOrigins, type Origin, originsOf } from '../forks/origins.ts';
import { SESSION } from '../rows.ts';
import { addToTotals } from '../sessions/session-totals.ts';
import { findOverQuota } from '../sessions/workspace-space.ts';

/** Where a fork leaves a session. */
export interface ForkPoint {
  readonly sessionSeq: number;
  /** Null: the newest run before which all have ended. */
  readonly runId: string | null;
}

/** What came of it. `gone`: the session was deleted. */
export type ForkCommit =
  | Forked
  | { readonly kind: ForkRefusal | 'gone' }
  | { readonly kind: 'over_quota'; readonly usedBytes: number };

/** What a new session takes over. */
export interface PlannedFork extends Fork {
  readonly kind: 'planned';
  /** The session that is forked, whose title and setup the new one has. */
  readonly ofSession: number;
  readonly origins: readonly Origin[];
  readonly filesFrom: { readonly sessionSeq: number; readonly atRun: number };
}

/** The verb. */
export function makeForkSession(database: Database) {
  const write = makeAuditedWrite(database);
  return {
    /** Forks a session that isn't deleted. `quotaBytes`: what the workspaces of its owner may take; 0 for any. */
    forkSession: (point: ForkPoint, quotaBytes: number, note?: Note<ForkCommit>): Promise<ForkCommit> =>
      write(note, (tx) => forkIn(tx, point, quotaBytes)),
  };
}

function* forkIn(tx: Transaction, { sessionSeq, runId }: ForkPoint, quotaBytes: number): Step<ForkCommit> {
  const origin = yield* tx.rows(SESSION).get('SELECT * FROM sessions WHERE seq = ? AND deleted_at IS NULL', sessionSeq);
  if (origin === undefined) return { kind: 'gone' };
  const usedBytes = yield* findOverQuota(tx, origin.userSeq, quotaBytes);
  if (usedBytes !== undefined) return { kind: 'over_quota', usedBytes };
  const run = runId === null ? undefined : yield* tx.get<{ seq: number }>('SELECT seq FROM runs WHERE id = ?', runId);
  if (runId !== null && run === undefined) return { kind: 'unknown_run' };
  const planned = yield* planFork(tx, origin, run?.seq ?? null);
  if (planned.kind !== 'planned') return planned;
  const session = yield* openFork(tx, planned, { status: 'completed' });
  const { sessionId, runId: at, workspace } = planned;
  return { kind: 'forked', session, fork: { sessionId, runId: at, workspace } };
}

/** Plans a fork of a session that isn't deleted, at a run of its conversation; null: the newest before which all have ended. */
export function* planFork(
  tx: Reader,
  { seq: sessionSeq, kind }: Pick<Session, 'seq' | 'kind'>,
  runSeq: number | null,
): Step<PlannedFork | { readonly kind: ForkRefusal }> {
  // Nobody could go on in it: no key has such sessions.
  if (kind === 'scheduled') return { kind: 'scheduled' };
  const inherited = yield* originsOf(tx, sessionSeq);
  const atRun = runSeq ?? (yield* newestEnded(tx, sessionSeq)) ?? inherited[0]?.untilRun;
  if (atRun === undefined) return { kind: 'no_run' };
  const run = (yield* tx.get<RunRow>(RUN, atRun))!;
  if (run.sessionSeq !== sessionSeq) return yield* planEarlier(tx, { sessionSeq, run, inherited });
  if ((yield* tx.get(UNFINISHED_UNTIL, sessionSeq, atRun)) !== undefined) return { kind: 'unfinished' };
  const own = { fromSession: sessionSeq, untilRun: atRun, untilMessage: yield* newestMessage(tx, sessionSeq, atRun) };
  return yield* planned(tx, { run, origins: [own, ...inherited], sessionSeq });
}

interface RunRow {
  readonly seq: number;
  readonly id: string;
  readonly sessionSeq: number;
  readonly sessionId: string;
}

const RUN =
  'SELECT r.seq, r.id, r.session_seq, s.id AS sessionId FROM runs r JOIN sessions s ON s.seq = r.session_seq WHERE r.seq = ?';
const UNFINISHED_UNTIL = 'SELECT 1 FROM runs WHERE session_seq = ? AND seq <= ? AND finished_at IS NULL LIMIT 1';
const NEWEST_ENDED = `SELECT max(seq) AS seq FROM runs WHERE session_seq = ?
  AND seq < coalesce((SELECT min(seq) FROM runs WHERE session_seq = ? AND finished_at IS NULL), ?)`;

function* newestEnded(tx: Reader, sessionSeq: number): Step<number | null> {
  return (yield* tx.get<{ seq: number | null }>(NEWEST_ENDED, sessionSeq, sessionSeq, Number.MAX_SAFE_INTEGER))!.seq;
}

// A message of an earlier run may come behind that of a later one, which has waited for it: but not by many.
const NEWEST_MESSAGE = `SELECT coalesce(max(m.id), 0) AS id
  FROM (SELECT seq FROM runs WHERE session_seq = ? AND seq <= ? ORDER BY seq DESC LIMIT 256) AS latest
  JOIN messages m ON m.run_seq = latest.seq`;

function* newestMessage(tx: Reader, sessionSeq: number, runSeq: number): Step<number> {
  return (yield* tx.get<{ id: number }>(NEWEST_MESSAGE, sessionSeq, runSeq))!.id;
}

interface Earlier {
  /** The session that is forked. */
  readonly sessionSeq: number;
  /** Of another session. */
  readonly run: RunRow;
  readonly inherited: readonly Origin[];
}

/** At a run that the session itself begins with: then that is forked. */
function* planEarlier(
  tx: Reader,
  { sessionSeq, run, inherited }: Earlier,
): Step<PlannedFork | { readonly kind: ForkRefusal }> {
  const at = inherited.findIndex(({ fromSession, untilRun }) => fromSession === run.sessionSeq && untilRun >= run.seq);
  if (at === -1) return { kind: 'unknown_run' };
  const untilMessage = yield* newestMessage(tx, run.sessionSeq, run.seq);
  const own = { fromSession: run.sessionSeq, untilRun: run.seq, untilMessage };
  return yield* planned(tx, { run, origins: [own, ...inherited.slice(at + 1)], sessionSeq });
}

interface Found {
  readonly run: RunRow;
  readonly origins: readonly Origin[];
  /** The session that is forked. */
  readonly sessionSeq: number;
}

interface FilesRow {
  readonly isGone: number;
  readonly isRemoved: number;
  readonly hasState: number;
  readonly hasFiles: number;
  readonly keptFrom: number | null;
  readonly newestRun: number | null;
}

const FILES = `SELECT s.deleted_at IS NOT NULL AS isGone, s.workspace_removed_at IS NOT NULL AS isRemoved,
    w.session_seq IS NOT NULL AS hasState, w.kept_from AS keptFrom,
    EXISTS (SELECT 1 FROM workspace_files f WHERE f.session_seq = s.seq) AS hasFiles,
    (SELECT max(seq) FROM runs WHERE session_seq = s.seq) AS newestRun
  FROM sessions s LEFT JOIN workspaces w ON w.session_seq = s.seq WHERE s.seq = ?`;

/** Whether it is known what the workspace of a session had after a run of it. */
function isKept({ isGone, isRemoved, hasState, hasFiles, keptFrom, newestRun }: FilesRow, runSeq: number): boolean {
  if (isGone === 1 || (isRemoved === 1 && hasState === 0)) return false;
  if (hasState === 1 && keptFrom !== null && keptFrom <= runSeq) return true;
  // What it has now is what it had then; or it never had anything.
  return newestRun === runSeq || (hasState === 0 && hasFiles === 0);
}

function* planned(tx: Reader, { run, origins, sessionSeq }: Found): Step<PlannedFork> {
  const then = (yield* tx.get<FilesRow>(FILES, run.sessionSeq))!;
  const at = { kind: 'planned', ofSession: sessionSeq, sessionId: run.sessionId, runId: run.id, origins } as const;
  if (isKept(then, run.seq))
    return { ...at, workspace: 'as_of_run', filesFrom: { sessionSeq: run.sessionSeq, atRun: run.seq } };
  // What runs change that begin meanwhile is none of it.
  const { newestRun } = sessionSeq === run.sessionSeq ? then : (yield* tx.get<FilesRow>(FILES, sessionSeq))!;
  return { ...at, workspace: 'as_it_is', filesFrom: { sessionSeq, atRun: newestRun ?? run.seq } };
}

export interface ForkedSession {
  readonly status: SessionStatus;
  /** The node that starts its first run; absent: none does yet. */
  readonly workspaceNode?: string | null;
  readonly clientName?: string | null;
  readonly isThrowAway?: boolean;
}

// With everything that was fixed when the one was opened that is forked.
const FIXED = 'user_seq, key_seq, kind, title, project_id, target, capability_config, orchestration, lead_model';
const OPEN = `INSERT INTO sessions (${FIXED}, id, status, created_at, updated_at, workspace_node, client_name, throw_away,
    origin_session, origin_run) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

interface FixedRow {
  readonly userSeq: number;
  readonly keySeq: number | null;
  readonly kind: string;
  readonly title: string;
  readonly projectId: string | null;
  readonly target: string;
  readonly capabilityConfig: string;
  readonly orchestration: string | null;
  readonly leadModel: string | null;
}

/** Opens a session with what it takes over. */
export function* openFork(
  tx: Transaction,
  { ofSession, origins, filesFrom, sessionId, runId }: PlannedFork,
  { status, workspaceNode = null, clientName = null, isThrowAway = false }: ForkedSession,
): Step<Session> {
  const fixed = (yield* tx.get<FixedRow>(`SELECT ${FIXED} FROM sessions WHERE seq = ?`, ofSession))!;
  const seq = yield* tx.insert(
    OPEN,
    fixed.userSeq,
    fixed.keySeq,
    fixed.kind,
    fixed.title,
    fixed.projectId,
    fixed.target,
    fixed.capabilityConfig,
    fixed.orchestration,
    fixed.leadModel,
    newId(tx.now),
    status,
    tx.now,
    tx.now,
    workspaceNode,
    clientName,
    Number(isThrowAway),
    sessionId,
    runId,
  );
  yield* keepOrigins(tx, seq, origins);
  yield* addToTotals(tx, seq, {});
  const { sessionSeq, atRun } = filesFrom;
  yield* tx.run(
    'INSERT INTO workspace_copies (session_seq, from_session, at_run) VALUES (?, ?, ?)',
    seq,
    sessionSeq,
    atRun,
  );
  return (yield* tx.rows(SESSION).get('SELECT * FROM sessions WHERE seq = ?', seq))!;
}
