// The rules of scheduled tasks: §3.5, and what the project decided where it is silent (I1, I5–I9).
import type { Rule } from './rule.ts';

const KILLED = 'times that were missed fire once, and every step runs once, through kill -9 and restarts';

export const RULES_OF_SCHEDULES: readonly Rule[] = [
  {
    id: '§3.5',
    text: 'scheduled_task.run_status_changed is sent whenever the status of a task’s run changes, with the previous one.',
    proofs: {
      'store/schedules/follow-runs.test.ts': [
        'steps run one after another in one session, and each is reported',
        'a crash between two moves neither repeats nor loses a step',
      ],
      'acceptance/schedules/each-minute.test.ts': [
        'a task of each minute fires, publishes and delivers its webhooks, across a crash of the daemon',
      ],
    },
  },
  {
    id: '§6.5 scheduled_task.run_status_changed',
    text: 'Its body has the task, the run with previous_status and last_error, and the session.',
    proofs: {
      'webhooks/bodies-of-results.test.ts': ['scheduled_task.run_status_changed, as a whole: %s after %s'],
    },
  },
  {
    id: 'I1 fields',
    text: 'A task has a name, a cron with its time zone, a prompt or steps, an owner, a target, a project, and what it does on overlap.',
    proofs: {
      'store/schedules/tasks.test.ts': ['a task is found with its next time, its owner and the one step of its prompt'],
      'http/schedules/new-tasks.test.ts': [
        'a new task has the documented defaults, and shows when it fires next',
        'everything that can be chosen is kept',
      ],
      'http/schedules/changed-tasks.test.ts': ['of %j changes that and nothing else'],
    },
  },
  {
    id: 'I1 firings',
    text: 'Each firing makes a session of kind scheduled with a run per step; a failing step ends it.',
    proofs: {
      'store/schedules/fire.test.ts': ['a firing is a session of its owner without a key, with a run, at its minute'],
      'store/schedules/follow-runs.test.ts': [
        'steps run one after another in one session, and each is reported',
        'a step that fails ends the firing',
        'a step that is incomplete ends the firing as failed',
        'a crash between two moves neither repeats nor loses a step',
      ],
      'acceptance/schedules/schedules.test.ts': [KILLED],
    },
  },
  {
    id: 'I1 downtime',
    text: 'Firings that were missed while the daemon was off become one.',
    proofs: {
      'store/schedules/fire.test.ts': [
        'the times of a downtime fire once, and the next one is after it',
        'a daemon that was off over a clock change fires what the change skipped, once',
        'no time fires twice when the clock is put back',
      ],
    },
  },
  {
    id: 'I5 endpoints',
    text: 'Tasks are listed, created, read, changed, deleted and fired: one’s own by login token, everybody’s by an administrator.',
    proofs: {
      'http/schedules/task-access.test.ts': [
        'every request has the status of its caller',
        "nobody %s another user's task; an unknown one and a malformed id are 404",
        'an administrator makes tasks of others, by name or id; nobody else does',
        'a list has one’s own tasks, an administrator’s has all; by name, owner and state',
      ],
      'acceptance/schedules/schedule-commands.test.ts': [
        'a user has tasks of their own with their login token, and reaches nobody else’s',
      ],
    },
  },
  {
    id: 'I5 replies',
    text: 'A reply has the next five firings, the last one and its status; without steps, the prompt is the one step.',
    proofs: {
      'http/schedules/new-tasks.test.ts': ['a new task has the documented defaults, and shows when it fires next'],
      'http/schedules/firings.test.ts': [
        'is a firing with a session of its own, which shows in the list of firings and in the task',
      ],
      'operations/schedules/task-steps.test.ts': ['without steps, the prompt is the one step, which has an id'],
    },
  },
  {
    id: 'I6',
    text: 'A scheduled session belongs to no key, which gets 404; its runs have schedule_mode scheduled and count with background runs of their user.',
    proofs: {
      'store/schedules/fire.test.ts': ['a firing is a session of its owner without a key, with a run, at its minute'],
      'store/schedules/follow-runs.test.ts': [
        'unfinished runs of tasks count toward the limit of their user, and of no key',
        'runs of tasks are background work: they leave a slot, and take turns with the runs of keys',
      ],
      'acceptance/schedules/schedule-commands.test.ts': [
        'no key of the owner sees the session of a task, nor its runs',
      ],
    },
  },
  {
    id: 'I7',
    text: 'The run of each step is reported from pending to running to completed, failed or stopped.',
    proofs: {
      'store/schedules/follow-runs.test.ts': [
        'steps run one after another in one session, and each is reported',
        'a step that fails ends the firing',
        '%s ends the firing as stopped, without another step',
        'a run whose agent had ended at the crash is settled by the rescue, with the next step',
      ],
    },
  },
  {
    id: 'I8 cron',
    text: 'A cron has five fields: six are 422, and so is one that never fires.',
    proofs: {
      'domain/schedules/firing-times.test.ts': [
        '"%s" is refused',
        'the time zone "%s" is refused',
        '"%s" has no fault',
      ],
      'http/schedules/new-tasks.test.ts': ['whatever is wrong is 422 with its field, and nothing is kept'],
    },
  },
  {
    id: 'I8 clock changes',
    text: 'Times that a clock change skips fire at the change; times that it repeats fire once.',
    proofs: {
      'domain/schedules/firing-times.test.ts': [
        '%s: "%s" fires at the change when the change skips its time',
        '%s: "%s" fires once at a time that the change repeats',
        'every half-hour of the nights of a year fires once in wall time, whatever the clocks do',
      ],
    },
  },
  {
    id: 'I8 disabled',
    text: 'A task that is disabled or deleted drops the firing that waits; one that runs continues.',
    proofs: {
      'store/schedules/tasks.test.ts': ['to %s a task drops a firing that has not begun, and leaves one that has'],
    },
  },
  {
    id: 'I9 overlap',
    text: 'overlap is skip unless given; with queue, a firing has its session and pending run at its minute, also while it waits.',
    proofs: {
      'store/schedules/fire.test.ts': [
        'a firing that falls due during an earlier one is skipped, and the task says when',
        'firings queue behind an earlier one, up to a limit, and run in order, one at a time',
      ],
      'acceptance/schedules/schedules.test.ts': [
        'a firing that falls due during another is skipped or waits, as its task says',
      ],
    },
  },
  {
    id: 'I9 missed',
    text: 'A missed firing comes within 20 s of the start.',
    proofs: {
      'scheduling/scheduler.test.ts': ['a time that was missed while the daemon was off fires at the start, once'],
      'acceptance/schedules/schedules.test.ts': [KILLED],
    },
  },
];
