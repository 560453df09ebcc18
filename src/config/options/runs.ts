// Settings of runs: the queue of background runs, models, questions to users, worker threads.
import { availableParallelism } from 'node:os';
import { count, megabytes, type Options, seconds } from '../option.ts';

const WEEK = 7 * 24 * 3600;
const YEAR = 365 * 24 * 3600;

export const RUN_OPTIONS = {
  'background.queue_wait_seconds': {
    schema: seconds(1, WEEK),
    fallback: 3600,
    about: 'Seconds that a background run can wait for a worker. Then it fails.',
  },
  'background.max_unfinished_per_key': {
    schema: count(1, 1_000_000),
    fallback: 20,
    about: 'Unfinished background runs of one key. Further ones get 429.',
  },
  'background.max_executing_per_key': {
    schema: count(1, 1_000_000),
    fallback: 2,
    about: 'Background runs of one key that execute at the same time. Further ones wait in the queue.',
  },
  'background.max_unfinished_per_user': {
    schema: count(1, 1_000_000),
    fallback: 50,
    about: 'Unfinished background runs of one user, over all keys. Further ones get 429.',
  },
  'background.polls_per_second': {
    schema: count(1, 1_000_000),
    fallback: 10,
    about: "Requests for runs' results that one key can make per second. Further ones get 429.",
  },
  'background.model_patience_seconds': {
    schema: seconds(0, WEEK),
    fallback: 1800,
    about: 'The same as model.patience_seconds, for background runs and scheduled tasks.',
  },
  'model.connect_timeout_seconds': {
    schema: seconds(1, 600),
    fallback: 10,
    about: 'Seconds to connect to a model endpoint. After that, Errand tries the call again.',
  },
  'model.first_token_timeout_seconds': {
    schema: seconds(1, 3600),
    fallback: 120,
    about: "Seconds until the first token of a model's reply. After that, the run fails.",
  },
  'model.idle_timeout_seconds': {
    schema: seconds(1, 3600),
    fallback: 60,
    about: 'Seconds that a model can be silent between two tokens. After that, the run fails.',
  },
  'model.run_timeout_seconds': {
    schema: seconds(1, WEEK),
    fallback: 3600,
    about: 'Seconds that a run can execute. After that, it fails.',
  },
  'model.max_steps': {
    schema: count(1, 10_000),
    fallback: 200,
    about: 'Model replies in one run. A run that needs more fails.',
  },
  'model.max_reply_mb': {
    schema: megabytes(1, 64),
    fallback: 4,
    about: 'Megabytes of text, reasoning and tool calls in one reply. A longer reply is cut off, and its run fails.',
  },
  'model.patience_seconds': {
    schema: seconds(0, WEEK),
    fallback: 120,
    about:
      'Seconds that a call is repeated while its model server is down: it refuses connections or accepts none in time, or ' +
      'it or its gateway replies with 502, 503, 504 or 529. After that, the run fails. 0: five tries, as after other failures.',
  },
  'user_input.expires_seconds': {
    schema: seconds(1, YEAR),
    fallback: 86_400,
    about: 'Seconds that a question waits. Then the agent continues without an answer.',
  },
  'webhooks.retention_days': {
    schema: count(1, 3_650),
    fallback: 30,
    about: 'Days that deliveries are kept, with their attempts. Then they are removed.',
  },
  'workers.threads': {
    schema: count(1, 256),
    fallback: () => Math.min(4, availableParallelism()),
    example: 4,
    about: 'Threads that runs are spread over. Default: one for each processor, at most 4.',
    isOfNode: true,
  },
  'workers.runs_per_thread': {
    schema: count(1, 1024),
    fallback: 32,
    about: 'Runs that one thread executes at the same time. Further ones wait in the queue.',
    isOfNode: true,
  },
  'workers.memory_mb': {
    schema: megabytes(128, 65_536),
    fallback: 512,
    about:
      'Megabytes of JavaScript heap of one thread. An eighth of it is for the conversations of its runs, which is ' +
      'memory_mb / 8 / runs_per_thread for each; longer ones share a thread of their own. For models with windows of a ' +
      'million tokens, raise it or lower runs_per_thread.',
    isOfNode: true,
  },
  'workers.hang_timeout_seconds': {
    schema: seconds(1, 3600),
    fallback: 30,
    about: 'Seconds without a sign of life after which a thread is ended. Its runs are resumed in another.',
  },
} satisfies Options;
