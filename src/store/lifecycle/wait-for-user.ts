// A run that waits for its user: without a worker, a lease or a slot, until its question is answered or expires (I2).
import { newId } from '../../domain/ids.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { UserInputStatus } from '../../domain/sessions/user-input.ts';
import type { Database } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { type Fence, holds, type Progress } from '../runs/fence.ts';
import { noteWork } from '../runs/work-time.ts';

/** The call that asks, and how long its answer may take. */
export interface NewQuestion {
  readonly toolUseId: string;
  readonly toolName: string;
  readonly toolInput: JsonObject;
  readonly lifetimeMs: number;
}

/** A run and its session. */
type RunRef = Omit<Fence, 'attempt'>;

interface QuestionRow {
  status: UserInputStatus;
}

/** The verb that makes a run wait. */
export function makeWaitForUser({ write }: Database) {
  return {
    /**
     * running → waiting. A question that a resumed run asks again is the same question; when it has been settled meanwhile,
     * the run returns to the queue at once. Returns false when the attempt no longer holds the run.
     */
    waitForUser: write(function* (tx: Transaction, fence: Progress, question: NewQuestion): Step<boolean> {
      if (!(yield* holds(tx, fence))) return false;
      yield* noteWork(tx, fence);
      const asked = (yield* findQuestion(tx, fence, question.toolUseId)) ?? (yield* ask(tx, fence, question));
      yield* tx.run(
        "UPDATE runs SET status = 'waiting', lease_until = NULL WHERE seq = ? AND status = 'running'",
        fence.runSeq,
      );
      if (asked.status === 'pending') return true;
      yield* continueRun(tx, fence);
      const { resumes } = (yield* tx.get<{ resumes: number }>('SELECT resumes FROM runs WHERE seq = ?', fence.runSeq))!;
      tx.emit(fence.sessionSeq, fence.runSeq, { type: 'run.resumed', payload: { resumes } });
      return true;
    }),
  };
}

function* findQuestion(tx: Transaction, fence: Fence, toolUseId: string): Step<QuestionRow | undefined> {
  return yield* tx.get<QuestionRow>(
    'SELECT status FROM user_inputs WHERE run_seq = ? AND tool_use_id = ?',
    fence.runSeq,
    toolUseId,
  );
}

function* ask(tx: Transaction, fence: Fence, question: NewQuestion): Step<QuestionRow> {
  const requestId = newId(tx.now);
  const { toolUseId, toolName } = question;
  const expiresAt = tx.now + question.lifetimeMs;
  yield* tx.run(
    `INSERT INTO user_inputs (id, session_seq, run_seq, user_seq, tool_use_id, tool_name, tool_input, status, created_at,
       expires_at) SELECT ?, session_seq, seq, user_seq, ?, ?, ?, 'pending', ?, ? FROM runs WHERE seq = ?`,
    requestId,
    toolUseId,
    toolName,
    JSON.stringify(question.toolInput),
    tx.now,
    expiresAt,
    fence.runSeq,
  );
  const payload = { requestId, toolUseId, toolName, expiresAt };
  tx.emit(fence.sessionSeq, fence.runSeq, { type: 'user_input.requested', payload });
  return { status: 'pending' };
}

/** waiting → queued: the run may be claimed again. */
export function* continueRun(tx: Transaction, { sessionSeq, runSeq }: RunRef): Step<void> {
  const moved = yield* tx.count(
    "UPDATE runs SET status = 'queued', ready = 1, ready_at = ? WHERE seq = ? AND status = 'waiting'",
    tx.now,
    runSeq,
  );
  if (moved > 0)
    yield* tx.run("UPDATE sessions SET status = 'pending', updated_at = ? WHERE seq = ?", tx.now, sessionSeq);
}

/** Expires the questions of a run that ends. Returns how many. */
export function* expireOfRun(tx: Transaction, { sessionSeq, runSeq }: RunRef): Step<number> {
  const expired = yield* tx.all<{ requestId: string; toolUseId: string; toolName: string; expiresAt: number }>(
    `UPDATE user_inputs SET status = 'expired' WHERE run_seq = ? AND status = 'pending'
     RETURNING id AS requestId, tool_use_id, tool_name, expires_at`,
    runSeq,
  );
  for (const payload of expired) tx.emit(sessionSeq, runSeq, { type: 'user_input.expired', payload });
  return expired.length;
}
