// Firings: each is inserted with its session, its first run and the task's next time in one commit (I1, I9).
import { type Firing, type ScheduledTask, TASK_LIMITS } from '../../domain/schedules/task.ts';
import type { SessionSetup } from '../../domain/sessions/session.ts';
import { makeAuditedWrite, type Note } from '../audit/record-entry.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { admitOfUser, type BackgroundLimits, PLACES_PER_SLOT, type UserRefusal } from '../runs/admit-background.ts';
import { insertSession } from '../sessions/insert-session.ts';
import { findOverQuota } from '../sessions/workspace-space.ts';
import { insertStepRun } from '../firings/step-run.ts';
import { getPlan, NEWEST_PLAN, nextFiringOf, setNextIn } from '../firings/task-rows.ts';

export interface FiringLimits extends Pick<BackgroundLimits, 'maxUnfinishedPerUser' | 'capacity'> {
  /** The space that workspaces of the owner may take; 0 for any. */
  readonly userQuotaBytes: number;
}

/** A task whose time has come, and what its session needs. */
export interface DueTask extends Pick<ScheduledTask, 'seq' | 'id' | 'userSeq' | 'target'> {
  readonly dueAt: number;
}

/** A due task with the setup of its session, and for how long its owner's tasks are put off while they are over their limit. */
export interface DueFiring extends Pick<DueTask, 'seq' | 'dueAt'> {
  readonly setup: SessionSetup;
  readonly putOffMs: number;
}

/** What became of due tasks. `putOff` counts owners. `full`: no more may be queued in all, and the rest is still due. */
export interface FiringReport {
  readonly fired: number;
  readonly skipped: number;
  readonly putOff: number;
  readonly full: boolean;
}

/**
 * Why a task isn't fired on request: it is deleted, or its owner is disabled; an earlier firing is unfinished (overlap
 * `skip`), or too many wait (overlap `queue`); or the limits of background work.
 */
export type FireRefusal = 'gone' | 'owner_disabled' | 'busy' | 'full' | UserRefusal;

export type FireResult =
  | { readonly kind: 'fired'; readonly firing: Firing }
  | { readonly kind: 'over_quota'; readonly usedBytes: number }
  | { readonly kind: FireRefusal };

/** Added to the time for which tasks are put off while their owner is over the quota of space. */
const OVER_QUOTA_MS = 58_000;

/** A task with the columns that its firing needs. */
type TaskRow = Omit<ScheduledTask, 'enabled' | 'prompt' | 'steps' | 'lastStatus'>;
type FiringRow = TaskRow & { readonly disabled: number };

// All of an owner's at once, in the order of their times: while each returned on its own, thousands cost hundreds of commits a
// second. A millisecond keeps each in its place.
const PUT_OFF = `UPDATE scheduled_tasks SET look_at = ? + due.place - 1
  FROM (SELECT seq, row_number() OVER (ORDER BY next_fire_at, seq) AS place FROM scheduled_tasks
    WHERE user_seq = ? AND enabled = 1 AND look_at <= ?) AS due
  WHERE scheduled_tasks.seq = due.seq`;

const TASK = `SELECT t.*, u.disabled FROM scheduled_tasks t JOIN users u ON u.seq = t.user_seq
  WHERE t.seq = ? AND t.deleted_at IS NULL`;

/** The verbs that fire tasks. */
export function makeFire(database: Database) {
  const { write, read } = database;
  const auditedWrite = makeAuditedWrite(database);
  return {
    /**
     * When the first task is to be looked at; undefined when none is. `isBehind`: the clock was put back behind the moment at
     * which some time was computed.
     */
    nextLook: read(function* (tx: Reader, now: number): Step<{ at: number; isBehind: boolean } | undefined> {
      const first = yield* tx.get<{ at: number }>(
        'SELECT look_at AS at FROM scheduled_tasks WHERE look_at IS NOT NULL ORDER BY look_at LIMIT 1',
      );
      if (first === undefined) return undefined;
      const last = yield* tx.get<{ at: number }>(
        'SELECT counted_at AS at FROM scheduled_tasks WHERE look_at IS NOT NULL ORDER BY counted_at DESC LIMIT 1',
      );
      return { at: first.at, isBehind: last!.at > now };
    }),

    /** Computes the times anew that were computed by a clock that was ahead: some at a time. */
    recount: write(function* (tx: Transaction, limit: number): Step<void> {
      const rows = yield* tx.all<Pick<ScheduledTask, 'seq' | 'cron' | 'timezone'>>(
        `SELECT seq, cron, timezone FROM scheduled_tasks WHERE look_at IS NOT NULL AND counted_at > ?
         ORDER BY counted_at DESC LIMIT ?`,
        tx.now,
        limit,
      );
      for (const row of rows) yield* setNextIn(tx, row.seq, nextFiringOf(row, tx.now));
    }),

    /** Tasks that are due, in order. */
    listDue: read(function* (tx: Reader, now: number, limit: number): Step<DueTask[]> {
      return yield* tx.all<DueTask>(
        `SELECT seq, id, user_seq, target, next_fire_at AS dueAt FROM scheduled_tasks
         WHERE look_at IS NOT NULL AND look_at <= ? ORDER BY look_at, seq LIMIT ?`,
        now,
        limit,
      );
    }),

    /** Puts off a due task that can't be fired. */
    putOff: write(function* (tx: Transaction, seq: number, forMs: number): Step<void> {
      yield* tx.run(
        'UPDATE scheduled_tasks SET look_at = ? WHERE seq = ? AND look_at IS NOT NULL',
        tx.now + forMs,
        seq,
      );
    }),

    /** Fires due tasks in one commit. One that was changed since it was listed is left as it is. */
    fireDue: write(function* (tx: Transaction, due: readonly DueFiring[], limits: FiringLimits): Step<FiringReport> {
      const count = { fired: 0, skipped: 0, putOff: 0 };
      for (const one of due) {
        const outcome = yield* fireDueIn(tx, one, limits);
        if (outcome === 'full') return { ...count, full: true };
        if (outcome !== null) count[outcome] += 1;
      }
      return { ...count, full: false };
    }),

    /** Fires a task on request. */
    fireNow: (
      task: Pick<ScheduledTask, 'seq'>,
      order: { readonly setup: SessionSetup; readonly limits: FiringLimits },
      note?: Note<FireResult>,
    ): Promise<FireResult> => auditedWrite(note, (tx) => fireNowIn(tx, task.seq, order)),
  };
}

function* fireDueIn(
  tx: Transaction,
  { seq, dueAt, setup, putOffMs }: DueFiring,
  limits: FiringLimits,
): Step<'fired' | 'skipped' | 'putOff' | 'full' | null> {
  const task = yield* tx.get<FiringRow>(`${TASK} AND t.next_fire_at = ? AND t.look_at <= ?`, seq, dueAt, tx.now);
  if (task === undefined) return null;
  const moveOn = () => setNextIn(tx, seq, nextFiringOf(task, Math.max(tx.now, dueAt)));
  if (task.disabled === 1 || (yield* hasFired(tx, seq, dueAt))) {
    yield* moveOn();
    return null;
  }
  const { waits, refusal } = yield* findOverlap(tx, task);
  if (refusal !== undefined) {
    yield* moveOn();
    yield* tx.run('UPDATE scheduled_tasks SET last_skipped_at = ? WHERE seq = ?', tx.now, seq);
    return 'skipped';
  }
  // Nobody's tasks may fill the queue alone when many are due at a time.
  const share = Math.max(1, Math.floor((PLACES_PER_SLOT * limits.capacity) / 2));
  const maxUnfinishedPerUser = Math.min(limits.maxUnfinishedPerUser, share);
  const refused = yield* admitOfUser(tx, task.userSeq, { ...limits, maxUnfinishedPerUser });
  const isOverQuota = (yield* findOverQuota(tx, task.userSeq, limits.userQuotaBytes)) !== undefined;
  if (isOverQuota || refused === 'user_limit') {
    const forMs = isOverQuota ? OVER_QUOTA_MS + putOffMs : putOffMs;
    yield* tx.run(PUT_OFF, tx.now + forMs, task.userSeq, tx.now + TASK_LIMITS.perOwner);
    return 'putOff';
  }
  if (refused !== undefined) return 'full';
  yield* moveOn();
  yield* insertFiring(tx, task, { trigger: 'clock', dueAt, setup, ready: !waits });
  return 'fired';
}

function* fireNowIn(
  tx: Transaction,
  taskSeq: number,
  { setup, limits }: { readonly setup: SessionSetup; readonly limits: FiringLimits },
): Step<FireResult> {
  const task = yield* tx.get<FiringRow>(TASK, taskSeq);
  if (task === undefined) return { kind: 'gone' };
  if (task.disabled === 1) return { kind: 'owner_disabled' };
  const usedBytes = yield* findOverQuota(tx, task.userSeq, limits.userQuotaBytes);
  if (usedBytes !== undefined) return { kind: 'over_quota', usedBytes };
  const { waits, refusal } = yield* findOverlap(tx, task);
  const kind = refusal ?? (yield* admitOfUser(tx, task.userSeq, limits));
  if (kind !== undefined) return { kind };
  const order = { trigger: 'manual', dueAt: tx.now, setup, ready: !waits } as const;
  return { kind: 'fired', firing: yield* insertFiring(tx, task, order) };
}

function* hasFired(tx: Reader, taskSeq: number, dueAt: number): Step<boolean> {
  const sql = "SELECT 1 FROM firings WHERE task_seq = ? AND due_at = ? AND trigger = 'clock'";
  return (yield* tx.get(sql, taskSeq, dueAt)) !== undefined;
}

/** Whether a new firing waits behind others, or why it can't. */
function* findOverlap(tx: Reader, task: TaskRow): Step<{ waits: boolean; refusal?: 'busy' | 'full' }> {
  const { unfinished } = (yield* tx.get<{ unfinished: number }>(
    'SELECT count(*) AS unfinished FROM firings WHERE task_seq = ? AND ended_at IS NULL',
    task.seq,
  ))!;
  if (unfinished === 0) return { waits: false };
  if (task.overlap === 'skip') return { waits: true, refusal: 'busy' };
  return unfinished > TASK_LIMITS.queuedFirings ? { waits: true, refusal: 'full' } : { waits: true };
}

interface FiringInput extends Pick<Firing, 'trigger' | 'dueAt'> {
  readonly setup: SessionSetup;
  /** Whether its run may be claimed. */
  readonly ready: boolean;
}

function* insertFiring(tx: Transaction, task: TaskRow, { trigger, dueAt, setup, ready }: FiringInput): Step<Firing> {
  const plan = yield* getPlan(tx, NEWEST_PLAN, task.seq);
  const session = yield* insertSession(tx, {
    workspaceNode: null,
    userSeq: task.userSeq,
    keySeq: null,
    kind: 'scheduled',
    title: task.name,
    status: 'pending',
    projectId: task.projectId,
    setup,
  });
  const firing = { trigger, dueAt, status: 'pending', stepNo: 1, stepCount: plan.steps.length } as const;
  const id = yield* tx.insert(
    `INSERT INTO firings (task_seq, session_seq, plan_seq, trigger, due_at, status, step_no, step_count, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    task.seq,
    session.seq,
    plan.seq,
    trigger,
    dueAt,
    firing.status,
    firing.stepNo,
    firing.stepCount,
    tx.now,
  );
  const place = { task, firingId: id, session: { ...session, target: setup.target }, opensSession: true, ready };
  yield* insertStepRun(tx, place, plan, firing.stepNo);
  yield* tx.run('UPDATE scheduled_tasks SET last_fired_at = ? WHERE seq = ?', tx.now, task.seq);
  return { id, taskId: task.id, sessionId: session.id, ...firing, createdAt: tx.now, endedAt: null };
}
