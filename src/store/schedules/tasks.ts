// Scheduled tasks: what their owners define (I1, I5, I8).
import { ErrandError, notFound } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import type { Listing, Page } from '../../domain/listing.ts';
import { PORTION_BYTES } from '../../domain/portions.ts';
import { type ScheduledTask, TASK_LIMITS } from '../../domain/schedules/task.ts';
import { makeAuditedWrite, type Note } from '../audit/record-entry.ts';
import { type Database, FREES } from '../engine/database.ts';
import type { Reader, Step, Transaction, Value } from '../engine/statement.ts';
import { stopIn } from '../lifecycle/stop-runs.ts';
import { conditions, type ListQuery, readPage } from '../engine/lists.ts';
import { dropPlansIn, nextFiringOf, setNextIn, type TaskRecord, TASK, TASKS } from '../firings/task-rows.ts';

type Configuration = Pick<ScheduledTask, 'name' | 'cron' | 'timezone' | 'target' | 'projectId' | 'enabled' | 'overlap'>;

/** What a task does. */
export type TaskWork = Pick<ScheduledTask, 'prompt' | 'steps'>;

/** The cron expression and the time zone have no fault, and the limits are kept. */
export interface NewTask extends Configuration, Pick<ScheduledTask, 'userSeq'> {
  readonly work: TaskWork;
}

export interface TaskChanges extends Partial<Configuration> {
  /** Made of what the task does when it is changed, as another change may come first. */
  readonly work?: (before: TaskWork) => TaskWork;
}

/** Null leaves a filter out. */
export interface TaskFilter extends Page {
  readonly userSeq: number | null;
  /** Exactly. */
  readonly name: string | null;
  readonly enabled: boolean | null;
}

const COLUMNS = {
  name: 'name',
  cron: 'cron',
  timezone: 'timezone',
  target: 'target',
  projectId: 'project_id',
  enabled: 'enabled',
  overlap: 'overlap',
} as const satisfies Record<keyof Configuration, string>;

/** The verbs. Deleted tasks are not there. */
export function makeTasks(database: Database) {
  const { read } = database;
  const auditedWrite = makeAuditedWrite(database);
  let announce: () => void = () => undefined;

  async function changing(
    note: Note<TaskRecord> | undefined,
    verb: (tx: Transaction) => Step<TaskRecord>,
  ): Promise<TaskRecord> {
    const task = await auditedWrite(note, verb);
    announce();
    return task;
  }

  return {
    /** Calls a listener after each commit that may have changed when a task fires next; there is one at a time. */
    onRescheduled: (listener: () => void): void => {
      announce = listener;
    },

    /** Throws `conflict` when the owner has as many as they may have. */
    create: (task: NewTask, note?: Note<TaskRecord>): Promise<TaskRecord> => changing(note, (tx) => createIn(tx, task)),

    /** Undefined for an unknown or deleted one. */
    find: read(function* (tx: Reader, id: string): Step<TaskRecord | undefined> {
      return yield* tx.rows(TASK).get(`${TASKS} WHERE task.id = ? AND task.deleted_at IS NULL`, id);
    }),

    /** A page in order of creation; shorter than its limit where their prompts are long, but never empty before the end. */
    list: read(function* (tx: Reader, { userSeq, name, enabled, ...page }: TaskFilter) {
      const where = conditions(['task.deleted_at IS NULL'], {
        'task.user_seq = ?': userSeq,
        'task.name = ?': name,
        'task.enabled = ?': enabled === null ? null : Number(enabled),
      });
      const list = { rows: TASK, from: 'scheduled_tasks task', select: TASKS, order: 'task.seq', ...where };
      const limit = yield* countFitting(tx, list, page);
      return (yield* readPage(tx, list, { ...page, limit })) satisfies Listing<TaskRecord>;
    }),

    /**
     * Changes what is given. A new cron expression or time zone applies from now on, other changes from the next firing on.
     * Disabling drops the firings that have not begun. Throws `not_found`.
     */
    change: (id: string, changes: TaskChanges, note?: Note<TaskRecord>): Promise<TaskRecord> =>
      changing(note, (tx) => changeIn(tx, id, changes)),

    /**
     * Gives it to another user, with whose rights and budget it fires from now on; firings that have not begun are dropped. Throws
     * `not_found`, also when its owner is another one meanwhile, and `conflict` when that user has as many as they may have.
     */
    handOver: (
      id: string,
      owners: { readonly from: number; readonly to: number },
      note?: Note<TaskRecord>,
    ): Promise<TaskRecord> => changing(note, (tx) => handOverIn(tx, id, owners)),

    /**
     * Hides it at once, and drops the firings that have not begun; one that has continues. `owner`: theirs only. Throws `not_found`.
     */
    remove: (id: string, note?: Note<TaskRecord>, owner: number | null = null): Promise<TaskRecord> =>
      auditedWrite(
        note,
        function* (tx) {
          const task = yield* getIn(tx, id, owner);
          yield* tx.run(
            `UPDATE scheduled_tasks SET enabled = 0, next_fire_at = NULL, look_at = NULL, deleted_at = ? WHERE seq = ?`,
            tx.now,
            task.seq,
          );
          yield* dropWaitingIn(tx, task.seq);
          yield* dropPlansIn(tx, task.seq);
          return task;
        },
        FREES,
      ),
  };
}

const SIZES = `SELECT octet_length(p.steps) + coalesce(octet_length(p.prompt), 0) AS bytes FROM scheduled_tasks task
  JOIN task_plans p ON p.seq = (SELECT max(seq) FROM task_plans WHERE task_seq = task.seq)`;

/** How many tasks of a page can be read together. Sizes are read without the texts. */
function* countFitting(
  tx: Reader,
  { where, values, order }: ListQuery<TaskRecord>,
  { limit, offset }: Page,
): Step<number> {
  const sizes = yield* tx.all<{ bytes: number }>(
    `${SIZES} ${where} ORDER BY ${order} LIMIT ? OFFSET ?`,
    ...values,
    limit,
    offset,
  );
  let left = PORTION_BYTES;
  const over = sizes.findIndex(({ bytes }) => (left -= bytes) < 0);
  return over === -1 ? limit : Math.max(over, 1);
}

function* getIn(tx: Reader, id: string, owner: number | null = null): Step<TaskRecord> {
  const task = yield* tx.rows(TASK).get(`${TASKS} WHERE task.id = ? AND task.deleted_at IS NULL`, id);
  if (task === undefined || task.userSeq !== (owner ?? task.userSeq)) throw notFound('Scheduled task');
  return task;
}

function* handOverIn(
  tx: Transaction,
  id: string,
  { from, to }: { readonly from: number; readonly to: number },
): Step<TaskRecord> {
  const { seq, enabled, cron, timezone } = yield* getIn(tx, id, from);
  yield* requireRoomIn(tx, to);
  yield* dropWaitingIn(tx, seq);
  yield* tx.run('UPDATE scheduled_tasks SET user_seq = ?, updated_at = ? WHERE seq = ?', to, tx.now, seq);
  // What it missed while its owner was disabled isn't made up for.
  if (enabled) yield* setNextIn(tx, seq, nextFiringOf({ cron, timezone }, tx.now));
  return yield* getIn(tx, id);
}

function* requireRoomIn(tx: Reader, userSeq: number): Step<void> {
  const { count } = (yield* tx.get<{ count: number }>(
    'SELECT count(*) AS count FROM scheduled_tasks WHERE user_seq = ? AND deleted_at IS NULL',
    userSeq,
  ))!;
  if (count >= TASK_LIMITS.perOwner)
    throw new ErrandError('conflict', `The owner already has ${count} scheduled tasks, which is the maximum.`);
}

function* createIn(tx: Transaction, { userSeq, work, ...configuration }: NewTask): Step<TaskRecord> {
  yield* requireRoomIn(tx, userSeq);
  const id = newId(tx.now);
  const given = Object.entries(configuration) as [keyof Configuration, unknown][];
  const seq = yield* tx.insert(
    `INSERT INTO scheduled_tasks (id, user_seq, counted_at, created_at, updated_at,
       ${given.map(([name]) => COLUMNS[name]).join(', ')}) VALUES (?, ?, ?, ?, ?, ${given.map(() => '?').join(', ')})`,
    id,
    userSeq,
    tx.now,
    tx.now,
    tx.now,
    ...given.map(([, value]) => stored(value)),
  );
  yield* insertPlan(tx, seq, work);
  if (configuration.enabled) yield* setNextIn(tx, seq, nextFiringOf(configuration, tx.now));
  return yield* getIn(tx, id);
}

function* insertPlan(tx: Transaction, taskSeq: number, { prompt, steps }: TaskWork): Step<void> {
  yield* tx.run(
    'INSERT INTO task_plans (task_seq, prompt, steps) VALUES (?, ?, ?)',
    taskSeq,
    prompt,
    JSON.stringify(steps.map(({ id, prompt }) => ({ id, prompt }))),
  );
}

/** What decides when a task fires. */
const TIMES = ['cron', 'timezone', 'enabled'] as const satisfies readonly (keyof Configuration)[];

function* changeIn(tx: Transaction, id: string, { work, ...changes }: TaskChanges): Step<TaskRecord> {
  const before = yield* getIn(tx, id);
  const { seq } = before;
  const newWork = work?.(before);
  const given = Object.entries(changes) as [keyof Configuration, unknown][];
  const { enabled, cron, timezone } = { ...before, ...changes };
  if (!enabled) yield* setNextIn(tx, seq, null);
  for (const [name, value] of given)
    yield* tx.run(`UPDATE scheduled_tasks SET ${COLUMNS[name]} = ? WHERE seq = ?`, stored(value), seq);
  if (newWork !== undefined) {
    yield* insertPlan(tx, seq, newWork);
    yield* dropPlansIn(tx, seq);
  }
  const isMoved = TIMES.some((name) => changes[name] !== undefined && changes[name] !== before[name]);
  if (enabled && isMoved) yield* setNextIn(tx, seq, nextFiringOf({ cron, timezone }, tx.now));
  if (!enabled && before.enabled) yield* dropWaitingIn(tx, seq);
  yield* tx.run('UPDATE scheduled_tasks SET updated_at = ? WHERE seq = ?', tx.now, seq);
  return yield* getIn(tx, id);
}

function stored(value: unknown): Value {
  return typeof value === 'boolean' ? Number(value) : (value as Value);
}

/** Stops the firings that have not begun (I8), the newest first, so that none of them becomes ready only to be stopped. */
function* dropWaitingIn(tx: Transaction, taskSeq: number): Step<void> {
  const waiting = yield* tx.all<{ sessionSeq: number; runSeq: number }>(
    `SELECT session_seq, run_seq FROM firings
     WHERE task_seq = ? AND ended_at IS NULL AND status = 'pending' ORDER BY id DESC`,
    taskSeq,
  );
  // Nobody stopped a conversation: webhooks hear of the firing only.
  for (const place of waiting) yield* stopIn(tx, { ...place, announced: false }, 'operator_requested_stop');
}
