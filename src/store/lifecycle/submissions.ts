// Repeated requests: the run that an earlier one with the same idempotency key made, and the session that a turn continues (D4).
import type { ApiKey, User } from '../../domain/people/user.ts';
import type { Run } from '../../domain/sessions/run.ts';
import type { Session } from '../../domain/sessions/session.ts';
import type { Database } from '../engine/database.ts';
import { plain, rowKind } from '../engine/row.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { RUN, RUN_COLUMNS, SESSION } from '../rows.ts';

/** What identifies the run of a repeated request. */
export interface Submission {
  readonly user: User;
  readonly key: ApiKey;
  /** Null for a request that opens a session. */
  readonly sessionId: string | null;
  readonly idempotencyKey: string | null;
  /** Null for a run that somebody waits for. */
  readonly background: object | null;
}

/** The run that an earlier request made; `session_gone`: its session was deleted. */
export type Replay =
  | { readonly kind: 'replayed'; readonly session: Session; readonly run: Run }
  | { readonly kind: 'session_gone' };

const SELECT_RUN = `SELECT ${RUN_COLUMNS} FROM runs r JOIN sessions s ON s.seq = r.session_seq`;

/** Makes the look-up of the run that an earlier request with the same idempotency key made; undefined when there is none. */
export function makeFindSubmitted({ read }: Database) {
  return read(function* (tx: Reader, submission: Submission): Step<Run | undefined> {
    const session = submission.sessionId === null ? undefined : yield* findOpenSession(tx, submission);
    const found = yield* findReplayed(tx, submission, session);
    return found !== undefined && 'run' in found ? found.run : undefined;
  });
}

/** A session that a turn continues. */
export interface OpenSession {
  readonly session: Session;
  readonly target: string;
  readonly leadModel: string | null;
  readonly stopRequestedAt: number | null;
  readonly stopConfirmedAt: number | null;
  /** The node that has its files. */
  readonly workspaceNode: string | null;
}

const OPEN_SESSION = rowKind<OpenSession>({
  session: SESSION,
  target: plain,
  leadModel: plain,
  stopRequestedAt: plain,
  stopConfirmedAt: plain,
  workspaceNode: plain,
});

/** As it is now: the caller was looked up before. */
export function* findOpenSession(tx: Reader, turn: Submission): Step<OpenSession | undefined> {
  return yield* tx
    .rows(OPEN_SESSION)
    .get(
      'SELECT * FROM sessions WHERE id = ? AND user_seq = ? AND key_seq = ? AND deleted_at IS NULL',
      turn.sessionId,
      turn.user.seq,
      turn.key.seq,
    );
}

function* getSession(tx: Reader, seq: number): Step<Session> {
  return (yield* tx.rows(SESSION).get('SELECT * FROM sessions WHERE seq = ?', seq))!;
}

/** Undefined for a request that is the first with its key. */
export function* findReplayed(tx: Reader, turn: Submission, open: OpenSession | undefined): Step<Replay | undefined> {
  if (turn.idempotencyKey === null) return undefined;
  return yield* replayOf(tx, yield* findByKey(tx, turn, open));
}

/** The same for a request that forks a session. */
export function* findReplayedFork(tx: Reader, turn: Submission, forked: OpenSession): Step<Replay | undefined> {
  if (turn.idempotencyKey === null || turn.background !== null) return undefined;
  return yield* replayOf(tx, yield* findOpening(tx, turn, forked.target));
}

function* replayOf(tx: Reader, row: Run | undefined): Step<Replay | undefined> {
  if (row === undefined) return undefined;
  const replayed = yield* getSession(tx, row.sessionSeq);
  if (replayed.deletedAt !== null) return { kind: 'session_gone' };
  return { kind: 'replayed', session: replayed, run: row };
}

/**
 * Three namespaces of keys: background per API key; first requests per user, key and target; continuations per session (D4).
 */
function* findByKey(tx: Reader, turn: Submission, open: OpenSession | undefined): Step<Run | undefined> {
  const { key, idempotencyKey } = turn;
  if (turn.background !== null) {
    return yield* tx
      .rows(RUN)
      .get(
        `${SELECT_RUN} WHERE r.schedule_mode = 'background' AND r.key_seq = ? AND r.idempotency_key = ?`,
        key.seq,
        idempotencyKey,
      );
  }
  if (open !== undefined) {
    return yield* tx.rows(RUN).get(
      `${SELECT_RUN} WHERE r.schedule_mode <> 'background' AND r.opened_session = 0 AND r.session_seq = ?
         AND r.idempotency_key = ?`,
      open.session.seq,
      idempotencyKey,
    );
  }
  return turn.sessionId === null ? yield* findOpening(tx, turn, key.target) : undefined;
}

/** Of those that open sessions, be they forks. */
function* findOpening(tx: Reader, { user, key, idempotencyKey }: Submission, target: string): Step<Run | undefined> {
  return yield* tx.rows(RUN).get(
    `${SELECT_RUN} WHERE r.schedule_mode <> 'background' AND r.opened_session = 1 AND r.user_seq = ? AND r.key_seq = ?
       AND r.target = ? AND r.idempotency_key = ?`,
    user.seq,
    key.seq,
    target,
    idempotencyKey,
  );
}
