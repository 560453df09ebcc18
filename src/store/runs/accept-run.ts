// Accepts a turn: session, user message, attachments and queued run in one transaction, or the run of an earlier request.
import type { UserBlock } from '../../domain/sessions/content.ts';
import { newId } from '../../domain/ids.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Protocol, Run, ScheduleMode } from '../../domain/sessions/run.ts';
import type { Session, SessionSetup } from '../../domain/sessions/session.ts';
import { NO_USAGE } from '../../domain/sessions/usage.ts';
import type { ApiKey, User } from '../../domain/people/user.ts';
import { admitBackground, type BackgroundLimits, type BackgroundRefusal } from './admit-background.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { estimatePrompt } from './prompt-size.ts';
import { RUN_COLUMNS, type RunRow, type SessionRow, toRun, toSession } from '../rows.ts';
import { addToTotals } from '../sessions/session-totals.ts';
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
  /** Whether a worker slot is free, so that a ready run starts at once (C5). */
  slotFree(): boolean;
  /** Present for a background run, with the limits it is admitted under. */
  readonly background: { readonly payload: string | null; readonly limits: BackgroundLimits } | null;
}

/** `session_gone`: the session was deleted, or its key changed, since it was looked up. */
export type Acceptance =
  | { readonly kind: 'accepted' | 'replayed'; readonly session: Session; readonly run: Run }
  | { readonly kind: 'session_gone' | BackgroundRefusal };

/** Identifies the run of a repeated request. */
export type Submission = Pick<NewTurn, 'user' | 'key' | 'sessionId' | 'idempotencyKey' | 'background'>;

const SELECT_RUN = `SELECT ${RUN_COLUMNS} FROM runs r JOIN sessions s ON s.seq = r.session_seq`;

/** The verb that accepts a turn (C5, C7, D4, D7). */
export function makeAcceptRun({ write }: Database): (turn: NewTurn) => Promise<Acceptance> {
  const accept = write(acceptIn);
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
function* acceptIn(tx: Transaction, turn: NewTurn, content: string): Step<Acceptance> {
  const found = turn.sessionId === null ? undefined : yield* findOpenSession(tx, turn);
  const earlier = yield* findReplayed(tx, turn, found);
  if (earlier !== undefined) return earlier;
  if (turn.sessionId !== null && found === undefined) return { kind: 'session_gone' };
  const busy = found !== undefined && (yield* hasUnfinishedRun(tx, found.seq));
  const refusal =
    turn.background === null ? undefined : yield* admitBackground(tx, turn, { busy, ...turn.background.limits });
  if (refusal !== undefined) return { kind: refusal };
  // Only a Messages stream reports it, and this turn must not be stored yet.
  const place = { keySeq: turn.key.seq, sessionSeq: found?.seq ?? null, content: turn.content };
  const promptTokens = turn.protocol === 'messages' ? yield* estimatePrompt(tx, place) : null;
  const session = found === undefined ? yield* openSession(tx, turn) : yield* continueSession(tx, found);
  const run = yield* insertRun(tx, turn, session, {
    opensSession: found === undefined,
    target: found?.target ?? turn.setup.target,
    ready: !busy && !(found !== undefined && isStopping(found)),
  });
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

function* openSession(tx: Transaction, turn: NewTurn): Step<Session> {
  const session = {
    id: newId(tx.now),
    userSeq: turn.user.seq,
    keySeq: turn.key.seq,
    kind: 'api',
    title: turn.title,
    status: 'pending',
    projectId: turn.key.projectId,
    createdAt: tx.now,
    updatedAt: tx.now,
    deletedAt: null,
  } as const;
  const seq = yield* tx.insert(
    `INSERT INTO sessions (id, user_seq, key_seq, kind, title, status, project_id, target, capability_config,
       orchestration, lead_model, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    session.id,
    session.userSeq,
    session.keySeq,
    session.kind,
    session.title,
    session.status,
    session.projectId,
    turn.setup.target,
    JSON.stringify(turn.setup.capabilityConfig),
    turn.setup.orchestration === null ? null : JSON.stringify(turn.setup.orchestration),
    turn.setup.orchestration?.lead.model ?? null,
    session.createdAt,
    session.updatedAt,
  );
  return { seq, ...session };
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

interface RunPlace {
  readonly opensSession: boolean;
  /** The session's. */
  readonly target: string;
  readonly ready: boolean;
}

function* insertRun(
  tx: Transaction,
  turn: NewTurn,
  session: Session,
  { opensSession, target, ready }: RunPlace,
): Step<Run> {
  const run: Omit<Run, 'seq'> = {
    id: newId(tx.now),
    sessionSeq: session.seq,
    sessionId: session.id,
    userSeq: turn.user.seq,
    keySeq: turn.key.seq,
    protocol: turn.protocol,
    status: 'queued',
    scheduleMode: scheduleModeOf(turn, ready),
    attempt: 0,
    resumes: 0,
    requestedModel: turn.requestedModel,
    model: null,
    includeUsage: turn.includeUsage,
    wantsStructured: turn.outputSchema !== null,
    usage: NO_USAGE,
    costUsd: 0,
    stopReason: null,
    error: null,
    answer: null,
    structuredOutput: null,
    backgroundPayload: turn.background?.payload ?? null,
    createdAt: tx.now,
    startedAt: null,
    finishedAt: null,
  };
  const seq = yield* tx.insert(
    `INSERT INTO runs (id, session_seq, user_seq, key_seq, protocol, status, schedule_mode, ready, requested_model,
       include_usage, opened_session, idempotency_key, target, background_payload, created_at,
       output_schema, team_id, artifact_status)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT team_id FROM users WHERE seq = ?), 'pending')`,
    run.id,
    run.sessionSeq,
    run.userSeq,
    run.keySeq,
    run.protocol,
    run.status,
    run.scheduleMode,
    Number(ready),
    run.requestedModel,
    Number(run.includeUsage),
    Number(opensSession),
    turn.idempotencyKey,
    target,
    run.backgroundPayload,
    run.createdAt,
    turn.outputSchema === null ? null : JSON.stringify(turn.outputSchema),
    run.userSeq,
  );
  return { seq, ...run };
}

function scheduleModeOf(turn: NewTurn, ready: boolean): ScheduleMode {
  if (turn.background !== null) return 'background';
  return ready && turn.slotFree() ? 'immediate' : 'queued';
}

function* hasUnfinishedRun(tx: Transaction, sessionSeq: number): Step<boolean> {
  const found = yield* tx.get(`SELECT 1 FROM runs WHERE session_seq = ? AND ${IS_UNFINISHED} LIMIT 1`, sessionSeq);
  return found !== undefined;
}
