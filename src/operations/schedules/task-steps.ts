// The prompt and the steps of a scheduled task, as its owner gives them.
import { unprocessable } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import { type ScheduledTask, TASK_LIMITS, type TaskStep } from '../../domain/schedules/task.ts';

/** What is run: `steps`, or the prompt as the one step. */
export type TaskWork = Pick<ScheduledTask, 'prompt' | 'steps'>;

export interface WantedStep {
  /** Of a step that the task has; a new step has none. */
  readonly id: string | null;
  readonly prompt: string;
}

/** Absent fields stay as they are. No steps, or none in the list: the prompt is the one step. */
export interface WantedWork {
  readonly prompt?: string | null;
  readonly steps?: readonly WantedStep[] | null;
}

/**
 * The work of a task after a change; `before` is null for a new task. Throws `unprocessable` when there is nothing to do, and for
 * a step that the task doesn't have.
 */
export function changedWork(before: TaskWork | null, wanted: WantedWork): TaskWork {
  const prompt = wanted.prompt === undefined ? (before?.prompt ?? null) : wanted.prompt;
  if (prompt?.trim() === '') throw unprocessable('prompt', 'must not be blank');
  const isPromptTheStep = before === null || isOneStep(before);
  requireRoom(prompt ?? '', wanted.steps ?? []);
  const steps = wanted.steps === undefined ? (isPromptTheStep ? [] : before.steps) : (wanted.steps ?? []);
  if (steps.length > 0) return { prompt, steps: identified(steps, before?.steps ?? []) };
  if (prompt === null) throw unprocessable('prompt', 'is required without steps');
  const id = isPromptTheStep ? before?.steps[0]?.id : undefined;
  return { prompt, steps: [{ id: id ?? newId(), prompt }] };
}

/** The change of what a task does, which another one may precede; none when nothing of it is given. */
export function changeOfWork(wanted: WantedWork) {
  if (wanted.prompt === undefined && wanted.steps === undefined) return {};
  return { work: (before: TaskWork) => changedWork(before, wanted) };
}

/** Each text is within its own limit; together they are stored with every change, and sent in every reply. */
function requireRoom(prompt: string, steps: readonly WantedStep[]): void {
  const characters = steps.reduce((sum, step) => sum + step.prompt.length, prompt.length);
  if (characters > TASK_LIMITS.prompts)
    throw unprocessable('steps', `must have at most ${TASK_LIMITS.prompts} characters together with the prompt`);
}

/** Whether the prompt is the one step. */
function isOneStep({ prompt, steps }: TaskWork): boolean {
  return steps.length === 1 && steps[0]?.prompt === prompt;
}

function identified(steps: readonly WantedStep[], known: readonly TaskStep[]): TaskStep[] {
  const left = new Set(known.map(({ id }) => id));
  return steps.map(({ id, prompt }, index) => {
    const path = `steps[${index}]`;
    if (prompt.trim() === '') throw unprocessable(`${path}.prompt`, 'must not be blank');
    if (id !== null && !left.delete(id))
      throw unprocessable(`${path}.scheduled_task_step_id`, 'must be the id of a step of this task, given only once');
    return { id: id ?? newId(), prompt };
  });
}
