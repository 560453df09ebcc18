// Accepts a turn: session, user message, attachments and queued run in one transaction, or the run of an earlier request.
import type { UserBlock } from '../../domain/sessions/content.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Protocol, Run, ScheduleMode } from '../../domain/sessions/run.ts';
import type { Session, SessionSetup } from '../../domain/sessions/session.ts';
import type { ApiKey, User } from '../../domain/people/user.ts';
import { admitBackground, type BackgroundLimits, type BackgroundRefusal } from './admit-background.ts';
import type { UsedUp } from '../../domain/budgets/budget.ts';
import { findUsedUp } from '../budgets/budget-rows.ts';
import type { BudgetKit } from '../budgets/reserve.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { insertRun, type NewRun } from './insert-run.ts';
import { estimatePrompt } from './prompt-size.ts';
import { RUN_COLUMNS, type RunRow, type SessionRow, toRun, toSession } from '../rows.ts';
import { insertSession, type NewSession } from '../sessions/insert-session.ts';
import { addToTotals } from '../sessions/session-totals.ts';
import { findOverQuota } from '../sessions/workspace-space.ts';
import { insertAttachments, insertUserMessage, type NewAttachment } from '../sessions/user-message.ts';
import { IS_UNFINISHED } from './run-states.ts';

export interface NewTurn {
  readonly user: User;
  readonly key: ApiKey;
  readonly protocol: Protocol;
  readonly requestedModel: string;
  readonly includeUsage: boolean;
  /** Schema of the result the run must submit; null when its answer is text. */
  readonly outputSchema: JsonObject | null;
  /** Null opens a new session with this title. */
  readonly sessionId: string | null;
  readonly title: string;
  /** The setup of a new session; ignored when the session exists. */
  readonly setup: SessionSetup;
  readonly idempotencyKey: string | null;
  readonly content: readonly UserBlock[];
  readonly preview: string;
  readonly attachments: readonly NewAttachment[];
  /** The space that workspaces of the user may take; 0 for any. */
  readonly userQuotaBytes: number;
  /** Whether a worker slot is free, so that a ready run starts at once (C5). */
  slotFree(): boolean;
  /** Present for a background run, with the limits it is admitted under. */
  readonly background: { readonly payload: string | null; readonly limits: BackgroundLimits } | null;
}

/** `session_gone`: the session was deleted, or its key changed, since it was looked up. */
export type Acceptance =
  | { readonly kind: 'accepted' | 'replayed'; readonly session: Session; readonly run: Run }
  | { readonly kind: 'over_budget'; readonly budget: UsedUp }
  | { readonly kind: 'over_quota'; readonly usedBytes: number }
  | { readonly kind: 'session_gone' | BackgroundRefusal };

/** Identifies the run of a repeated request. */
export type Submission = Pick<NewTurn, 'user' | 'key' | 'sessionId' | 'idempotencyKey' | 'background'>;

const SELECT_RUN = `SELECT ${RUN_COLUMNS} FROM runs r JOIN sessions s ON s.seq = r.session_seq`;

/** The verb that accepts a turn (C5, C7, D4, D7). */
export function makeAcceptRun({ write }: Database, kit: BudgetKit): (turn: NewTurn) => Promise<Acceptance> {
  const accept = write((tx: Transaction, turn: NewTurn, content: string) => acceptIn(tx, kit, turn, content));
  // The text is rendered before the commit, in another turn of the event loop: with a long text, either step takes time.
  return async (turn) => accept(turn, JSON.stringify(turn.content));
}

/** Makes the look-up of the run that an earlier request with the same idempotency key made; undefined when there is none. */
export function makeFindSubmitted({ read }: Database) {
  return read(function* (tx: Reader, submission: Submission): Step<Run | undefined> {
    const session = submission.sessionId === null ? undefined : yield* findOpenSession(tx, submission);
    const found = yield* findReplayed(tx, submission, session);
    return found !== undefined && 'run' in found ? found.run : undefined;
  });
}

/** `content`: the turn's content as stored. */
function* acceptIn(tx: Transaction, kit: BudgetKit, turn: NewTurn, content: string): Step<Acceptance> {
  const found = turn.sessionId === null ? undefined : yield* findOpenSession(tx, turn);
  const earlier = yield* findReplayed(tx, turn, found);
  if (earlier !== undefined) return earlier;
  if (turn.sessionId !== null && found === undefined) return { kind: 'session_gone' };
  const busy = found !== undefined && (yield* hasUnfinishedRun(tx, found.seq));
  const refusal =
    turn.background === null ? undefined : yield* admitBackground(tx, turn, { busy, ...turn.background.limits });
  if (refusal !== undefined) return { kind: refusal };
  const usedBytes = yield* findOverQuota(tx, turn.user.seq, turn.userQuotaBytes);
  if (usedBytes !== undefined) return { kind: 'over_quota', usedBytes };
  const budget = yield* findSpentBudget(tx, kit, turn);
  if (budget !== undefined) return { kind: 'over_budget', budget };
  // Only a Messages stream reports it, and this turn must not be stored yet.
  const place = { keySeq: turn.key.seq, sessionSeq: found?.seq ?? null, content: turn.content };
  const promptTokens = turn.protocol === 'messages' ? yield* estimatePrompt(tx, place) : null;
  const session = found === undefined ? yield* insertSession(tx, sessionOf(turn)) : yield* continueSession(tx, found);
  const ready = !busy && !(found !== undefined && isStopping(found));
  const target = found?.target ?? turn.setup.target;
  const run = yield* insertRun(tx, { ...runOf(turn, session, ready), target, opensSession: found === undefined });
  const message = { sessionSeq: session.seq, runSeq: run.seq, content, preview: turn.preview };
  yield* insertAttachments(
    tx,
    { userSeq: turn.user.seq, sessionSeq: session.seq, messageId: yield* insertUserMessage(tx, message) },
    turn.attachments,
  );
  yield* addToTotals(tx, session.seq, { messages: 1, runs: 1 });
  const payload = { scheduleMode: run.scheduleMode, ...(promptTokens !== null && { promptTokens }) };
  tx.emit(session.seq, run.seq, { type: 'run.queued', payload });
  return { kind: 'accepted', session, run };
}

function* findSpentBudget(tx: Transaction, { inForce, periodOf }: BudgetKit, turn: NewTurn): Step<UsedUp | undefined> {
  if (!(yield* inForce.any(tx))) return undefined;
  const { user, key } = turn;
  const { teamId } = (yield* tx.get<{ teamId: string | null }>(TEAM_OF_USER, user.seq))!;
  return yield* findUsedUp(tx, { keySeq: key.seq, userSeq: user.seq, teamId }, tx.now, periodOf);
}

/** As it is now: the caller was looked up before. */
const TEAM_OF_USER = 'SELECT team_id AS "teamId" FROM users WHERE seq = ?';

function* findOpenSession(tx: Reader, turn: Submission): Step<SessionRow | undefined> {
  return yield* tx.get<SessionRow>(
    'SELECT * FROM sessions WHERE id = ? AND user_seq = ? AND key_seq = ? AND deleted_at IS NULL',
    turn.sessionId,
    turn.user.seq,
    turn.key.seq,
  );
}

function* getSession(tx: Reader, seq: number): Step<Session> {
  return toSession((yield* tx.get<SessionRow>('SELECT * FROM sessions WHERE seq = ?', seq))!);
}

function* findReplayed(tx: Reader, turn: Submission, session: SessionRow | undefined): Step<Acceptance | undefined> {
  if (turn.idempotencyKey === null) return undefined;
  const row = yield* findByKey(tx, turn, session);
  if (row === undefined) return undefined;
  const replayed = yield* getSession(tx, row.session_seq);
  if (replayed.deletedAt !== null) return { kind: 'session_gone' };
  return { kind: 'replayed', session: replayed, run: toRun(row) };
}

/**
 * Three namespaces of keys: background per API key; first requests per user, key and target; continuations per session (D4).
 */
function* findByKey(tx: Reader, turn: Submission, session: SessionRow | undefined): Step<RunRow | undefined> {
  const { user, key, idempotencyKey } = turn;
  if (turn.background !== null) {
    return yield* tx.get<RunRow>(
      `${SELECT_RUN} WHERE r.schedule_mode = 'background' AND r.key_seq = ? AND r.idempotency_key = ?`,
      key.seq,
      idempotencyKey,
    );
  }
  if (session !== undefined) {
    return yield* tx.get<RunRow>(
      `${SELECT_RUN} WHERE r.schedule_mode <> 'background' AND r.opened_session = 0 AND r.session_seq = ?
         AND r.idempotency_key = ?`,
      session.seq,
      idempotencyKey,
    );
  }
  if (turn.sessionId !== null) return undefined;
  return yield* tx.get<RunRow>(
    `${SELECT_RUN} WHERE r.schedule_mode <> 'background' AND r.opened_session = 1 AND r.user_seq = ? AND r.key_seq = ?
       AND r.target = ? AND r.idempotency_key = ?`,
    user.seq,
    key.seq,
    key.target,
    idempotencyKey,
  );
}

function sessionOf({ user, key, title, setup }: NewTurn): NewSession {
  return { userSeq: user.seq, keySeq: key.seq, kind: 'api', title, projectId: key.projectId, setup };
}

function runOf(turn: NewTurn, session: Session, ready: boolean): Omit<NewRun, 'target' | 'opensSession'> {
  return {
    sessionSeq: session.seq,
    sessionId: session.id,
    userSeq: turn.user.seq,
    keySeq: turn.key.seq,
    protocol: turn.protocol,
    scheduleMode: scheduleModeOf(turn, ready),
    requestedModel: turn.requestedModel,
    includeUsage: turn.includeUsage,
    backgroundPayload: turn.background?.payload ?? null,
    outputSchema: turn.outputSchema,
    idempotencyKey: turn.idempotencyKey,
    ready,
  };
}

function* continueSession(tx: Transaction, row: SessionRow): Step<Session> {
  const status = row.status === 'running' ? 'running' : 'pending';
  // A confirmed stop is cleared; one that the executor has yet to confirm holds the new run back.
  yield* tx.run(
    isStopping(row)
      ? 'UPDATE sessions SET status = ?, updated_at = ? WHERE seq = ?'
      : `UPDATE sessions SET status = ?, updated_at = ?, stop_requested_at = NULL, stop_confirmed_at = NULL,
           stop_cause = NULL WHERE seq = ?`,
    status,
    tx.now,
    row.seq,
  );
  return toSession({ ...row, status, updated_at: tx.now });
}

function isStopping(row: SessionRow): boolean {
  return row.stop_requested_at !== null && row.stop_confirmed_at === null;
}

function scheduleModeOf(turn: NewTurn, ready: boolean): ScheduleMode {
  if (turn.background !== null) return 'background';
  return ready && turn.slotFree() ? 'immediate' : 'queued';
}

function* hasUnfinishedRun(tx: Transaction, sessionSeq: number): Step<boolean> {
  const found = yield* tx.get(`SELECT 1 FROM runs WHERE session_seq = ? AND ${IS_UNFINISHED} LIMIT 1`, sessionSeq);
  return found !== undefined;
}
