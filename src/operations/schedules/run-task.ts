// Fires a scheduled task on request, in addition to its times.
import { MB } from '../../domain/byte-units.ts';
import { ErrandError, notFound } from '../../domain/errors.ts';
import { overUserQuota } from '../../domain/people/user-quota.ts';
import type { Caller } from '../../domain/people/user.ts';
import type { Firing } from '../../domain/schedules/task.ts';
import type { Settings } from '../../domain/settings.ts';
import type { WorkerNodes } from '../../execution/queue/node.ts';
import type { Disk } from '../../files/disk.ts';
import type { Store } from '../../store/open-store.ts';
import type { FireRefusal, FireResult } from '../../store/schedules/fire.ts';
import type { Access } from '../access.ts';
import type { Audit } from '../audit/audit.ts';
import type { MakeSetup } from '../turns/accepting/session-setup.ts';

export interface RunTaskParts {
  readonly store: Pick<Store, 'schedules'>;
  readonly access: Pick<Access, 'scheduledTask'>;
  readonly audit: Pick<Audit, 'change'>;
  readonly node: Pick<WorkerNodes, 'onlineCapacity'>;
  readonly disk: Pick<Disk, 'shortage'>;
  readonly makeSetup: MakeSetup;
  settings(): Settings;
  /** Whether new runs are refused because the daemon is shutting down. */
  closing(): boolean;
}

/**
 * Makes the verb. A disabled task can be fired. Throws as `Access.scheduledTask` does; `conflict` when an earlier firing is in the
 * way or the owner is disabled, `too_large` when the owner is over the quota of space, `rate_limited` and `unavailable` as for background runs (D2).
 */
export function makeRunTask({ store, access, audit, ...parts }: RunTaskParts) {
  return async (caller: Caller, id: string): Promise<Firing> => {
    if (parts.closing()) throw new ErrandError('unavailable', 'The server is restarting.');
    const shortage = parts.disk.shortage();
    if (shortage !== null) throw new ErrandError('unavailable', shortage.words);
    const task = await access.scheduledTask(caller, id);
    const setup = await parts.makeSetup({ target: task.target, capabilityConfig: {}, userSeq: task.userSeq });
    const { background, workspace } = parts.settings();
    const { maxUnfinishedPerUser } = background;
    const userQuotaBytes = workspace.userQuotaMb * MB;
    const limits = { maxUnfinishedPerUser, userQuotaBytes, capacity: parts.node.onlineCapacity() };
    const note = audit.change(caller, 'scheduled_task.run', ({ kind }: FireResult) =>
      kind === 'fired' ? { id: task.id } : undefined,
    );
    const result = await store.schedules.fireNow(task, { setup, limits }, note);
    if (result.kind === 'over_quota') throw overUserQuota(result.usedBytes, userQuotaBytes);
    if (result.kind !== 'fired') throw REFUSALS[result.kind]();
    return result.firing;
  };
}

const REFUSALS: Readonly<Record<FireRefusal, () => ErrandError>> = {
  gone: () => notFound('Scheduled task'),
  owner_disabled: () => new ErrandError('conflict', 'The owner of the task is disabled.'),
  busy: () => new ErrandError('conflict', 'An earlier firing of the task has not ended.'),
  full: () => new ErrandError('conflict', 'Too many firings of the task are waiting already.'),
  user_limit: () => new ErrandError('rate_limited', 'The owner has too many unfinished background runs.'),
  no_capacity: () => new ErrandError('unavailable', 'No worker is there to execute background runs.'),
  queue_full: () => new ErrandError('unavailable', 'The queue of background runs is full.'),
};
