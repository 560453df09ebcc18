// The next firings of tasks, as they are shown: computed once for all who read them before the first has passed.
import { nextFirings } from '../../domain/schedules/firing-times.ts';
import type { ScheduledTask } from '../../domain/schedules/task.ts';

const SHOWN_FIRINGS = 5;
/** Rare times take up to 25 ms, and one list has hundreds of tasks. */
const MAX_KEPT = 10_000;

interface Kept {
  readonly after: number;
  readonly times: readonly number[];
}

/** Epoch ms; none while the task is disabled. */
export type NextFirings = (
  task: Pick<ScheduledTask, 'nextFireAt' | 'cron' | 'timezone'>,
  now: number,
) => readonly number[];

export function makeNextFirings(): NextFirings {
  const kept = new Map<string, Kept>();

  return ({ nextFireAt, cron, timezone }, now) => {
    if (nextFireAt === null) return [];
    const key = `${timezone} ${cron}`;
    const known = kept.get(key);
    if (known !== undefined && known.after <= now && now < (known.times[0] ?? 0)) return known.times;
    const times = nextFirings(cron, timezone, now, SHOWN_FIRINGS);
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(key, { after: now, times });
    return times;
  };
}
