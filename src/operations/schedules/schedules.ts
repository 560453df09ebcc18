// Scheduled tasks (I5): everyone has their own; an administrator reaches everybody's.
import type { Definitions } from '../../catalog/definitions.ts';
import type { LookUp } from '../../domain/capabilities/look-up.ts';
import type { Clock } from '../../domain/clock.ts';
import { ErrandError, unprocessable } from '../../domain/errors.ts';
import type { Listing, Page } from '../../domain/listing.ts';
import { type Caller, ownerOf as chargedTo } from '../../domain/people/user.ts';
import { cronFault } from '../../domain/schedules/firing-times.ts';
import type { Firing, ScheduledTask } from '../../domain/schedules/task.ts';
import type { Slices } from '../../domain/loop/slices.ts';
import type { Store } from '../../store/open-store.ts';
import type { TaskRecord } from '../../store/firings/task-rows.ts';
import { scopeOf } from '../access.ts';
import { type Audit, itself } from '../audit/audit.ts';
import type { AuditedAccess } from '../audited-access.ts';
import { checkTarget } from '../capabilities/check-target.ts';
import { makeNextFirings } from './next-firings.ts';
import { makeRunTask, type RunTaskParts } from './run-task.ts';
import { changedWork, changeOfWork, type WantedWork } from './task-steps.ts';

/** A task with the times at which it fires next, in epoch ms. None while it is disabled. */
export interface TaskView extends TaskRecord {
  readonly nextFirings: readonly number[];
}

/** What can be said of a task; an absent field stays as it is, or gets its default. */
export interface TaskInput
  extends WantedWork,
    Partial<Pick<ScheduledTask, 'name' | 'cron' | 'timezone' | 'target' | 'projectId' | 'enabled' | 'overlap'>> {}

export interface NewTaskInput extends Omit<TaskInput, 'name' | 'cron'>, Pick<ScheduledTask, 'name' | 'cron'> {
  /** The owner's name or id, where an administrator makes it for another. */
  readonly user: string | null;
}

/** Null leaves a filter out. `user` is a name or an id. */
export interface TaskQuery extends Page {
  readonly user: string | null;
  readonly name: string | null;
  readonly enabled: boolean | null;
}

export interface ScheduleOperationParts extends RunTaskParts {
  readonly store: Pick<Store, 'schedules' | 'users'>;
  readonly auditedAccess: Pick<AuditedAccess, 'scheduledTask'>;
  readonly audit: Pick<Audit, 'change'>;
  readonly clock: Clock;
  readonly slices: Slices;
  definitions(): Definitions;
  readonly lookUp: LookUp;
}

/** The verbs. Those that take an id throw as `Access.scheduledTask` does; `unprocessable` names the field at fault. */
export function makeScheduleOperations(parts: ScheduleOperationParts) {
  const { store, access, auditedAccess, audit, clock, slices } = parts;
  const nextFiringsOf = makeNextFirings();
  const viewOf = (task: TaskRecord): TaskView => ({ ...task, nextFirings: nextFiringsOf(task, clock.now()) });

  return {
    /** The tasks within the caller's reach, the oldest first. */
    listScheduledTasks: async (caller: Caller, { user, ...query }: TaskQuery): Promise<Listing<TaskView>> => {
      const found = await store.schedules.list({ ...query, userSeq: await ownersOf(store, caller, user) });
      const pause = slices.of(chargedTo(caller));
      const items: TaskView[] = [];
      for (const task of found.items) {
        items.push(viewOf(task));
        await pause();
      }
      return { items, total: found.total };
    },

    getScheduledTask: async (caller: Caller, id: string): Promise<TaskView> =>
      viewOf(await auditedAccess.scheduledTask(caller, id)),

    /** Creates a task that fires from the next time on. Throws `conflict` when its owner has too many. */
    createScheduledTask: async (caller: Caller, input: NewTaskInput): Promise<TaskView> => {
      const userSeq = await ownerOf(store, caller, input.user);
      const task = {
        userSeq,
        name: input.name,
        cron: input.cron,
        timezone: input.timezone ?? 'UTC',
        target: input.target ?? 'free',
        projectId: input.projectId ?? null,
        enabled: input.enabled ?? true,
        overlap: input.overlap ?? 'skip',
        work: changedWork(null, input),
      };
      checkTimes(task, clock.now());
      await checkTarget(task.target, parts);
      const note = audit.change(caller, 'scheduled_task.create', itself);
      return viewOf(await store.schedules.create(task, note));
    },

    /** A firing that has begun keeps what it began with. */
    changeScheduledTask: async (caller: Caller, id: string, input: TaskInput): Promise<TaskView> => {
      const before = await access.scheduledTask(caller, id);
      const { prompt: _prompt, steps: _steps, ...changes } = input;
      if (changes.cron !== undefined || changes.timezone !== undefined)
        checkTimes({ ...before, ...changes }, clock.now());
      if (changes.target !== undefined) await checkTarget(changes.target, parts);
      const note = audit.change(caller, 'scheduled_task.change', itself);
      return viewOf(await store.schedules.change(before.id, { ...changes, ...changeOfWork(input) }, note));
    },

    /** What runs continues; what waits is dropped (I8). */
    deleteScheduledTask: async (caller: Caller, id: string): Promise<TaskRecord> => {
      const task = await access.scheduledTask(caller, id);
      await store.schedules.remove(task.id, audit.change(caller, 'scheduled_task.delete', itself));
      return task;
    },

    runScheduledTask: makeRunTask(parts),

    /** The firings of a task, the newest first. */
    listFirings: async (caller: Caller, id: string, page: Page): Promise<Listing<Firing>> => {
      const task = await auditedAccess.scheduledTask(caller, id);
      return store.schedules.listFirings(task.seq, page);
    },
  };
}

function checkTimes({ cron, timezone }: Pick<ScheduledTask, 'cron' | 'timezone'>, now: number): void {
  const fault = cronFault(cron, timezone, now);
  if (fault !== null) throw unprocessable(fault.at, fault.mustBe);
}

/** Whose task it becomes: a user's `seq`. */
async function ownerOf({ users }: Pick<Store, 'users'>, caller: Caller, user: string | null): Promise<number> {
  if (user !== null) {
    requireAdministrator(caller);
    return (await users.get(user)).seq;
  }
  if (caller.kind === 'operator') throw unprocessable('user', 'must name the owner: the operator has no sessions');
  return caller.user.seq;
}

/** Whose tasks are listed: a user's `seq`, or null for those of all. */
async function ownersOf(store: Pick<Store, 'users'>, caller: Caller, user: string | null): Promise<number | null> {
  return user === null ? scopeOf(caller).userSeq : ownerOf(store, caller, user);
}

function requireAdministrator(caller: Caller): void {
  if (caller.reach !== 'all')
    throw new ErrandError('forbidden', 'Only administrators reach the scheduled tasks of others.');
}
