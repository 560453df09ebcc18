// A task that was handed over: what the tools on tasks take, and how they tell how it stands.
import { RUN_STATES } from '../../domain/sessions/run.ts';
import { array, json, jsonObject } from '../shapes/composites.ts';
import { called, record, request } from '../shapes/record.ts';
import { boolean, integer, oneOf, string, text, time, uuid } from '../shapes/scalars.ts';
import { anyOf, nullable, orElse, type Shape } from '../shapes/shape.ts';
import { described } from './described.ts';

/** Below what clients wait for a tool by themselves, which is a minute for most. */
export const DEFAULT_WAIT_SECONDS = 45;
const MAX_WAIT_SECONDS = 3_600;
const MAX_TASK_CHARACTERS = 500_000;
const MAX_ANSWER_CHARACTERS = 16_000;

const wait = (words: string) =>
  described(
    `${words} ${DEFAULT_WAIT_SECONDS} unless given. Stay below your own limit for one tool call.`,
    orElse(integer({ from: 0, to: MAX_WAIT_SECONDS }), DEFAULT_WAIT_SECONDS),
  );

const waitForEnd = wait('How many seconds to wait for the task to end or to ask a question; 0 does not wait.');

const runId = described('The run_id of the task.', uuid);

/** What is handed over. */
export const taskInput = request(
  {
    task: described(
      'What to do, as you would tell a colleague who knows nothing of this conversation: goal, context, and what to return.',
      text({ max: MAX_TASK_CHARACTERS }),
    ),
    sessionId: described(
      'The session_id of an earlier task to go on from, with its history and its files. Without one, the agent begins anew.',
      orElse(uuid, null),
    ),
    waitSeconds: wait(
      'How many seconds to wait for the task to end. 0 hands it over in the background: it then goes on even if you leave.',
    ),
    outputSchema: described(
      'A JSON Schema (Draft-07) that the result has to fit. Then `result` has the JSON instead of `answer`.',
      orElse(jsonObject, null),
    ),
  },
  { closed: true },
);

export const lookInput = request({ runId, waitSeconds: waitForEnd }, { closed: true });

export const stopInput = request({ runId }, { closed: true });

const words = text({ max: MAX_ANSWER_CHARACTERS });
const answer: Shape<string | readonly string[]> = anyOf(
  'must be a text, or a list of texts',
  words,
  array(words, { max: 100 }),
);

export const answerInput = request(
  {
    questionId: described('The question_id.', uuid),
    answer: described(
      'The answer of the user: one of the options, or any other text; a list where several may be chosen. Ask your user unless you know it.',
      answer,
    ),
    waitSeconds: waitForEnd,
  },
  { closed: true },
);

/** How a task stands. */
export const taskStatus = record({
  runId: uuid,
  sessionId: uuid,
  status: described(
    'queued, running and finalizing: not over yet. waiting: for the answer to its question. completed: `answer` or `result` is there. failed, incomplete, canceled: `error` says why.',
    oneOf(RUN_STATES),
  ),
  answer: described('What the agent answers.', nullable(string)),
  result: described('What fits the output schema; null without one.', json),
  isCut: called(
    'truncated',
    described('Whether the answer, or the result, is longer: a link names the whole.', boolean),
  ),
  question: nullable(
    record({
      id: called('question_id', uuid),
      text: called('question', string),
      options: array(string),
      isMultiple: called('multiple', boolean),
      expiresAt: time,
    }),
  ),
  error: nullable(record({ type: string, message: string })),
  hint: described('What to do next.', nullable(string)),
});
