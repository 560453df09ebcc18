// The rules of §3: states of background runs, and what a stop does.
import type { Rule } from './rule.ts';

const BACKGROUND = 'acceptance/conversations/background.test.ts';
const STOP = 'execution/queue/stop.test.ts';
const ARTIFACTS = 'acceptance/agents/artifacts.test.ts';
const STORED = 'store/background.test.ts';
const WEBHOOKS = 'acceptance/webhooks/webhooks.test.ts';
const SENT_ONCE =
  'a stop is sent once however often it is requested, a question when it is asked and when it is answered';

export const RULES_OF_STATES: readonly Rule[] = [
  {
    id: '§3.1 states to poll',
    text: 'queued, running and finalizing ask to be polled again; the others do not.',
    proofs: {
      [BACKGROUND]: ['a background run is accepted with 202, polled to its result, and found again by its key'],
      'acceptance/conversations/rules.test.ts': [
        'ends a running background run as canceled, is already_stopped afterwards, and the session continues',
      ],
    },
    missing: 'no test sees a run while it is finalizing from outside; that lasts one commit',
  },
  {
    id: '§3.1 accepted',
    text: 'A submission with a new key on a session without unfinished runs becomes a queued run: 202 with Retry-After 2.',
    proofs: {
      [BACKGROUND]: [
        'a background run is accepted with 202, polled to its result, and found again by its key',
        'the official Anthropic client submits and collects a background run',
      ],
      'acceptance/faults/background-crash.test.ts': [
        'forty submissions through four kills: each key finds its one run, and each run ends once',
      ],
    },
  },
  {
    id: '§3.1 queue time-out',
    text: 'A run that no worker started within the queue wait fails with queue_timeout_error.',
    proofs: {
      [STORED]: [
        'background runs that wait too long fail, up to the newest of them, and later ones wait on',
        'a run that had been started is not failed for waiting again',
      ],
      'execution/queue/queue-wait.test.ts': [
        'each run has its whole wait, also one that came while another waited, whatever the wall clock says',
      ],
    },
  },
  {
    id: '§3.1 repeated submission',
    text: 'The same key of the same API key changes nothing and returns the current state with 202.',
    proofs: {
      [BACKGROUND]: ['a background run is accepted with 202, polled to its result, and found again by its key'],
      [STORED]: ['a thousand submissions of one background key make one run'],
    },
  },
  {
    id: '§3.1 incomplete',
    text: 'A run with a schema and without a valid result is incomplete, and no unchecked value leaves it.',
    proofs: {
      'agent/structured-run.test.ts': ['after three corrections the run is incomplete, and no value leaves it'],
      'store/structured-runs.test.ts': [
        'an incomplete run says why, keeps what was said, and its message holds no result',
        'the file itself refuses a success without the requested result',
      ],
      'acceptance/conversations/structured-output.test.ts': [
        'a run without a fitting result is incomplete: 500 without a stream, an error event with one',
      ],
    },
  },
  {
    id: '§3.1 failed',
    text: 'A run whose execution failed is failed and has its error.',
    proofs: { [BACKGROUND]: ['a failed background run returns its error'] },
  },
  {
    id: '§3.1 canceled',
    text: 'A background run that is stopped is canceled.',
    proofs: { 'acceptance/conversations/stop.test.ts': ['a stopped background run is canceled'] },
  },
  {
    id: '§3.1 one end',
    text: 'Every accepted run reaches one terminal state and stays there, also through crashes (D1, D7).',
    proofs: {
      'acceptance/faults/background-crash.test.ts': [
        'forty submissions through four kills: each key finds its one run, and each run ends once',
      ],
      'store/runs/stop-runs.test.ts': [
        'stop against completion, a thousand times: exactly one outcome, one event, and both agree',
      ],
    },
  },
  {
    id: '§2.11 expired questions',
    text: 'A stop returns how many questions to users it has ended.',
    proofs: {
      [STOP]: ['of a run that waits for its user needs no executor, and counts the question that it ends'],
      'acceptance/conversations/questions.test.ts': [
        'a stop ends the question with its run, and says so; an answer then comes too late',
      ],
    },
  },
  {
    id: '§3.4 pending',
    text: 'A question of an agent is pending, and its run waits for the user without a worker, also through a crash.',
    proofs: {
      'store/runs/user-inputs.test.ts': [
        'a run that waits is running without a lease, holds no slot, and has asked one question',
      ],
      'acceptance/conversations/questions.test.ts': [
        'fifty runs that wait hold no slot; what comes next in a session stays behind, other sessions continue',
        'a daemon that is killed while a run waits still has the question, and the answer brings the run to its end',
      ],
      [WEBHOOKS]: [SENT_ONCE],
    },
  },
  {
    id: '§3.4 answered',
    text: 'An answered question has its answers and answered_at, once and for all.',
    proofs: {
      'store/runs/user-inputs.test.ts': [
        'of an answer, a second answer, an expiry and a stop the first committed wins, in every order',
      ],
      'http/sessions/user-inputs.test.ts': [
        'a question is settled once: every later answer or expiry is 409, in words that fit',
      ],
      [WEBHOOKS]: [SENT_ONCE],
    },
  },
  {
    id: '§3.2',
    text: 'Artifacts are pending, then ready or failed, once; those of runs from before are unavailable.',
    proofs: {
      'store/artifacts.test.ts': [
        'is ready with no files in the commit of its end, and so is the export',
        'a run lists what it added and changed, then its archive makes it ready once',
        'has no artifacts, but its files are in the export',
        'because it was stopped is examined only after its executor has ended',
        'a workspace that could not be examined fails artifacts and export, and the run stays completed',
      ],
      'http/artifacts.test.ts': ['of a run from before there were artifacts is unavailable'],
      'execution/artifacts/collector.test.ts': ['%s the next start continues, and everything is reported once'],
      [ARTIFACTS]: [
        'a large archive is packed by its download; a crash in the middle leaves no half one, and the next download is whole',
      ],
    },
  },
  {
    id: '§3.3 confirmed',
    text: 'A first stop that the executor confirms is stopped, and the session is stopped.',
    proofs: {
      [STOP]: ['is stopped once the executor confirms within five seconds'],
      [WEBHOOKS]: [SENT_ONCE],
    },
  },
  {
    id: '§3.3 one event',
    text: 'One stop sends one session.stopped, of the run that had begun, or else of the newest; a dropped firing sends none.',
    proofs: {
      'store/webhooks/announced-stops.test.ts': [
        '%s with queued turns behind the one that executes sends one event, of that one',
        '%s that finds queued turns only sends one event, of the newest',
        'runs that a queue finds of a disabled user are one stop for each session',
        'a firing that waits as its task is %s is dropped without an event: nobody stopped it',
      ],
    },
  },
  {
    id: '§3.3 unconfirmed',
    text: 'A first stop that the executor does not confirm is stopping; the session is stopped all the same.',
    proofs: { [STOP]: ['is stopping when the executor does not confirm, and the session is stopped all the same'] },
  },
  {
    id: '§3.3 within 5 s',
    text: 'While a cancel is in progress, and for 5 s after one that was not confirmed, a stop is stopping and changes nothing.',
    proofs: {
      [STOP]: [
        'while a cancel is in progress is stopping: no second cancel, no change, no second event',
        'within five seconds after an unconfirmed cancel is stopping and changes nothing',
      ],
    },
  },
  {
    id: '§3.3 after 5 s',
    text: 'Later than that only the cancel of the executor is tried again: stopping or stopped.',
    proofs: { [STOP]: ['more than five seconds after it asks the executor again and is %s'] },
  },
  {
    id: '§3.3 already stopped',
    text: 'After the confirmation a stop is already_stopped and no event is repeated.',
    proofs: {
      [STOP]: ['after the executor has confirmed, be it late, is already_stopped'],
      'acceptance/conversations/rules.test.ts': [
        'ends a running background run as canceled, is already_stopped afterwards, and the session continues',
      ],
    },
  },
  {
    id: '§3.3 not running',
    text: 'A session that has completed or failed is not_running with 200 and keeps its status.',
    proofs: {
      [STOP]: ['a %s session is not_running and keeps its status'],
      'acceptance/conversations/rules.test.ts': ['of a session that ended with %s is not_running and leaves it %s'],
    },
  },
];
