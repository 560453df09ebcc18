// How a task is told: its state, its answer or as much of it as fits, and what to do next.
import { type Run, type RunState, isTerminal } from '../../domain/sessions/run.ts';
import type { UserInput } from '../../domain/sessions/user-input.ts';
import { taskStatus } from '../../wire/mcp/task.ts';
import { addressOfText } from './addresses.ts';
import type { Link, ToolResult } from './call.ts';

/** Characters of an answer, or of a result as JSON, that a model is given at once. */
const MAX_TOLD = 40_000;

export function renderTask(run: Run, question: UserInput | null): ToolResult {
  const result = run.structuredOutput === null ? null : JSON.stringify(run.structuredOutput.value);
  const isResultCut = result !== null && result.length > MAX_TOLD;
  const answer = isTerminal(run.status) && !run.wantsStructured ? run.answer : null;
  const isAnswerCut = answer !== null && answer.length > MAX_TOLD;
  const isCut = isResultCut || isAnswerCut;
  const output = taskStatus.render({
    runId: run.id,
    sessionId: run.sessionId,
    status: run.status,
    answer: answer === null ? null : answer.slice(0, MAX_TOLD).toWellFormed(),
    result: isResultCut ? null : (run.structuredOutput?.value ?? null),
    isCut,
    question: question === null ? null : questionOf(question),
    error: run.status === 'canceled' ? STOPPED : run.error && { type: run.error.type, message: run.error.message },
    hint: isCut ? CUT : HINTS[run.status],
  });
  const links: Link[] = [];
  if (isAnswerCut) links.push(textLink('answer', run.id, 'text/markdown'));
  if (isResultCut) links.push(textLink('result', run.id, 'application/json'));
  return { output, links, isError: run.status === 'failed' || run.status === 'incomplete' };
}

const textLink = (kind: 'answer' | 'result', runId: string, mimeType: string): Link => ({
  uri: addressOfText(kind, runId),
  name: `Whole ${kind}`,
  mimeType,
});

const STOPPED = { type: 'canceled', message: 'The task was stopped.' };

const CUT = 'Read the linked resource for the whole of it.';
const UNFINISHED = 'The task goes on. Call get_result with this run_id.';

const HINTS: Readonly<Record<RunState, string | null>> = {
  queued: UNFINISHED,
  running: UNFINISHED,
  finalizing: UNFINISHED,
  waiting: 'Put the question to your user, then call answer_question.',
  completed: null,
  failed: null,
  incomplete: null,
  canceled: null,
};

function questionOf({ id, toolInput: { question, options, multiple }, expiresAt }: UserInput) {
  return {
    id,
    text: typeof question === 'string' ? question : 'The agent asks a question.',
    options: Array.isArray(options) ? options.filter((option) => typeof option === 'string') : [],
    isMultiple: multiple === true,
    expiresAt,
  };
}
