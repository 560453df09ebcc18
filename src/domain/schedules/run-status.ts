// The status of a run of a scheduled task (I1, I7).

/** `stopped` is a canceled run; `failed` is any other that has no valid result. */
export const TASK_RUN_STATUSES = ['pending', 'running', 'completed', 'failed', 'stopped'] as const;
export type TaskRunStatus = (typeof TASK_RUN_STATUSES)[number];
