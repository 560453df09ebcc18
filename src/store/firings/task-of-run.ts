// The scheduled task that a run belongs to, in SQL.

const OF_RUN =
  'FROM scheduled_runs x JOIN firings f ON f.id = x.firing_id JOIN scheduled_tasks t ON t.seq = f.task_seq';
const ofScheduled = (column: string) =>
  `CASE r.schedule_mode WHEN 'scheduled' THEN (SELECT ${column} ${OF_RUN} WHERE x.run_seq = r.seq) END`;

/** The id of the task of a run `r`, and that of its step; NULL for other runs, of which nothing is looked up. */
export const TASK_OF_RUN = ofScheduled('t.id');
export const STEP_OF_RUN = ofScheduled('x.step_id');
