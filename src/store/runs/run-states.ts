// The states of a run in SQL. Partial indexes have the same conditions, written out in the schema.
import {
  EXECUTING,
  FAILED,
  RUN_STATES,
  type RunState,
  type RunStatus,
  reportedStatus,
} from '../../domain/sessions/run.ts';

/** Whether a column is one of some states. */
export function isIn(column: string, states: readonly RunState[]): string {
  return `${column} IN (${states.map((state) => `'${state}'`).join(', ')})`;
}

/** Conditions on runs, each matching a partial index. A run has an end exactly when its state is one of `ENDED`. */
export const IS_UNFINISHED = 'finished_at IS NULL';
export const IS_ENDED = 'finished_at IS NOT NULL';
export const IS_EXECUTING = isIn('status', EXECUTING);
export const HAS_FAILED = isIn('status', FAILED);

/** Whether a run `r` is reported with a status. */
export function isReportedAs(status: RunStatus): string {
  return isIn(
    'r.status',
    RUN_STATES.filter((state) => reportedStatus(state) === status),
  );
}

/** What is set when a run may be claimed from now on, which is its value; one that may be already stays as it is. */
export const NOW_READY = 'ready_at = CASE WHEN ready = 1 THEN ready_at ELSE ? END, ready = 1';

/** Conditions on `schedule_mode`, as in the indexes: background work leaves slots to the runs that somebody waits for (C6, I6). */
export const IS_BACKGROUND_WORK = "schedule_mode IN ('background', 'scheduled')";
export const IS_AWAITED = "schedule_mode NOT IN ('background', 'scheduled')";
