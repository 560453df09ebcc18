// The rules of scheduled tasks: §3.5, and what the project decided where it is silent (I1, I5–I9).
import type { Rule } from './rule.ts';

export const RULES_OF_SCHEDULES: readonly Rule[] = [
  {
    id: '§3.5',
    text: 'scheduled_task.run_status_changed is sent whenever the status of a task’s run changes, with the previous one.',
    proofs: {},
    missing: 'each change of a run, once, in its order, across kill -9',
  },
  {
    id: '§6.5 scheduled_task.run_status_changed',
    text: 'Its body has the task, the run with previous_status and last_error, and the session.',
    proofs: {},
    missing: 'the body of a first change and of a failure, as delivered',
  },
  {
    id: 'I1 fields',
    text: 'A task has a name, a cron with its time zone, a prompt or steps, an owner, a target, a project, and what it does on overlap.',
    proofs: {},
    missing: 'the shape, and each field changed',
  },
  {
    id: 'I1 firings',
    text: 'Each firing makes a session of kind scheduled with a run per step; a failing step ends it.',
    proofs: {},
    missing: 'three steps in one session, one after another; a second that fails; one firing across kill -9',
  },
  {
    id: 'I1 downtime',
    text: 'Firings that were missed while the daemon was off become one.',
    proofs: {},
    missing: 'a daemon off for many firings, and over a clock change',
  },
  {
    id: 'I5 endpoints',
    text: 'Tasks are listed, created, read, changed, deleted and fired: one’s own by login token, everybody’s by an administrator.',
    proofs: {},
    missing: 'each endpoint with each credential',
  },
  {
    id: 'I5 replies',
    text: 'A reply has the next five firings, the last one and its status; without steps, the prompt is the one step.',
    proofs: {},
    missing: 'both, before and after a firing',
  },
  {
    id: 'I6',
    text: 'A scheduled session belongs to no key, which gets 404; its runs have schedule_mode scheduled and count with background runs of their user.',
    proofs: {},
    missing: 'a key of the owner at every endpoint of sessions and runs; Office Mode; the limit of the user',
  },
  {
    id: 'I7',
    text: 'The run of each step is reported from pending to running to completed, failed or stopped.',
    proofs: {},
    missing: 'the three ends, and a run that a crash interrupted',
  },
  {
    id: 'I8 cron',
    text: 'A cron has five fields: six are 422, and so is one that never fires.',
    proofs: {},
    missing: 'both, and zones that do not exist',
  },
  {
    id: 'I8 clock changes',
    text: 'Times that a clock change skips fire at the change; times that it repeats fire once.',
    proofs: {},
    missing: 'both in New York, Zurich and on Lord Howe',
  },
  {
    id: 'I8 disabled',
    text: 'A task that is disabled or deleted drops the firing that waits; one that runs continues.',
    proofs: {},
    missing: 'both, for a waiting and for a running one',
  },
  {
    id: 'I9 overlap',
    text: 'overlap is skip unless given; with queue, a firing has its session and pending run at its minute, also while it waits.',
    proofs: {},
    missing: 'both while a firing runs',
  },
  {
    id: 'I9 missed',
    text: 'A missed firing comes within 20 s of the start.',
    proofs: {},
    missing: 'when a missed firing is due, on a fake clock',
  },
];
