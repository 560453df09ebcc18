// Questions to users: read, answered and expired. A settled one sends its run back to the queue in the same commit (I2).
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import type { UserInput, UserInputStatus } from '../../domain/sessions/user-input.ts';
import { makeAuditedWrite, type Note } from '../audit/record-entry.ts';
import { conditions, readPage } from '../engine/lists.ts';
import type { Database } from '../engine/database.ts';
import { json, plain, rowKind } from '../engine/row.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import type { Page } from '../../domain/listing.ts';
import { continueRun } from './wait-for-user.ts';

/** Null means no filter. */
export interface UserInputFilter extends Page {
  readonly userSeq: number | null;
  readonly keySeq: number | null;
  readonly sessionSeq: number | null;
  readonly status: UserInputStatus | null;
}

/** What became of one question of a run; `answers` is null unless it was answered. */
export interface SettledQuestion {
  readonly toolUseId: string;
  readonly status: Exclude<UserInputStatus, 'pending'>;
  readonly answers: JsonValue | null;
}

const USER_INPUT = rowKind<UserInput>({
  seq: plain,
  id: plain,
  sessionSeq: plain,
  sessionId: plain,
  runId: plain,
  userSeq: plain,
  userId: plain,
  username: plain,
  toolUseId: plain,
  toolName: plain,
  toolInput: json<JsonObject>,
  status: plain,
  answers: json<JsonValue | null>,
  createdAt: plain,
  expiresAt: plain,
  answeredAt: plain,
});

const SETTLED_QUESTION = rowKind<SettledQuestion>({ toolUseId: plain, status: plain, answers: json<JsonValue | null> });

interface PendingRow {
  requestId: string;
  sessionSeq: number;
  runSeq: number;
  toolUseId: string;
  toolName: string;
  expiresAt: number;
}

const SELECT = `SELECT q.*, s.id AS session_id, r.id AS run_id, u.id AS user_id, u.username FROM user_inputs q
  JOIN sessions s ON s.seq = q.session_seq JOIN runs r ON r.seq = q.run_seq JOIN users u ON u.seq = q.user_seq`;
const SETTLED = `RETURNING id AS requestId, session_seq, run_seq, tool_use_id,
  tool_name, expires_at`;

/** Maximum number expired in one commit: a long list must not delay other writers. */
const EXPIRE_AT_ONCE = 200;

/** The verbs on questions. Questions of deleted sessions are not found. */
export function makeUserInputs(database: Database) {
  return { ...makeReads(database), ...makeMoves(database) };
}

function makeReads({ read }: Database) {
  return {
    /** The question of an id, or undefined. */
    find: read(function* (tx: Reader, id: string): Step<UserInput | undefined> {
      return yield* tx.rows(USER_INPUT).get(`${SELECT} WHERE q.id = ? AND s.deleted_at IS NULL`, id);
    }),

    /** Questions, the newest first, and their total number. */
    list: read(function* (tx: Reader, { userSeq, keySeq, sessionSeq, status, ...page }: UserInputFilter) {
      const filters = conditions(['s.deleted_at IS NULL'], {
        'q.user_seq = ?': userSeq,
        's.key_seq = ?': keySeq,
        'q.session_seq = ?': sessionSeq,
        'q.status = ?': status,
      });
      const list = {
        rows: USER_INPUT,
        from: 'user_inputs q JOIN sessions s ON s.seq = q.session_seq',
        select: SELECT,
        order: 'q.seq DESC',
      };
      return yield* readPage(tx, { ...list, ...filters }, page);
    }),

    /** The settled questions of a run, answered or not. */
    listSettled: read(function* (tx: Reader, runSeq: number): Step<SettledQuestion[]> {
      const sql = "SELECT tool_use_id, status, answers FROM user_inputs WHERE run_seq = ? AND status <> 'pending'";
      return yield* tx.rows(SETTLED_QUESTION).all(sql, runSeq);
    }),

    /** When the next question expires; undefined when none is pending. */
    nextExpiryAt: read(function* (tx: Reader): Step<number | undefined> {
      return (yield* tx.get<{ expiresAt: number }>(
        "SELECT expires_at FROM user_inputs WHERE status = 'pending' ORDER BY expires_at LIMIT 1",
      ))?.expiresAt;
    }),
  };
}

function makeMoves(database: Database) {
  const { write } = database;
  const auditedWrite = makeAuditedWrite(database);
  return {
    /** pending → answered. Returns false when another move came first. */
    answer: (id: string, answers: JsonValue, note?: Note<boolean>): Promise<boolean> =>
      auditedWrite(note, function* (tx) {
        const row = yield* tx.get<PendingRow>(
          `UPDATE user_inputs SET status = 'answered', answers = ?, answered_at = ? WHERE id = ? AND status = 'pending'
           ${SETTLED}`,
          JSON.stringify(answers),
          tx.now,
          id,
        );
        if (row === undefined) return false;
        const { sessionSeq, runSeq, ...question } = row;
        tx.emit(sessionSeq, runSeq, { type: 'user_input.answered', payload: { ...question, answers } });
        yield* continueRun(tx, row);
        return true;
      }),

    /** pending → expired, before its time. Returns false when another move came first. */
    expire: (id: string, note?: Note<boolean>): Promise<boolean> =>
      auditedWrite(note, function* (tx) {
        const row = yield* tx.get<PendingRow>(
          `UPDATE user_inputs SET status = 'expired' WHERE id = ? AND status = 'pending' ${SETTLED}`,
          id,
        );
        if (row !== undefined) yield* emitExpired(tx, row);
        return row !== undefined;
      }),

    /** pending → expired for overdue questions, the oldest first and a limited number at once. Returns how many. */
    expireDue: write(function* (tx: Transaction): Step<number> {
      const rows = yield* tx.all<PendingRow>(
        `UPDATE user_inputs SET status = 'expired' WHERE status = 'pending' AND seq IN (
             SELECT seq FROM user_inputs WHERE status = 'pending' AND expires_at <= ? ORDER BY expires_at LIMIT ?)
           ${SETTLED}`,
        tx.now,
        EXPIRE_AT_ONCE,
      );
      for (const row of rows) yield* emitExpired(tx, row);
      return rows.length;
    }),
  };
}

function* emitExpired(tx: Transaction, row: PendingRow): Step<void> {
  const { sessionSeq, runSeq, ...payload } = row;
  tx.emit(sessionSeq, runSeq, { type: 'user_input.expired', payload });
  yield* continueRun(tx, row);
}
